"""A sealed study's table, findings and result files; what `analyze`, `gate` and `demo` share.

`results/` is made anew by each analysis of the same sealed runs and holds:

* `estimates.parquet`: every estimate, each column with its sentence;
* `verdicts.json`: gates, composites and rules with what they rest on;
* `provenance.json`: digests of what was read and written, versions, the time of the analysis.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judgeaudit.errors import EvidenceError, UndefinedEstimate

if TYPE_CHECKING:
    import pandas as pd

    from judgeaudit.design.frozen import FrozenStudy
    from judgeaudit.evidence.log.runs import SealedRun
    from judgeaudit.verdict import Findings
    from judgeaudit.verdict.oc.piloted import PilotRecord

RESULTS = "results"
ESTIMATES, VERDICTS, PROVENANCE = "estimates.parquet", "verdicts.json", "provenance.json"
GATE = "gate.json"


@dataclass(frozen=True)
class Analysed:
    """A study after its registered analyses."""

    frozen: FrozenStudy
    runs: tuple[SealedRun, ...]
    table: pd.DataFrame
    findings: Findings

    @property
    def waiting(self) -> list[str]:
        """Return the windows that are not sealed yet."""
        sealed = {run.manifest["window"] for run in self.runs}
        return [window.id for window in self.frozen.windows() if window.id not in sealed]


def sealed_runs_of(frozen: FrozenStudy) -> tuple[SealedRun, ...]:
    """Return the sealed runs with every part's file checked against its manifest.

    Raises `EvidenceError` naming file and both digests, `UndefinedEstimate` for nothing sealed.
    """
    from judgeaudit.canonical import file_digest
    from judgeaudit.collect.past import log_dir
    from judgeaudit.evidence.log.runs import sealed_runs

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


def study_table(frozen: FrozenStudy) -> pd.DataFrame:
    """Return the table of all sealed readings, joined with items and what is known of replies."""
    from judgeaudit.collect.past import log_dir
    from judgeaudit.evidence.log.load import load_attempts, load_readings
    from judgeaudit.readings.table import from_readings

    log = log_dir(frozen.root)
    readings = load_readings(log).to_pandas()
    wanted = ["call_id", "attempt", "model_returned", "fingerprint", "service_tier"]
    attempts = load_attempts(log, [*wanted, "sent_at", "request_id"]).to_pandas()
    joined = readings.merge(attempts, on=["call_id", "attempt"], how="left")
    return from_readings(joined, frozen.items.values())


def analyse(frozen: FrozenStudy) -> Analysed:
    """Return what the registration's criteria say of the sealed runs."""
    from judgeaudit.readings.table import candidate_frame
    from judgeaudit.verdict import evaluate

    runs = sealed_runs_of(frozen)
    table = study_table(frozen)
    probes = [item for item in frozen.items.values() if "control" not in item.meta]
    findings = evaluate(frozen.registration, table, candidate_frame(probes), pilot_record(frozen))
    return Analysed(frozen, runs, table, findings)


def pilot_record(frozen: FrozenStudy) -> PilotRecord | None:
    """Return the record of the pilot that was frozen with a study; None where there is none."""
    from judgeaudit.design.draft import FROZEN_NAMES
    from judgeaudit.design.layout import FROZEN
    from judgeaudit.verdict.oc.piloted import PilotRecord

    path = frozen.root / FROZEN / FROZEN_NAMES["pilot"]
    if FROZEN_NAMES["pilot"] not in frozen.lock["content"]["files"]:
        return None
    return PilotRecord.from_json(path.read_bytes(), path)


def write_results(analysed: Analysed, now: datetime | None = None) -> Path:
    """Write `results/` and return its path."""
    from judgeaudit.analysis.frame import COLUMNS, estimates_frame
    from judgeaudit.tables.write import write_table

    folder = analysed.frozen.root / RESULTS
    folder.mkdir(exist_ok=True)
    frame = estimates_frame(analysed.findings.estimates)
    meta = {"judgeaudit.registration": str(analysed.frozen.lock_digest)}
    write_table(folder / ESTIMATES, frame, COLUMNS, meta)
    _write_json(folder / VERDICTS, verdicts_document(analysed))
    _write_json(folder / PROVENANCE, _provenance(analysed, folder, now or datetime.now(UTC)))
    return folder


def verdicts_document(analysed: Analysed) -> dict[str, Any]:
    """Return `verdicts.json`: the findings, and whose they are."""
    frozen = analysed.frozen
    return {
        "format": "judgeaudit-verdicts/1",
        "study": frozen.registration.study.id,
        "lock_digest": str(frozen.lock_digest),
        "clock": frozen.registration.schedule.clock,
        "simulated": [s.id for s in frozen.registration.endpoints if s.is_simulated],
        "waiting_windows": analysed.waiting,
        **analysed.findings.to_dict(),
    }


def _provenance(analysed: Analysed, folder: Path, now: datetime) -> dict[str, Any]:
    import numpy
    import pandas
    import pyarrow
    import scipy

    from judgeaudit import __version__
    from judgeaudit.canonical import file_digest

    return {
        "format": "judgeaudit-provenance/1",
        "analysed_at": now.isoformat(timespec="seconds"),
        "judgeaudit": __version__,
        "packages": {m.__name__: m.__version__ for m in (numpy, scipy, pandas, pyarrow)},
        "lock_digest": str(analysed.frozen.lock_digest),
        "runs": {run.name: str(run.digest) for run in analysed.runs},
        "seed": analysed.frozen.registration.schedule.seed,
        "files": {name: str(file_digest(folder / name)) for name in (ESTIMATES, VERDICTS)},
    }


def _write_json(path: Path, document: Mapping[str, Any]) -> None:
    from judgeaudit.tables.write import replace_whole

    text = json.dumps(document, ensure_ascii=False, indent=2, allow_nan=False)
    replace_whole(path, lambda part: part.write_text(text + "\n", encoding="utf-8"))


def execution_summary(analysed: Analysed) -> dict[str, Any]:
    """Return delivery, ledger and readings by status: the other report, which judges nothing."""
    ledger: dict[str, int] = {}
    statuses: dict[str, int] = {}
    for run in analysed.runs:
        for name, value in run.manifest["ledger"]["calls"].items():
            if isinstance(value, int):
                ledger[name] = ledger.get(name, 0) + value
        for name, count in run.manifest["readings"]["by_status"].items():
            statuses[name] = statuses.get(name, 0) + count
    return {
        "sealed_windows": [run.manifest["window"] for run in analysed.runs],
        "waiting_windows": analysed.waiting,
        "planned": sum(run.manifest["readings"]["planned"] for run in analysed.runs),
        "by_status": statuses,
        "ledger": ledger,
    }
