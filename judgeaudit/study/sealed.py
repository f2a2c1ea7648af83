"""What is sealed of a frozen study, as values: its runs, its table, the pilot frozen with it."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from judgeaudit.canonical import file_digest
from judgeaudit.collect.past import log_dir
from judgeaudit.design.draft import FROZEN_NAMES
from judgeaudit.design.frozen import FrozenStudy
from judgeaudit.design.layout import FROZEN
from judgeaudit.errors import EvidenceError, JudgeauditError, UndefinedEstimate
from judgeaudit.evidence.lock.files import load_frozen
from judgeaudit.evidence.lock.gate_run import is_run, load_run
from judgeaudit.evidence.log.load import load_attempts, load_readings
from judgeaudit.evidence.log.runs import SealedRun, sealed_runs
from judgeaudit.evidence.marks import reply_marks
from judgeaudit.readings.table import from_readings
from judgeaudit.verdict.oc.piloted import PilotRecord


def load(folder: Path) -> FrozenStudy:
    """Return the frozen study in `folder`, or the study as the gate run in `folder` asks it.

    Raises `InputError` where it is not frozen, `EvidenceError` where a file is not what its lock
    says.
    """
    return load_run(folder) if is_run(folder) else load_frozen(folder)


def sealed_runs_of(frozen: FrozenStudy) -> tuple[SealedRun, ...]:
    """Return the sealed runs with every part's file checked against its manifest.

    Raises `EvidenceError` naming file and both digests, `UndefinedEstimate` for nothing sealed.
    """
    runs = tuple(sealed_runs(log_dir(frozen.root)))
    if not runs:
        raise UndefinedEstimate(
            f"{frozen.root}: no sealed run; `judgeaudit run {frozen.root}` makes one"
        )
    for run in runs:
        for name, part in run.manifest["parts"].items():
            found = file_digest(run.folder / name)
            if found != part["digest"]:
                raise EvidenceError(
                    f"{run.folder / name}: digest {found} differs from the manifest's "
                    f"{part['digest']}; `judgeaudit verify` says where"
                )
    return runs


def head_of(frozen: FrozenStudy) -> str | None:
    """Return the digest of the last sealed run's manifest; None where nothing sound is sealed."""
    try:
        runs = sealed_runs(log_dir(frozen.root))
    except JudgeauditError:
        return None
    return str(runs[-1].digest) if runs else None


def study_table(frozen: FrozenStudy) -> pd.DataFrame:
    """Return the table of all sealed readings, joined with items and what is known of replies."""
    log = log_dir(frozen.root)
    readings = load_readings(log).to_pandas()
    wanted = ["call_id", "attempt", "model_returned", "fingerprint", "service_tier"]
    attempts = load_attempts(log, [*wanted, "sent_at", "request_id"]).to_pandas()
    joined = readings.merge(attempts, on=["call_id", "attempt"], how="left")
    joined = joined.merge(_marks(log), on=["call_id", "attempt"], how="left")
    return from_readings(joined, frozen.items.values())


def _marks(log: Path) -> pd.DataFrame:
    """Return what tells each reply from another: its id, its time, a cache's word."""
    names = ["call_id", "attempt", "reply_id", "created", "cache"]
    rows = [tuple(getattr(mark, name) for name in names) for mark in reply_marks(log)]
    return pd.DataFrame(rows, columns=names, dtype=object)


def planned_table(study: FrozenStudy) -> pd.DataFrame:
    """Return the sealed readings in plan order, without calls that a stop rule left unasked."""
    table = study_table(study)
    places = {call.call_id: call.plan_index for call in study.plan}
    asked = table[table["reason"].ne("stopped_by_rule")]
    order = asked["call_id"].map(places).sort_values(kind="stable").index
    return asked.loc[order].reset_index(drop=True)


def pilot_record(frozen: FrozenStudy) -> PilotRecord | None:
    """Return the record of the pilot that was frozen with a study; None where there is none."""
    path = frozen.root / FROZEN / FROZEN_NAMES["pilot"]
    if FROZEN_NAMES["pilot"] not in frozen.lock["content"]["files"]:
        return None
    return PilotRecord.from_json(path.read_bytes(), path)
