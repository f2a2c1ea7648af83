"""Everything that a registration names, computed from one table: the registered rule as executed.

No threshold, metric or denominator enters from anywhere but the registration. A gate that was
frozen with a pilot is confirmatory, one without is exploratory; so is all of a study that has
neither gate nor rule. What is not named is computed nowhere here.

This is the one place where verdicts are made. They come with everything that keeps them from
passing: what the readings show (`verdict.blockers`), what only the log shows (`LogFacts`, from
whoever read it), and the amendments, each with what it changed. Whoever reports takes `Findings`
as they are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pandas as pd

from judgeaudit.analysis.asked import asked
from judgeaudit.analysis.catalogue import compute
from judgeaudit.analysis.draws import aggregated
from judgeaudit.analysis.estimate import Estimate
from judgeaudit.analysis.luck.declared import Design
from judgeaudit.analysis.question import Question
from judgeaudit.design.base import plain
from judgeaudit.design.criteria import Analysis, Gate, Rule
from judgeaudit.design.document import Registration
from judgeaudit.errors import InputError
from judgeaudit.verdict.amended import Amended, compared
from judgeaudit.verdict.blockers import Bar, barred, bars
from judgeaudit.verdict.chance import chance_of
from judgeaudit.verdict.flips import BaselineReplies
from judgeaudit.verdict.oc.piloted import PilotRecord, other_models
from judgeaudit.verdict.rules import Named, name_outcome
from judgeaudit.verdict.stopping import progress, verdicts_of
from judgeaudit.verdict.verdicts import Outcome, Verdict, compose, decide, overall

DEFAULT_LEVEL = 0.95


@dataclass(frozen=True, slots=True)
class LogFacts:
    """What only the log and the frozen files show of the evidence.

    `bars` keep gates from passing (windows not sealed, another registration); `amendments` are
    those of the study in order; `cap` is how many items a sequential plan can ask, `baseline` the
    replies that its items are held against.
    """

    bars: tuple[Bar, ...] = ()
    amendments: tuple[Amended, ...] = ()
    cap: int | None = None
    baseline: BaselineReplies = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Findings:
    """What a registration's criteria gave: estimates, verdicts, names by rules, controls.

    The verdicts are final: what `bars` keep from passing does not pass here.
    """

    estimates: tuple[Estimate, ...]
    verdicts: tuple[Verdict, ...]
    named: tuple[Named, ...]
    controls: tuple[Estimate, ...]
    analyses: tuple[Estimate, ...] = ()
    bars: tuple[Bar, ...] = ()

    @property
    def outcome(self) -> Outcome:
        """Return the worst outcome of verdicts and bars; undefined where nothing is registered."""
        return overall([*(v.outcome for v in self.verdicts), *(b.outcome for b in self.bars)])

    def to_dict(self) -> dict[str, Any]:
        """Return the document of `verdicts.json`."""
        gates = [verdict.to_dict() for verdict in self.verdicts]
        return {
            "overall": self.outcome.value if self.verdicts else None,
            "gates": gates,
            "rules": [named.to_dict() for named in self.named],
            "bars": [bar.to_dict() for bar in self.bars],
        }


def question_of(
    criterion: Gate | Rule | None,
    registration: Registration,
    candidates: pd.DataFrame | None = None,
    design: Design | None = None,
) -> Question:
    """Return the question that a gate, a rule or (None) a bare analysis asks of the table."""
    base = Question(
        over="all",
        cluster=registration.unit.cluster,
        target=registration.unit.target,
        seed=registration.schedule.seed,
        candidates=candidates,
        design=design,
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
    facts: LogFacts | None = None,
    design: Design | None = None,
) -> Findings:
    """Return what the registered gates, rules and analyses say of `table`.

    `design` is what the protocol declares of cells and contrasts (`verdict.declared.design_of`).
    `pilot` is the frozen pilot's record; with it the models that were served are compared. `facts`
    are what the log shows beside its readings; a table has none.
    """
    facts = facts or LogFacts()
    controls = compute("controls", table, question_of(None, registration, candidates))
    read = read_by_unit(registration, table)
    every = _Evidence(table, read, candidates, pilot, facts, tuple(controls), design)
    verdicts, estimates, found = _final(registration, every)
    before = [(one, _superseded(one.before, every)) for one in facts.amendments]
    verdicts, more = compared(verdicts, before)
    verdicts = _with_bars(registration, verdicts, more)
    estimates = _with_outcomes(estimates, verdicts)
    named = []
    for rule in registration.rules:
        question = question_of(rule, registration, candidates, design)
        by_rule = _marked(compute(rule.statistic, read, question, rule.where), True)
        chance = chance_of(rule, read, question)
        one = name_outcome(rule, by_rule, confirmatory=True, chance=chance)
        named.append(one)
        estimates += _asked_by(by_rule, f"rules.{rule.id}", dict(one.names))
    bare = []
    for number, analysis in enumerate(registration.asked_analyses()):
        told = _bare(analysis, registration, every)
        bare += _asked_by(told, f"analyses.{number}", {})
    controls = _asked_by(controls, "controls", {})
    return Findings(
        (*estimates, *bare, *controls),
        (*verdicts, *_composites(verdicts)),
        tuple(named),
        tuple(controls),
        tuple(bare),
        (*found, *more),
    )


def with_bars(findings: Findings, registration: Registration, more: Sequence[Bar]) -> Findings:
    """Return findings in which further bars are applied, e.g. what was met while asking."""
    if not more:
        return findings
    parts = [verdict for verdict in findings.verdicts if not verdict.parts]
    final = _with_bars(registration, parts, more)
    verdicts = (*final, *_composites(final))
    return replace(findings, verdicts=verdicts, bars=(*findings.bars, *more))


@dataclass(frozen=True)
class _Evidence:
    """What every registration is held against: the table as it is and by unit, and the rest."""

    table: pd.DataFrame
    read: pd.DataFrame
    candidates: pd.DataFrame | None
    pilot: PilotRecord | None
    facts: LogFacts
    controls: tuple[Estimate, ...]
    design: Design | None = None


def _final(
    registration: Registration, every: _Evidence
) -> tuple[list[Verdict], list[Estimate], list[Bar]]:
    """Return the verdicts with what bars them, their estimates, and every bar."""
    found = [*bars(registration, every.table, every.controls), *every.facts.bars]
    verdicts, estimates = _decided(registration, every)
    return _with_bars(registration, verdicts, found), estimates, found


def _superseded(before: Registration, every: _Evidence) -> list[Verdict]:
    """Return the verdicts by an earlier registration; none where it asks for what is not there."""
    try:
        return _final(before, every)[0]
    except InputError:
        return []


def _decided(registration: Registration, every: _Evidence) -> tuple[list[Verdict], list[Estimate]]:
    """Return the verdicts of the gates on their numbers alone, and the estimates they rest on."""
    table, pilot = every.read, every.pilot
    if registration.sequential is not None:
        found = progress(registration, table, every.facts.cap or 0, every.facts.baseline)
        verdicts = verdicts_of(found, registration.pilot is not None)
        return verdicts, [replace(one.estimate, asked_by=f"gates.{one.gate.id}") for one in found]
    estimates: list[Estimate] = []
    verdicts, marks = [], marks_of(registration, table, pilot)
    for gate in registration.gates:
        verdict, used = _gate(gate, registration, every, marks)
        verdicts.append(verdict)
        estimates += used
    return verdicts, estimates


def _with_bars(
    registration: Registration, verdicts: Sequence[Verdict], found: Sequence[Bar]
) -> list[Verdict]:
    """Return the verdicts with the bars that speak of them."""
    ids = [spec.id for spec in registration.endpoints]
    wanted = {gate.id: gate.where.get("endpoint") for gate in registration.gates}
    asked = {name: tuple(ids) if one is None else (one,) for name, one in wanted.items()}
    return [
        barred(replace(verdict, endpoints=asked.get(verdict.id, ())), found, ids)
        for verdict in verdicts
    ]


def read_by_unit(registration: Registration, table: pd.DataFrame) -> pd.DataFrame:
    """Return the table with the k draws of each reading aggregated as `[unit]` registers it."""
    unit = registration.unit
    return aggregated(table, unit.k, unit.aggregate, unit.ties)


def _gate(
    gate: Gate, registration: Registration, every: _Evidence, marks: tuple[str, ...]
) -> tuple[Verdict, list[Estimate]]:
    table = every.read
    piloted = rests_on_a_pilot(gate, registration) and not marks
    question = question_of(gate, registration, every.candidates, every.design)
    found = _marked(compute(gate.statistic, table, question, gate.where), piloted)
    beside: list[Estimate] = []
    for name in gate.sensitivity:
        other = replace(question, threshold=None)
        beside += compute(name, table, other, gate.where)
    # What came with the headline (other targets, parts) decides nothing either.
    shown = [e for e in found if e.analysis != gate.statistic or e.scope != found[0].scope]
    verdict = decide(gate, found, sensitivity=[*beside, *shown], confirmatory=piloted)
    marked = replace(verdict, does_not_say=(*verdict.does_not_say, *marks), marks=marks)
    place = f"gates.{gate.id}"
    return marked, [*_asked_by(found, place, {}), *_asked_by(beside, f"{place}.sensitivity", {})]


def _with_outcomes(found: Sequence[Estimate], verdicts: Sequence[Verdict]) -> list[Estimate]:
    """Return the gates' estimates, the first of each endpoint with the final outcome there."""
    waiting = {
        (f"gates.{verdict.id}", held.endpoint): held.outcome.value
        for verdict in verdicts
        for held in verdict.held
    }
    return [replace(e, outcome=waiting.pop((e.asked_by, e.endpoint), "")) for e in found]


def _asked_by(found: Sequence[Estimate], place: str, outcomes: Mapping[str, str]) -> list[Estimate]:
    """Return estimates with what registered them; the first of each endpoint has the outcome."""
    told, waiting = [], dict(outcomes)
    for estimate in found:
        outcome = waiting.pop(estimate.endpoint, "")
        told.append(replace(estimate, asked_by=place, outcome=outcome))
    return told


def _bare(analysis: Analysis, registration: Registration, every: _Evidence) -> list[Estimate]:
    """Return a registered analysis: each comparison, condition and endpoint, value or reason."""
    named = bool(registration.gates or registration.rules)
    params = {key: plain(value) for key, value in analysis.params.items()}
    base = question_of(None, registration, every.candidates, every.design)
    overs = None if analysis.over is None else (analysis.over,)
    question = replace(base, params=params)
    found = asked(analysis.statistic, every.read, question, analysis.where, overs)
    return _marked(found, named)


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


def _marked(estimates: Sequence[Estimate], confirmatory: bool) -> list[Estimate]:
    return [replace(estimate, confirmatory=confirmatory) for estimate in estimates]


def _composites(verdicts: Sequence[Verdict]) -> list[Verdict]:
    names = dict.fromkeys(v.part_of for v in verdicts if v.part_of)
    return [compose(name, [v for v in verdicts if v.part_of == name]) for name in names]
