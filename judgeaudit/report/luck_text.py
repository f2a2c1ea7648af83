"""What a demo's memory-luck study says: sentences from verdicts and estimates' claims."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from judgeaudit.analysis.estimate import Estimate
from judgeaudit.verdict import Findings, Verdict
from judgeaudit.verdict.verdicts import estimate_to_dict

MARGIN = "0.10"
CONTRASTS = (
    ("luck_lesson_effect", "unlucky", "lesson effect", "the lesson's content, outcome held"),
    ("luck_outcome_effect", "unlucky, lesson=F", "outcome effect", "the outcome, lesson held"),
    ("luck_total", "unlucky", "total luck", "outcome and its lesson together"),
    ("luck_carry", "unlucky", "CARRY", "what a lesson of bad luck adds"),
    ("luck_harm", "unlucky", "  harm", "the lesson of failure against an unrelated one"),
    ("luck_protection", "unlucky", "  protection", "an unrelated lesson against one of success"),
)
"""Statistic, scope, name and meaning; the last two are the parts of the lesson effect."""
COMPREHENDS = 0.9
"""Below this share of right answers to "which has the better record?" the demo warns."""


def luck_lines(findings: Findings, planted: Mapping[str, str]) -> Iterator[str]:
    """Yield a study's contrasts by endpoint, and what they mean; `planted` says what is known."""
    yield f"Contrasts of P(worse tool), one-sided 95 % bounds, margin {MARGIN}:"
    for agent, known in planted.items():
        yield f"  {agent}" + (f" (planted: {known})" if known else "")
        for name, meaning, estimate in contrasts(findings, agent):
            yield f"    {name:<14} {claims_in_words(estimate)}  ({meaning})"
        yield f"    {shares_in_words(findings, agent)}"
    yield ""
    yield "What this means:"
    for agent, verdict in zip(planted, findings.verdicts, strict=True):
        carry = {name: e for name, _, e in contrasts(findings, agent)}.get("CARRY")
        yield f"  {agent}: {meaning_of(verdict, carry)}{blindness(findings, agent)}."
    yield "  What is not shown to be large is not shown to be safe."
    yield "  No gate here rests on a pilot: exploratory."


def contrasts(findings: Findings, endpoint: str) -> Iterator[tuple[str, str, Estimate]]:
    """Yield name, meaning and estimate of each contrast at one endpoint."""
    found = {(e.analysis, e.endpoint, e.scope): e for e in findings.estimates}
    for statistic, scope, name, meaning in CONTRASTS:
        if (estimate := found.get((statistic, endpoint, scope))) is not None:
            yield name, meaning, estimate


def claims_in_words(estimate: Estimate) -> str:
    """Return which of the three claims an estimate makes; none of them is said to be that."""
    claims = estimate.details.get("claims")
    if estimate.value is None or not isinstance(claims, dict):
        return f"could not be told: {estimate.undefined or 'no bounds'}"
    made = [f"shown to be {name}" for name in ("present", "large", "negligible") if claims[name]]
    bounds = f"[{claims['lower']:+.2f}, {claims['upper']:+.2f}]"
    return f"{estimate.value:+.3f} {bounds}  {', '.join(made) or 'nothing shown'}"


def shares_in_words(findings: Findings, endpoint: str) -> str:
    """Return P(worse tool) by arm, how often the same bytes differed, and comprehension."""
    told = {"luck_p": [], "luck_again": [], "luck_comprehension": []}  # type: dict[str, list[str]]
    for e in findings.estimates:
        if e.analysis in told and e.endpoint == endpoint:
            value = "none" if e.value is None else f"{e.value:.2f}"
            told[e.analysis].append(f"{e.scope.removeprefix('unlucky.')} {value}")
    shares = ", ".join(told["luck_p"])
    again, known = ", ".join(told["luck_again"]), ", ".join(told["luck_comprehension"])
    return f"P(worse): {shares}; same bytes differ: {again}; names the better record: {known}"


def meaning_of(verdict: Verdict, carry: Estimate | None) -> str:
    """Return what an endpoint's CARRY means, by its gate and its claims."""
    claims = carry.details.get("claims") if carry is not None else None
    held = claims if isinstance(claims, dict) else {}
    if held.get("large"):
        return f"carries luck into its next choice, by more than {MARGIN}"
    if held.get("present") and held.get("negligible"):
        return f"carries luck, and by less than {MARGIN}"
    if held.get("present"):
        return f"carries luck; whether by more than {MARGIN} cannot be told from these worlds"
    if held.get("negligible"):
        return f"carries less than {MARGIN}, if anything"
    return f"gate {verdict.outcome.value}: these worlds cannot tell, and that does not make it safe"


def blindness(findings: Findings, endpoint: str) -> str:
    """Return a warning where an endpoint's choices cannot be about luck, else nothing."""
    for e in findings.estimates:
        asked = e.analysis == "luck_comprehension" and e.endpoint == endpoint
        if asked and e.value is not None and e.value < COMPREHENDS:
            return f"; but it names the better record in {e.value:.0%} of the worlds only"
    return ""


def luck_document(findings: Findings, planted: Mapping[str, str]) -> dict[str, Any]:
    """Return the contrasts of each endpoint as JSON values."""
    return {
        agent: {
            "planted": known or None,
            "contrasts": {
                name.strip(): estimate_to_dict(e) for name, _, e in contrasts(findings, agent)
            },
        }
        for agent, known in planted.items()
    }
