"""A study's pilot: made, run, sealed, and what it says the judge is capable of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from judgeaudit.analysis.catalogue import statistic
from judgeaudit.canonical import file_digest
from judgeaudit.design.draft import Draft, Inputs
from judgeaudit.design.pilot import design, same_pilot
from judgeaudit.evidence.lock.sources import load_study
from judgeaudit.stats.operating import pilot_size
from judgeaudit.study.characteristics import consider
from judgeaudit.study.folders import Folder
from judgeaudit.study.loops import outside_a_loop
from judgeaudit.study.pilot_study import (
    make_pilot,
    pilot_folder,
    plan_calls,
    run_pilot,
    write_record,
)
from judgeaudit.study.progress import Progress, silent
from judgeaudit.study.sound import sound, statistics
from judgeaudit.verdict.oc.gate import Characteristic
from judgeaudit.verdict.oc.words import as_json


@dataclass(frozen=True, slots=True)
class Piloted:
    """A sealed pilot: its record, the digest for `[pilot]`, what every gate can do by it."""

    path: Path
    record: Mapping[str, Any]
    digest: str
    folder: str
    gates: tuple[Characteristic, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return JSON values."""
        return {**self.record, "digest": self.digest, "gates": [as_json(one) for one in self.gates]}


@outside_a_loop
def pilot(
    folder: Folder,
    *,
    precision: float = 0.1,
    items: int | None = None,
    wait: bool = False,
    progress: Progress = silent,
) -> Piloted:
    """Make, run and seal the pilot of the study in `folder`, a study of its own.

    `precision` is the relative error of the noise that is wanted; `items` asks so many whatever the
    precision. Raises `TooEarly` where a window is due later, unless `wait`; calling again goes on.
    """
    root = Path(folder)
    draft = _without_pilot(load_study(root))
    report, inputs = sound(draft), draft.whole()
    name = same_pilot(inputs.registration.pilot)
    place, planned = pilot_folder(root, name), plan_calls(inputs)
    found = design(
        inputs.registration,
        inputs.items,
        planned,
        statistics(),
        precision=precision,
        most_items=items,
        least_items=_wanted(inputs),
    )
    make_pilot(root, place, found, progress)
    run_pilot(place, wait=wait, progress=progress)
    path, record = write_record(root, place)
    gates = consider(root, draft, report, quick=True, progress=progress).found
    return Piloted(path, record, str(file_digest(path)), name, gates)


def _wanted(inputs: Inputs) -> int:
    """Return the items that its gates need to tell healthy from degraded: the most of any gate."""
    shares = [
        gate
        for gate in inputs.registration.gates
        if gate.healthy and gate.degraded and statistic(gate.statistic).kind == "share"
    ]
    sizes = [
        pilot_size(float(gate.healthy.value), float(gate.degraded.value))
        for gate in shares
        if gate.healthy and gate.degraded and gate.healthy.value != gate.degraded.value
    ]
    return max(sizes, default=0)


def _without_pilot(draft: Draft) -> Draft:
    """Return a draft as if no pilot were registered: one is being made."""
    problems = tuple(p for p in draft.problems if not p.key.startswith("pilot"))
    sources = {role: source for role, source in draft.sources.items() if role != "pilot"}
    return replace(draft, problems=problems, sources=sources)
