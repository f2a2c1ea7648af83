"""Everything that a registration names, computed from one table: the registered rule as executed.

No threshold, metric or denominator enters from anywhere but the registration. A gate that was
frozen with a pilot is confirmatory, one without is exploratory; so is all of a study that has
neither gate nor rule. What is not named is computed nowhere here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from judgeaudit.analysis.catalogue import compute, statistic
from judgeaudit.analysis.draws import aggregated
from judgeaudit.analysis.estimate import Estimate
from judgeaudit.analysis.question import Over, Question
from judgeaudit.design.base import plain
from judgeaudit.design.criteria import Gate, Rule
from judgeaudit.design.document import Registration
from judgeaudit.verdict.oc.piloted import PilotRecord, other_models
from judgeaudit.verdict.rules import Named, name_outcome
from judgeaudit.verdict.verdicts import Verdict, compose, decide, overall

DEFAULT_LEVEL = 0.95


@dataclass(frozen=True, slots=True)
class Findings:
    """What a registration's criteria gave: estimates, verdicts, names by rules, controls."""

    estimates: tuple[Estimate, ...]
    verdicts: tuple[Verdict, ...]
    named: tuple[Named, ...]
    controls: tuple[Estimate, ...]
    analyses: tuple[Estimate, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the document of `verdicts.json`."""
        gates = [verdict.to_dict() for verdict in self.verdicts]
        return {
            "overall": overall(v.outcome for v in self.verdicts).value if self.verdicts else None,
            "gates": gates,
            "rules": [named.to_dict() for named in self.named],
        }


def question_of(
    criterion: Gate | Rule | None,
    registration: Registration,
    candidates: pd.DataFrame | None = None,
) -> Question:
    """Return the question that a gate, a rule or (None) a bare analysis asks of the table."""
    base = Question(
        over="all",
        cluster=registration.unit.cluster,
        target=registration.unit.target,
        seed=registration.schedule.seed,
        candidates=candidates,
    )
    if criterion is None:
        return base
    params = {key: plain(value) for key, value in criterion.params.items()}
    asked = replace(base, over=criterion.over, params=params)
    if isinstance(criterion, Rule):
        return asked
    return replace(
        asked,
        denominator=criterion.denominator,
        invalid=criterion.invalid,
        # A one-sided bound at alpha is an end of the two-sided interval of level 1 - 2 alpha.
        level=1 - 2 * float(criterion.alpha),
        threshold=criterion.at_least if criterion.at_least is not None else criterion.at_most,
    )


def evaluate(
    registration: Registration,
    table: pd.DataFrame,
    candidates: pd.DataFrame | None = None,
    pilot: PilotRecord | None = None,
) -> Findings:
    """Return what the registered gates, rules and analyses say of `table`.

    `pilot` is the frozen pilot's record; with it the models that were served are compared.
    """
    estimates: list[Estimate] = []
    table = read_by_unit(registration, table)
    verdicts, marks = [], marks_of(registration, table, pilot)
    for gate in registration.gates:
        verdict, used = _gate(gate, registration, table, candidates, marks)
        verdicts.append(verdict)
        estimates += used
    named = []
    for rule in registration.rules:
        question = question_of(rule, registration, candidates)
        found = _marked(compute(rule.statistic, table, question, rule.where), True)
        named.append(name_outcome(rule, found, confirmatory=True))
        estimates += found
    bare = [e for n in registration.analyses for e in _bare(n, registration, table, candidates)]
    controls = compute("controls", table, question_of(None, registration, candidates))
    return Findings(
        tuple(_distinct([*estimates, *bare, *controls])),
        (*verdicts, *_composites(verdicts)),
        tuple(named),
        tuple(controls),
        tuple(bare),
    )


def read_by_unit(registration: Registration, table: pd.DataFrame) -> pd.DataFrame:
    """Return the table with the k draws of each reading aggregated as `[unit]` registers it."""
    unit = registration.unit
    return aggregated(table, unit.k, unit.aggregate, unit.ties)


def _gate(
    gate: Gate,
    registration: Registration,
    table: pd.DataFrame,
    candidates: pd.DataFrame | None,
    marks: tuple[str, ...],
) -> tuple[Verdict, list[Estimate]]:
    piloted = rests_on_a_pilot(gate, registration) and not marks
    question = question_of(gate, registration, candidates)
    found = _marked(compute(gate.statistic, table, question, gate.where), piloted)
    beside: list[Estimate] = []
    for name in gate.sensitivity:
        other = replace(question, threshold=None)
        beside += compute(name, table, other, gate.where)
    # What came with the headline (other targets, parts) decides nothing either.
    shown = [e for e in found if e.analysis != gate.statistic or e.scope != found[0].scope]
    verdict = decide(gate, found, sensitivity=[*beside, *shown], confirmatory=piloted)
    marked = replace(verdict, does_not_say=(*verdict.does_not_say, *marks), marks=marks)
    return marked, [*found, *beside]


def rests_on_a_pilot(gate: Gate, registration: Registration) -> bool:
    """Return whether a gate was frozen to be confirmatory: instruments declared, a pilot named."""
    declared = gate.healthy is not None and gate.degraded is not None
    return declared and registration.pilot is not None and registration.pilot.digest is not None


def marks_of(
    registration: Registration, table: pd.DataFrame, pilot: PilotRecord | None
) -> tuple[str, ...]:
    """Return what every verdict of this study carries for life; any of it makes it exploratory."""
    marks = []
    if registration.pilot is not None and registration.pilot.override is not None:
        marks.append(f"It was frozen by override: {registration.pilot.override}")
    if pilot is not None and "model_returned" in table:
        known = table.dropna(subset=["model_returned"])
        served = known.groupby("endpoint")["model_returned"].unique()
        named = {str(endpoint): list(map(str, models)) for endpoint, models in served.items()}
        marks += [
            f"The pilot no longer speaks of {endpoint}: it now answers as {model!r}."
            for endpoint, model in other_models(pilot, named)
        ]
    return tuple(marks)


def _bare(
    name: str, registration: Registration, table: pd.DataFrame, candidates: pd.DataFrame | None
) -> list[Estimate]:
    """Return a registered analysis over each comparison that the data hold, by condition."""
    question = question_of(None, registration, candidates)
    named = bool(registration.gates or registration.rules)
    conditions = [str(name) for name in pd.unique(table["condition"])]
    found: list[Estimate] = []
    overs = _told_over(name)
    for over in overs:
        split = len(conditions) > 1 and over != "conditions"
        for where in [{"condition": c} for c in conditions] if split else [{}]:
            estimates = _marked(compute(name, table, question.over_pairs(over), where), named)
            found += [replace(e, scope=_scope(over, e.scope)) for e in estimates]
    # Comparisons that the plan does not hold are no findings, unless there is nothing else.
    told = [e for e in found if e.value is not None]
    return (_unlike(told) if len(overs) > 1 else told) or found[:1]


def _told_over(name: str) -> tuple[Over, ...]:
    """Return the comparisons that say different things: not `all` where there are finer ones."""
    over = statistic(name).over
    if "gold" in over:
        return ("gold",)
    if over[0] == "orders":
        return ("orders",)
    return ("all",) if set(over) <= {"all", "same_window"} else tuple(o for o in over if o != "all")


def _unlike(estimates: Sequence[Estimate]) -> list[Estimate]:
    """Return estimates that differ in more than their name: with two days, next is other day."""
    seen: dict[tuple[object, ...], Estimate] = {}
    for e in estimates:
        seen.setdefault((e.endpoint, e.value, e.low, e.high, tuple(e.n.items()), e.target), e)
    return list(seen.values())


def _scope(over: str, scope: str) -> str:
    return scope if over == "all" else f"over={over}" + ("" if scope == "all" else f", {scope}")


def _marked(estimates: Sequence[Estimate], confirmatory: bool) -> list[Estimate]:
    return [replace(estimate, confirmatory=confirmatory) for estimate in estimates]


def _composites(verdicts: Sequence[Verdict]) -> list[Verdict]:
    names = dict.fromkeys(v.part_of for v in verdicts if v.part_of)
    return [compose(name, [v for v in verdicts if v.part_of == name]) for name in names]


def _distinct(estimates: Sequence[Estimate]) -> list[Estimate]:
    """Return estimates once each: two gates may ask the same question."""
    seen: set[tuple[object, ...]] = set()
    kept = []
    for e in estimates:
        key = (e.analysis, e.endpoint, e.scope, e.value, e.low, e.high, e.level, e.target)
        if key not in seen:
            seen.add(key)
            kept.append(e)
    return kept
