"""Verdicts in plain words, derived from their numbers; nothing here knows more than they do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from judgeaudit.analysis.estimate import Estimate
from judgeaudit.analysis.pairing import PHRASES
from judgeaudit.statistic import Subject

REPEATABLE_IS_NOT_RIGHT = "The verdict speaks of precision only: a repeatable judge can be wrong."
LUCK_IS_NOT_SAFETY = (
    "The verdict speaks of choices in constructed worlds: luck that was not shown to be large is "
    "not shown to be safe."
)
RIGHT_IS_NOT_REPEATABLE = "The verdict speaks of agreement with gold, not of repeatability."
LIMITS: dict[Subject, str] = {
    "precision": REPEATABLE_IS_NOT_RIGHT,
    "truth": RIGHT_IS_NOT_REPEATABLE,
    "choices": LUCK_IS_NOT_SAFETY,
    "instrument": REPEATABLE_IS_NOT_RIGHT,
}
"""What a verdict does not say, by what its statistic speaks of."""

OVER: dict[str, str] = {str(over): phrase for over, phrase in PHRASES.items()}


def number(value: float) -> str:
    """Return a number as a person reads it: up to four significant digits, no exponent near 1."""
    if value == 0:
        return "0"
    return f"{value:.3f}" if 0.001 <= abs(value) < 1000 else f"{value:.3g}"


def counts(estimate: Estimate) -> str:
    """Return the denominators in words: `78 of 100` for a plain ratio, else pairs and items."""
    n = estimate.n
    for hits, of in (("alike", "comparisons"), ("found", "arms"), ("found", "pairs")):
        if n.get(of) and hits in n and estimate.exact == Fraction(n[hits], n[of]):
            return f"{n[hits]} of {n[of]} {of}"
    told = [
        f"{n[kind]} {kind if n[kind] != 1 else kind[:-1]}"
        for kind in ("groups", "probes", "pairs", "items", "windows", "tasks")
        if n.get(kind)
    ]
    return ", ".join(told[:3])


def interval(estimate: Estimate) -> str:
    """Return the interval with its level, or that there is none."""
    if estimate.low is None or estimate.high is None:
        return "no interval"
    # An end that is nothing beside the other is 0 to a reader: 4e-10 to 1 is 0 to 1.
    largest = max(abs(estimate.low), abs(estimate.high))
    low, high = (0.0 if abs(end) < 1e-6 * largest else end for end in (estimate.low, estimate.high))
    return f"{estimate.level:.0%} interval {number(low)} to {number(high)}"


def beside(estimate: Estimate) -> str:
    """Return what must be told with a contrast: another contrast, what was lost, the claims made.

    Empty for estimates of which nothing more is known.
    """
    details, said = estimate.details, []
    other = details.get("beside")
    if isinstance(other, Mapping):
        said += [f"{name} {number(value)}" for name, value in other.items()]
    lost = details.get("lost")
    if isinstance(lost, Mapping):
        said += _lost(list(lost.values()))
    claims = details.get("claims")
    if isinstance(claims, Mapping):
        made = [name for name in claims["made"] if claims[name]]
        told = f"shown: {', '.join(made)}" if made else "nothing shown"
        said.append(f"{told}, margin {claims['margin']:g}")
    return "; ".join(said)


def _lost(cells: Sequence[Mapping[str, int]]) -> list[str]:
    """Return lost lessons and choices of planned calls in words, where any were lost."""
    planned = sum(cell["planned"] for cell in cells)
    lessons = sum(cell["no_memory"] for cell in cells)
    choices = sum(cell["no_tool"] + cell["undelivered"] for cell in cells)
    if not lessons + choices:
        return []
    return [f"of {planned} calls {lessons} lacked a lesson and {choices} a choice"]


def held_sentence(
    endpoint: str,
    outcome: str,
    estimate: Estimate,
    asks: str,
    over: str,
    reasons: Sequence[str],
) -> str:
    """Return one sentence on one endpoint: outcome, number, denominators, what was asked, why."""
    place = "" if endpoint == "all" else f" at {endpoint}"
    name = estimate.analysis
    if estimate.value is None:
        return f"UNDEFINED{place}: {name} has no estimate ({estimate.undefined})."
    where = "" if estimate.scope == "all" else f" ({estimate.scope})"
    pairs = "" if over == "all" else f" {OVER.get(over, over)}"
    more = beside(estimate)
    said = (
        f"{outcome.upper()}{place}: {name}{where}{pairs} is "
        f"{number(estimate.value)} ({counts(estimate)}; {interval(estimate)}"
        f"{f'; beside it {more}' if more else ''}); asked is {asks}."
    )
    why = "; ".join(reason for reason in reasons if reason)
    return f"{said} Because {why}." if why else said


def once(said: Sequence[tuple[str, Sequence[str]]]) -> list[str]:
    """Return each sentence once; before one that not all criteria say, those that do.

    `said` gives each criterion by its kind and id, `gate a`, with its sentences.
    """
    by: dict[str, list[str]] = {}
    for name, sentences in said:
        for text in dict.fromkeys(sentences):
            by.setdefault(text, []).append(name)
    return [
        text if len(names) == len(said) else f"{', '.join(names)}: {text}"
        for text, names in by.items()
    ]


def not_said(
    estimates: Sequence[Estimate],
    *,
    subject: Subject,
    by_point: bool,
    bounds: Sequence[str | None],
    confirmatory: bool,
) -> tuple[str, ...]:
    """Return what a verdict on these estimates does not say."""
    said = [LIMITS[subject]]
    targets = dict.fromkeys(e.target for e in estimates)
    said += [
        f"The verdict speaks of {target}, in the windows that were measured." for target in targets
    ]
    endpoints = dict.fromkeys(e.endpoint for e in estimates if e.endpoint != "all")
    if endpoints:
        said.append(
            f"The verdict speaks of {', '.join(endpoints)} as served then, not of a model behind "
            "the name."
        )
    if by_point:
        told = ", ".join(dict.fromkeys(bound or "nothing" for bound in bounds)) or "nothing"
        said.append(f"The point estimate decided, without an error rate; the bound says {told}.")
    if not confirmatory:
        said.append(
            "The verdict is exploratory: no pilot that still holds showed beforehand that the gate "
            "tells a healthy judge from a degraded one."
        )
    return tuple(said)
