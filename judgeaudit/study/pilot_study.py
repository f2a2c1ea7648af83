"""A pilot as a study on disk: made, frozen, run as far as its time has come, and sealed."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pandas as pd

from judgeaudit.battery import items_to_bytes
from judgeaudit.collect.lock import exclusive
from judgeaudit.collect.status import unsealed
from judgeaudit.design.draft import Inputs
from judgeaudit.design.frozen import FrozenStudy
from judgeaudit.design.pilot import PilotDesign, pilot_registration
from judgeaudit.design.plan import make_plan
from judgeaudit.design.toml import toml_text
from judgeaudit.errors import EvidenceError, InputError, UndefinedEstimate
from judgeaudit.evidence.lock import files
from judgeaudit.evidence.lock.environment import facts
from judgeaudit.evidence.lock.files import load_frozen, load_study
from judgeaudit.study.code_digest import code_digest
from judgeaudit.study.folders import refuse_existing, write_study
from judgeaudit.study.progress import Progress, Remark, silent
from judgeaudit.study.results import analyse, list_results, write_results
from judgeaudit.study.sealed import sealed_runs_of, study_table
from judgeaudit.study.sound import sound
from judgeaudit.study.windows import Windows
from judgeaudit.tables.write import replace_whole
from judgeaudit.verdict.oc.pilot import report, served
from judgeaudit.verdict.oc.piloted import FORMAT, PilotRecord, asked_of
from judgeaudit.verdict.registered import question_of, read_by_unit

RESULTS = "pilot.json"


@dataclass(frozen=True)
class SealedPilot:
    """A pilot whose sealed runs are what its results say, and its readings."""

    frozen: FrozenStudy
    table: pd.DataFrame
    record: PilotRecord


def plan_calls(inputs: Inputs) -> int:
    """Return how many calls a study's plan has."""
    parts = (inputs.registration, inputs.protocol, inputs.items, inputs.controls)
    return len(make_plan(*parts, bodies={}))


def make_pilot(root: Path, folder: Path, found: PilotDesign, progress: Progress = silent) -> None:
    """Write the pilot's registration, protocol and items, and freeze it; a frozen one is kept.

    One that was written and not frozen, since the command was killed, is frozen. Raises
    `InputError` for a folder that holds something else.
    """
    if (folder / "frozen").is_dir():
        progress(Remark(f"{folder}: going on with the pilot that is frozen there"))
        return
    draft = files.load_study(root)
    inputs = draft.whole()
    calls = len(found.items) * found.windows * found.repeats * _fan(inputs)
    cap = calls + calls // 4 + 100 + len(inputs.controls) * found.windows * _fan(inputs)
    head = (
        "# Made by `judgeaudit pilot`. A study of its own: no call here enters another's count.\n"
    )
    text = head + toml_text(pilot_registration(inputs.registration, found, cap))
    written = {
        "registration.toml": text.encode(),
        "protocol.toml": draft.sources["protocol"].data,
        "items.jsonl": items_to_bytes(found.items),
    }
    if "controls" in draft.sources:
        written["controls.jsonl"] = draft.sources["controls"].data
    if not _holds(folder, written):
        refuse_existing(folder)
        with tempfile.TemporaryDirectory(prefix="judgeaudit-pilot-") as name:
            trial = Path(name) / "pilot"
            write_study(trial, written)
            sound(files.load_study(trial))  # nothing is left behind where it cannot be frozen
        write_study(folder, written)
    lock, _ = files.freeze(folder, facts(folder, datetime.now(UTC)))
    calls = lock.document["content"]["plan"]["rows"]
    progress(Remark(f"pilot frozen: {calls} calls, lock {lock.digest}"))


def _holds(folder: Path, written: Mapping[str, bytes]) -> bool:
    """Return whether a folder has these files as they are; what else is in it does not matter."""
    return all(
        (path := folder / name).is_file() and path.read_bytes() == data
        for name, data in written.items()
    )


def _fan(inputs: Inputs) -> int:
    """Return an upper bound of calls an item, window and repeat: endpoints, conditions, arms."""
    schedule, arms = inputs.registration.schedule, 1
    for stage in inputs.protocol.all_stages():
        arms += 2 * max(1, sum(cell.repeats for cell in stage.cells))
    return len(inputs.registration.endpoints) * len(schedule.conditions) * arms * schedule.draws


def run_pilot(folder: Path, *, wait: bool, progress: Progress = silent) -> None:
    """Run the pilot's windows that are due (with `wait` all of them).

    Raises `TooEarly` with the earliest time when the next one is not due yet.
    """
    with exclusive(folder):
        frozen = load_frozen(folder)
        everything = wait or frozen.registration.schedule.clock == "virtual"
        while unsealed(frozen):
            Windows(folder, frozen, progress).run(None, everything=everything)


def write_record(root: Path, folder: Path) -> tuple[Path, dict[str, Any]]:
    """Write `results/pilot.json` of a pilot that is sealed whole; return its path and content.

    It follows from the sealed runs alone: writing it again gives the same bytes.
    """
    frozen = load_frozen(folder)
    analysed = analyse(frozen)
    if analysed.waiting:
        raise UndefinedEstimate(f"{folder}: windows {', '.join(analysed.waiting)} are not sealed")
    results = write_results(analysed)
    parent = load_study(root).whole()
    found = _record(frozen, analysed.table, {r.name: str(r.digest) for r in analysed.runs})
    found |= _share(frozen, plan_calls(parent))
    text = json.dumps(found, ensure_ascii=False, indent=2, sort_keys=True, allow_nan=False) + "\n"
    path = results / RESULTS
    replace_whole(path, lambda part: part.write_text(text, encoding="utf-8"))
    list_results(frozen, [RESULTS], analysed.runs)
    return path, found


def _record(frozen: FrozenStudy, table: pd.DataFrame, runs: Mapping[str, str]) -> dict[str, Any]:
    question = question_of(None, frozen.registration)
    readings = read_by_unit(frozen.registration, table)
    return {
        "format": FORMAT,
        "study": frozen.registration.study.id,
        "lock_digest": str(frozen.lock_digest),
        "protocol_sha256": frozen.lock["content"]["files"]["protocol.toml"],
        "runs": dict(runs),
        "clock": frozen.registration.schedule.clock,
        "finished_at": _finished_at(frozen, table).isoformat(timespec="seconds"),
        "asked": {spec.id: asked_of(spec) for spec in frozen.registration.endpoints},
        "served": served(table),
        "seed": frozen.registration.schedule.seed,
        "code_digest": code_digest(),
        "report": report(readings, question),
    }


def _finished_at(frozen: FrozenStudy, table: pd.DataFrame) -> datetime:
    """Return when the last call was sent; by a virtual clock, when the pilot was frozen."""
    virtual = frozen.registration.schedule.clock == "virtual"
    sent = list(table["sent_at"].dropna()) if "sent_at" in table else []
    if virtual or not sent:
        return datetime.fromisoformat(frozen.lock["beside"]["frozen_at"])
    last = max(sent)
    seconds = last.timestamp() if hasattr(last, "timestamp") else int(last) / 1e9
    return datetime.fromtimestamp(seconds, UTC)


def _share(frozen: FrozenStudy, plan: int) -> dict[str, Any]:
    calls = len(frozen.plan)
    return {"calls": calls, "plan_calls": plan, "share_of_plan": round(calls / max(1, plan), 4)}


def load_pilot(folder: Path, data: bytes) -> SealedPilot:
    """Return the pilot in `folder`, whose results have the bytes `data`.

    Raises `EvidenceError` where its sealed runs or its lock are not those that the results name.
    """
    record = PilotRecord.from_json(data, folder / "results" / RESULTS)
    frozen = load_frozen(folder)
    if str(frozen.lock_digest) != record.lock_digest:
        raise EvidenceError(
            f"{folder}: lock {frozen.lock_digest}, but {RESULTS} names {record.lock_digest}"
        )
    for name, digest in record.runs.items():
        sealed = {run.name: str(run.digest) for run in sealed_runs_of(frozen)}
        if sealed.get(name) != digest:
            raise EvidenceError(
                f"{folder}: run {name}: manifest {sealed.get(name)}, but {RESULTS} names {digest}"
            )
    table = study_table(frozen)
    # What decides whether it holds is read from lock and log: a text could be written by hand.
    record = replace(
        record,
        protocol=frozen.lock["content"]["files"]["protocol.toml"],
        finished_at=_finished_at(frozen, table),
        asked={spec.id: asked_of(spec) for spec in frozen.registration.endpoints},
        served={name: tuple(models) for name, models in served(table).items()},
    )
    return SealedPilot(frozen, read_by_unit(frozen.registration, table), record)


def pilot_folder(root: Path, study: str) -> Path:
    """Return a pilot's folder; raises `InputError` for one outside of paths that can be named."""
    if Path(study).is_absolute():
        raise InputError("pilot.study", found=repr(study), remedy="a path relative to the study")
    return root / study
