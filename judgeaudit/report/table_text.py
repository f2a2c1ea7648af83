"""A report of somebody's table in plain words, with the numbers beside them.

Sentences are derived from the report alone. Where repeats are unverified the words test-retest are
not used; where a number is undefined its reason stands in its place.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from judgeaudit.analysis.between import LABELS
from judgeaudit.analysis.catalogue import NAMES
from judgeaudit.analysis.estimate import Estimate
from judgeaudit.analysis.exploratory import PartReport, Report
from judgeaudit.report.facet_text import facet_lines, resolution_lines
from judgeaudit.stats.majority import majority_bounds
from judgeaudit.verdict.words import OVER

MANY_MISSING = 0.02


def report_lines(report: Report) -> Iterator[str]:
    """Yield the whole report for people."""
    plural = "" if len(report.parts) == 1 else "s"
    yield f"Read {report.rows} rows of {report.source}: {len(report.parts)} part{plural}."
    for note in report.notes:
        yield f"  {note}"
    for part in report.parts:
        yield ""
        yield from part_lines(part)
    if report.between:
        yield ""
        yield "Parts against each other, on the items that both have:"
        yield from (f"  {line}" for line in _between(report))
    yield ""
    yield (
        "Exploratory: nothing here was registered beforehand. All of it but agreement with gold "
        "is precision; a repeatable judge can be wrong."
    )


def _between(report: Report) -> Iterator[str]:
    scope = ""
    for estimate in report.between:
        if estimate.scope != scope:
            scope = estimate.scope
            yield f"[{scope}]"
        yield f"  {_number_line(estimate, scope, frozenset())}"
        limits = estimate.details.get("limits")
        if isinstance(limits, list):
            yield f"    95% of item means differ by {_short(limits[0])} to {_short(limits[1])}"
        if "adjusted_p" in estimate.details:
            yield f"    p {estimate.details['adjusted_p']:.3f} after Holm over the pairs"


def part_lines(part: PartReport) -> Iterator[str]:
    """Yield one part: what it is, what is missing, what its repeats are, and its numbers."""
    counted = [_many(part.items, "item"), _many(part.runs, "run")]
    counted += [f"{n} {what}" for n, what in ((part.windows, "windows"), (part.orders, "orders"))
                if n > 1]  # fmt: skip
    yield f"[{part.scope}] {', '.join(counted)}"
    yield from (f"  {line}" for line in _missing(part))
    if part.facets is not None:
        yield from (f"  {line}" for line in facet_lines(part.facets))
    yield from (f"  {line}" for line in _standing(part))
    several = _several_overs(part)
    for estimate in part.estimates:
        yield f"  {_number_line(estimate, part.scope, several)}"
    yield from (f"  {line}" for line in _consequences(part))


def _many(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def _missing(part: PartReport) -> Iterator[str]:
    if part.valid == part.cells:
        yield f"complete: {part.cells} readings, none missing"
        return
    lost = part.cells - part.valid
    told = ", ".join(f"{reason} {count}" for reason, count in part.excluded.items())
    yield f"missing: {lost} of {part.cells} readings ({told}); left out where needed, never filled"
    if part.worst_run and part.worst_run["missing"] / part.worst_run["of"] > MANY_MISSING:
        worst = part.worst_run
        yield (
            f"warning: {worst['column'] or 'the only run'} lacks {worst['missing']} of "
            f"{worst['of']} readings (95% interval {worst['low']:.0%} to {worst['high']:.0%}); "
            "what is left may be a selection"
        )
    answered = part.cells - part.excluded.get("absent", 0)
    if part.kind == "verdict" and 2 * part.valid < answered:
        yield (
            "warning: most verdicts are invalid: the flip rate rests on the others; see first of "
            "all why they are invalid"
        )


def _standing(part: PartReport) -> Iterator[str]:
    """Yield what the repeats may be called, and what stands against them."""
    said = part.evidence
    if part.runs < 2 and part.orders < 2 and part.windows < 2:
        yield "one run: nothing was asked twice, so nothing tells of repeatability"
        return
    if not part.asked_twice:
        yield f"no item was asked twice in {part.runs} runs, so nothing tells of repeatability"
        return
    if part.orders > 1:
        yield "agreement over orders:"
    elif said.verified:
        yield f"test-retest ({', '.join(said.same)} equal over the runs of each item):"
    else:
        yield (
            "agreement of unverified repeats (no digest, prompt or request column shows that "
            "the runs asked the same; name one with --digest):"
        )
    if said.cached:
        yield f"warning: possible cache: {said.cached}"
    for text in part.facts.get("unproven", ()):
        yield f"warning: {text}"


def _several_overs(part: PartReport) -> frozenset[str]:
    """Return the statistics that are told over more than one comparison."""
    overs: dict[str, set[str]] = {}
    for estimate in part.estimates:
        overs.setdefault(estimate.analysis, set()).add(estimate.over)
    return frozenset(name for name, found in overs.items() if len(found) > 1)


def _number_line(estimate: Estimate, scope: str, several: frozenset[str]) -> str:
    record = NAMES.get(estimate.analysis)
    name = LABELS.get(estimate.analysis, estimate.analysis) if record is None else record.label
    if estimate.analysis in several:
        name += f", {OVER[estimate.over]}"
    own = _own_scope(estimate, scope)
    name += f" [{own}]" if own else ""
    if estimate.value is None:
        return f"{name}: undefined, {estimate.undefined}"
    counts = _counts(estimate)
    if estimate.low is not None and estimate.high is not None:
        span = f"{estimate.level:.0%} interval {_short(estimate.low)} to {_short(estimate.high)}"
    else:
        span = "; ".join(estimate.caveats) or "no interval"
    more = ", ".join(part for part in (counts, span) if part)
    return f"{name}: {_short(estimate.value)}  ({more})"


def _own_scope(estimate: Estimate, scope: str) -> str:
    """Return the scope of an estimate within its part, without the comparison and parameters."""
    inner = estimate.scope.removeprefix(scope).removeprefix(", ")
    told = {f"over={estimate.over}", *(f"{k}={v}" for k, v in estimate.params.items())}
    return ", ".join(one for one in inner.split(", ") if one and one not in told)


def _counts(estimate: Estimate) -> str:
    n = estimate.n
    if "items_that_flipped" in n:
        return f"{n['items_that_flipped']} of {n['items']} items ever changed"
    if "comparisons" in n and "alike" in n:
        return f"{n['alike']} of {n['comparisons']}"
    if "groups" in n:
        return f"{n['groups']} groups"
    return f"{n['items']} items" if "items" in n else ""


def _short(value: float) -> str:
    if value == 0:
        return "0"
    return f"{value:.3f}" if 0.001 <= abs(value) < 10_000 else f"{value:.2e}"


def _consequences(part: PartReport) -> Iterator[str]:
    """Yield what follows from the numbers for somebody who uses the judge."""
    facts = part.facts
    if "repeatability" in facts:
        yield from _noise_words(part, facts)
    if facts.get("unlike_majority") is not None and part.orders < 2:
        ties = facts["tied_majorities"]
        tied = f"; ties among majorities: {ties}" if ties else ""
        yield (
            f"runs unlike their item's majority: {facts['unlike_majority']:.4f} "
            f"(some call this the flip rate{tied})"
        )
    yield from _bounds(part)
    yield from _decisions(part, facts)


def _noise_words(part: PartReport, facts: Mapping[str, Any]) -> Iterator[str]:
    noise = part.get("noise")
    if noise is not None and noise.value == 0:
        yield "noise floor: no item varied, so nothing says how small a gap can be told"
        return
    m = facts["repeats_had"]
    yield (
        f"noise floor: two single readings of one item differ by up to "
        f"{_short(facts['repeatability'])} by chance alone (95%); means of {m} by up to "
        f"{_short(facts['repeatability_of_mean'])}"
    )
    if part.facets is not None:
        yield from resolution_lines(part.facets, facts.get("gap"))
    if facts.get("quantisation_floor"):
        yield (
            f"rounding: the noise is below .3 scale steps of {_short(facts['step'])}, so averaging "
            f"cannot go below {_short(facts['quantisation_floor'])}"
        )
    if "gap" in facts:
        yield _gap_words(facts)


def _gap_words(facts: Mapping[str, Any]) -> str:
    gap, needed = facts["gap"], facts["repeats_for_gap"]
    if needed is None:
        return f"a gap of {gap:g} between two items: {facts['gap_unresolvable']} repeats"
    if facts.get("quantisation_floor", 0) > gap:
        return f"a gap of {gap:g} between two items lies below the rounding floor: unresolvable"
    return (
        f"a gap of {gap:g} between two items takes {needed} readings of each "
        "(two-sided 5%, power 80%)"
    )


def _bounds(part: PartReport) -> Iterator[str]:
    for estimate in (part.get("noise"), part.get("flip_rate")):
        # Not from an agreement in order alone: scores may have differed without a change of it.
        bound = estimate.details.get("disagreement_at_most") if estimate is not None else None
        if isinstance(bound, float):
            yield (
                f"no disagreement was seen; that bounds the share of items with one to below "
                f"{bound:.1%} and is no proof of none"
            )
            return


def _decisions(part: PartReport, facts: Mapping[str, Any]) -> Iterator[str]:
    flip = part.get("pass_fail_flip")
    if flip is not None and flip.value is not None:
        given = flip.details["mark_is"] == "given"
        chosen = "your mark" if given else f"the {flip.details['mark_is']} marks; name yours"
        yield (
            f"decisions at risk: with a pass mark at {_short(float(str(flip.details['mark'])))} "
            f"({chosen}), {flip.value:.1%} of items pass or fail otherwise on another reading"
        )
    verdicts = part.get("flip_rate")
    if verdicts is not None and verdicts.value:
        levels = verdicts.details.get("levels", 2)
        low, high = majority_bounds(verdicts.value, max(2, levels if type(levels) is int else 2))
        yield (
            f"decisions at risk: a second run would change {verdicts.value:.1%} of the verdicts; "
            f"a single run differs from the majority of very many in {low:.1%} to {high:.1%}"
        )
    if "advantage_sign_flip" in facts:
        yield (
            f"as a reward: the sign of a group-relative advantage changes between two readings in "
            f"{facts['advantage_sign_flip']:.1%}; the weight that shrinks it is "
            f"{facts['shrinkage_weight']:.3f}"
        )
