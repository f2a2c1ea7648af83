"""The characteristics of a study's gates, from its registration, its plan and its pilot on disk."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from judgeaudit.canonical import digest
from judgeaudit.design.check.study import CheckReport
from judgeaudit.design.criteria import Gate
from judgeaudit.design.document import PilotRef, Registration
from judgeaudit.design.draft import Draft, Inputs
from judgeaudit.design.plan import is_control, make_plan
from judgeaudit.errors import Problem, RegistrationError, UndefinedEstimate
from judgeaudit.readings.table import candidate_frame, probes
from judgeaudit.study.code_digest import code_digest
from judgeaudit.study.pilot_study import RESULTS, SealedPilot, load_pilot, pilot_folder
from judgeaudit.study.progress import Progress, Remark, silent
from judgeaudit.verdict.declared import design_of
from judgeaudit.verdict.freezable import freeze_problems
from judgeaudit.verdict.oc.fixed import rule_of
from judgeaudit.verdict.oc.gate import (
    Characteristic,
    Piloted,
    characterise,
    characterise_sequential,
    piloted,
    with_instruments,
)
from judgeaudit.verdict.oc.laid import laid_out
from judgeaudit.verdict.oc.piloted import battery_problems, pilot_problems
from judgeaudit.verdict.oc.planned import candidates_of, planned_table, size_of
from judgeaudit.verdict.oc.predictive import Predicted, predict
from judgeaudit.verdict.oc.redesign import Price, proposals
from judgeaudit.verdict.oc.sequential import SequentialRule, predicted
from judgeaudit.verdict.requirement import Requirement, requirement_of, requirement_problems

DRAWS = 200
"""Resamples of a pilot; a chance of .9 is then known to .02."""


@dataclass(frozen=True)
class Considered:
    """A sound draft with its gates' characteristics.

    `pilot_problems` says what is wrong with the pilot, None where there is none.
    """

    inputs: Inputs
    report: CheckReport
    found: tuple[Characteristic, ...]
    pilot: SealedPilot | None
    pilot_problems: tuple[Problem, ...] | None

    @property
    def registration(self) -> Registration:
        """The draft's registration."""
        return self.inputs.registration

    @property
    def answer(self) -> bool | None:
        """Whether every gate discriminates and the judge is capable of it; None if not known."""
        refused = any(not all(one.fires) for one in self.found)
        refused = refused or any(requirement_problems(self.registration))
        if refused or any(o.discriminates is False or o.capable is False for o in self.found):
            return False
        return True if all(o.discriminates and o.capable for o in self.found) else None

    @property
    def requirement(self) -> Requirement | None:
        """What the named consumer tolerates; None where no consumer is named."""
        return requirement_of(self.registration.study, self.registration.schedule.seed)

    @property
    def problems(self) -> tuple[Problem, ...]:
        """What is wrong with requirement and pilot."""
        return (*requirement_problems(self.registration), *(self.pilot_problems or ()))

    @property
    def made_by(self) -> str:
        """The seed and the code that simulated this."""
        return f"seed {self.registration.schedule.seed}, code {code_digest()}"

    def whole(self, root: Path, what: str) -> Considered:
        """Return this; raises `UndefinedEstimate` where no gate is registered."""
        if self.found:
            return self
        raise UndefinedEstimate(f"{root}: no gate is registered, so there is {what}")


def consider(
    root: Path,
    draft: Draft,
    report: CheckReport,
    *,
    draws: int = DRAWS,
    quick: bool = False,
    progress: Progress = silent,
) -> Considered:
    """Return the characteristics of a sound draft's gates.

    With `quick` nothing is simulated and nothing proposed. Raises `EvidenceError` for a pilot that
    is not what its digests say.
    """
    inputs = draft.whole()
    pilot, faults = _pilot(root, draft, progress)
    if not inputs.registration.gates:
        return Considered(inputs, report, (), pilot, faults)
    found = _characterised(inputs, pilot)
    if not quick:
        found = [_whole(one, inputs, pilot, report, draws) for one in found]
    return Considered(inputs, report, tuple(found), pilot, faults)


def _pilot(
    root: Path, draft: Draft, progress: Progress
) -> tuple[SealedPilot | None, tuple[Problem, ...] | None]:
    """Return the registered pilot, or the one that lies ready, and what is wrong with it."""
    assert draft.registration is not None
    ref = draft.registration.pilot
    folder = pilot_folder(root, "pilot" if ref is None else ref.study)
    if "pilot" in draft.sources:
        data = draft.sources["pilot"].data
    elif (folder / "results" / RESULTS).is_file():
        data = (folder / "results" / RESULTS).read_bytes()
        says = f"pilot: {folder}, not registered yet; its digest is {digest(data)}"
        progress(Remark(says))
    else:
        return None, None
    pilot = load_pilot(folder, data)
    used = ref or PilotRef(digest=str(digest(data)))
    protocol = str(digest(draft.sources["protocol"].data))
    now = datetime.now(UTC)
    faults = (
        *pilot_problems(pilot.record, used, draft.registration, protocol, now),
        *battery_problems(
            (item for item in pilot.frozen.items.values() if not is_control(item)),
            draft.whole().items,
            (pilot.frozen.registration.schedule.conditions, draft.registration.schedule.conditions),
        ),
    )
    registered = ref is not None and ref.digest is not None
    return pilot, faults if registered else None


def _characterised(inputs: Inputs, pilot: SealedPilot | None) -> list[Characteristic]:
    registration = inputs.registration
    plan = make_plan(registration, inputs.protocol, inputs.items, inputs.controls, bodies={})
    table = planned_table(plan, [*inputs.items, *inputs.controls])
    shown = candidates_of(inputs.items)
    found = []
    for gate in registration.gates:
        size = size_of(gate, registration, table, shown)
        seen = None if pilot is None else _piloted(gate, inputs, pilot)
        laid = laid_out(gate, registration, table, shown)
        if registration.sequential is None:
            rule = rule_of(gate, laid, registration.schedule.seed)
            found.append(characterise(gate, size, shown, seen, rule))
        else:
            found.append(characterise_sequential(gate, registration, size, seen, laid))
    return found


def _piloted(gate: Gate, inputs: Inputs, pilot: SealedPilot) -> Piloted:
    design = design_of(inputs.protocol)
    return piloted(gate, inputs.registration, pilot.table, _truth(pilot), design)


def _truth(pilot: SealedPilot) -> Any:
    probes = [item for item in pilot.frozen.items.values() if "control" not in item.meta]
    return candidate_frame(probes)


def _whole(
    one: Characteristic,
    inputs: Inputs,
    pilot: SealedPilot | None,
    report: CheckReport,
    draws: int,
) -> Characteristic:
    """Return a characteristic with what the pilot predicts and what would discriminate."""
    registration = inputs.registration
    table = None if pilot is None else pilot.table
    if table is not None and one.pilot is not None and one.pilot.estimates:
        seed = registration.schedule.seed
        units = one.size.units
        if registration.sequential is None:
            guess = predict(
                one.gate, registration, table, units,
                seed=seed, draws=draws, candidates=_truth(pilot) if pilot else None,
                design=design_of(inputs.protocol),
            )  # fmt: skip
        else:
            assert isinstance(one.rule, SequentialRule)
            chances, _ = predicted(one.rule, probes(table), seed, draws)
            guess = Predicted(chances, draws, seed)
        one = replace(one, predicted=guess)
    one = with_instruments(one)
    designs = proposals(one, registration, table, candidates_of(inputs.items), price_of(report))
    return replace(one, proposals=tuple(designs))


def price_of(report: CheckReport) -> Any:
    """Return what a call costs on average by the registered prices."""
    if report.numbers is None:
        return Price({})
    calls = max(1, report.numbers.calls)
    return Price({name: amount / calls for name, amount in report.numbers.cost.items()})


def require_freezable(
    root: Path, draft: Draft, report: CheckReport, progress: Progress = silent
) -> Considered:
    """Return the characteristics of a draft that may be frozen.

    Raises `RegistrationError` with everything that stops it.
    """
    assert draft.registration is not None
    intended = [g for g in draft.registration.gates if g.healthy or g.degraded]
    found = consider(root, draft, report, quick=not intended, progress=progress)
    problems = tuple(freeze_problems(found.registration, found.found, found.pilot_problems))
    if problems:
        raise RegistrationError(root / "registration.toml", problems)
    return found


def with_gates(
    root: Path, draft: Draft, report: CheckReport, progress: Progress = silent
) -> CheckReport:
    """Return a check's report with what its gates add to it; nothing is simulated for that."""
    if not report.ok or draft.registration is None or not draft.registration.gates:
        return report
    found = consider(root, draft, report, quick=True, progress=progress)
    problems = tuple(freeze_problems(found.registration, found.found, found.pilot_problems))
    return replace(report, problems=problems)
