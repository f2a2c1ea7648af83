"""A sealed study's findings, and its result files: what `analyze`, `gate`, `export`, `demo` share.

Whoever asks for a verdict gets it from `analyse`: the registered criteria, what bars them, and the
amendments, together. `results/` is made anew by each analysis of the same sealed runs and holds:

* `estimates.parquet`: every estimate, each column with its sentence;
* `items.parquet`: which items changed their answers, from what to what, how often;
* `verdicts.json`: gates, composites and rules with what they rest on, and what bars them;
* `provenance.json`: digests of what was read and written, versions, the time of the analysis;
* `manifest.json`: every file of the folder with its digest, by which `verify` reads it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy
import pandas
import pandas as pd
import pyarrow
import scipy

from judgeaudit.analysis.frame import COLUMNS, estimates_frame
from judgeaudit.analysis.items import COLUMNS as ITEM_COLUMNS
from judgeaudit.analysis.items import items_frame
from judgeaudit.canonical import file_digest
from judgeaudit.design.amendments import Amendment
from judgeaudit.design.frozen import FrozenStudy
from judgeaudit.errors import UndefinedEstimate
from judgeaudit.evidence.deviations import deviations
from judgeaudit.evidence.inventory import NAME as MANIFEST
from judgeaudit.evidence.inventory import write_inventory
from judgeaudit.evidence.lock.gate_run import home_of
from judgeaudit.evidence.log.runs import SealedRun
from judgeaudit.readings.table import candidate_frame
from judgeaudit.study.amendments import amendments_of, superseded_of
from judgeaudit.study.gate_history import asked_again, loosened
from judgeaudit.study.sealed import pilot_record, planned_table, sealed_runs_of, study_table
from judgeaudit.study.standing import baseline_of, items_of, standing
from judgeaudit.tables.write import replace_whole, write_table
from judgeaudit.verdict import Findings, evaluate
from judgeaudit.verdict.blockers import Bar
from judgeaudit.verdict.declared import design_of
from judgeaudit.verdict.gate_report import GateReport
from judgeaudit.verdict.registered import LogFacts, read_by_unit
from judgeaudit.verdict.stopping import Progress as Standing
from judgeaudit.verdict.verdicts import estimate_to_dict
from judgeaudit.version import __version__

RESULTS = "results"
ESTIMATES, VERDICTS, PROVENANCE = "estimates.parquet", "verdicts.json", "provenance.json"
GATE, PILOT = "gate.json", "pilot.json"
ITEMS = "items.parquet"
MADE_BY_ANALYZE = (ESTIMATES, ITEMS, VERDICTS, PROVENANCE)


@dataclass(frozen=True)
class Analysed:
    """A study after its registered analyses.

    `amendments` changed it after its first freeze; `standing` is None unless its gates are
    sequential. `written` is the folder of the result files, None where
    none were made; `unwritten` says why where they could not be.
    """

    frozen: FrozenStudy
    runs: tuple[SealedRun, ...]
    table: pd.DataFrame
    findings: Findings
    amendments: tuple[Amendment, ...] = ()
    standing: tuple[Standing, ...] | None = None
    written: Path | None = None
    unwritten: str = ""

    @property
    def bars(self) -> tuple[Bar, ...]:
        """Return what keeps its gates from passing."""
        return self.findings.bars

    @property
    def report(self) -> GateReport:
        """Return what all gates say together, with what bars them."""
        name = self.frozen.registration.study.id
        return GateReport(name, self.findings.verdicts, self.told_bars, amendments=self.amendments)

    @property
    def told_bars(self) -> tuple[Bar, ...]:
        """Return the bars; a study that registers no gate need not hear that none can pass."""
        return tuple(bar for bar in self.bars if bar.kind != "no_criterion")

    @property
    def waiting(self) -> list[str]:
        """Return the windows that are not sealed yet."""
        sealed = {run.manifest["window"] for run in self.runs}
        return [window.id for window in self.frozen.windows() if window.id not in sealed]

    def by_status(self) -> dict[str, int]:
        """Return how many planned calls of the sealed runs ended how."""
        found: dict[str, int] = {}
        for run in self.runs:
            for name, count in run.manifest["readings"]["by_status"].items():
                found[name] = found.get(name, 0) + count
        return found

    def execution(self) -> dict[str, Any]:
        """Return delivery, ledger and readings by status: the report that judges nothing."""
        ledger: dict[str, int] = {}
        for run in self.runs:
            for name, value in run.manifest["ledger"]["calls"].items():
                if isinstance(value, int):
                    ledger[name] = ledger.get(name, 0) + value
        return {
            "sealed_windows": [run.manifest["window"] for run in self.runs],
            "waiting_windows": self.waiting,
            "planned": sum(run.manifest["readings"]["planned"] for run in self.runs),
            "by_status": self.by_status(),
            "ledger": ledger,
        }


def analyse(frozen: FrozenStudy) -> Analysed:
    """Return what the registration's criteria say of the sealed runs: every door's verdict.

    Readings that were made under another registration decide nothing. Raises `UndefinedEstimate`
    where nothing is sealed, `EvidenceError` for a file that is not what its manifest says.
    """
    runs, amendments = sealed_runs_of(frozen), amendments_of(frozen)
    sequential = frozen.registration.sequential is not None
    table = planned_table(frozen) if sequential else study_table(frozen)
    if strangers := made_elsewhere(frozen, runs):
        nothing = Findings((), (), (), (), bars=strangers)
        return Analysed(frozen, runs, table, nothing, amendments)
    found = Analysed(frozen, runs, table, Findings((), (), (), ()), amendments)
    stopped = standing(frozen, baseline) if (baseline := baseline_of(frozen)) or sequential else []
    facts = LogFacts(
        bars=(*_waiting(found.waiting), *loosened(frozen), *asked_again(frozen, _outcome)),
        amendments=superseded_of(frozen),
        cap=len(items_of(frozen)),
        baseline=baseline,
    )
    probes = [item for item in frozen.items.values() if "control" not in item.meta]
    pilot = pilot_record(frozen)
    declared = design_of(frozen.protocol)
    shown = candidate_frame(probes)
    findings = evaluate(frozen.registration, table, shown, pilot, facts, declared)
    return replace(found, findings=findings, standing=tuple(stopped) if sequential else None)


def _outcome(run: FrozenStudy) -> str:
    """Return how another gate run ended, by what is sealed of it."""
    try:
        return analyse(run).findings.outcome.value
    except UndefinedEstimate:
        return "without a result"


def made_elsewhere(frozen: FrozenStudy, runs: Sequence[SealedRun]) -> tuple[Bar, ...]:
    """Return a bar for each sealed run that was made under a registration not in force."""
    known = {str(lock) for lock in frozen.locks}
    says = "run {} was made under {}, the registration in force is {}"
    return tuple(
        Bar("other_registration", says.format(run.name, lock, frozen.lock_digest))
        for run in runs
        if (lock := run.manifest["lock_digest"]) not in known
    )


def _waiting(windows: Sequence[str]) -> list[Bar]:
    if not windows:
        return []
    said = "1 window is" if len(windows) == 1 else f"{len(windows)} windows are"
    return [Bar("waiting", f"{said} not sealed: {', '.join(windows)}")]


def write_results(analysed: Analysed, now: datetime | None = None) -> Path:
    """Write `results/` and return its path; raises `OSError` where it cannot be written."""
    folder = analysed.frozen.root / RESULTS
    folder.mkdir(exist_ok=True)
    frame = estimates_frame(analysed.findings.estimates)
    meta = {"judgeaudit.registration": str(analysed.frozen.lock_digest)}
    write_table(folder / ESTIMATES, frame, COLUMNS, meta)
    write_table(folder / ITEMS, item_changes(analysed), ITEM_COLUMNS, meta)
    _write_json(folder / VERDICTS, verdicts_document(analysed))
    _write_json(folder / PROVENANCE, _provenance(analysed, folder, now or datetime.now(UTC)))
    list_results(analysed.frozen, [*MADE_BY_ANALYZE, *_unlisted(folder)], analysed.runs)
    return folder


def item_changes(analysed: Analysed) -> pd.DataFrame:
    """Return which items of a study changed their answers, and how (`analysis.items`)."""
    return items_frame(read_by_unit(analysed.frozen.registration, analysed.table))


def list_results(frozen: FrozenStudy, names: Iterable[str], runs: Sequence[SealedRun]) -> None:
    """Take files of `results/` that were just written into its manifest."""
    write_inventory(frozen.root / RESULTS, names, made_from(frozen, runs))


def _unlisted(folder: Path) -> list[str]:
    """Return what gates and pilots of 0.1, which wrote no manifest, left in the folder."""
    if (folder / MANIFEST).exists():
        return []
    return [name for name in (GATE, PILOT) if (folder / name).is_file()]


def made_from(frozen: FrozenStudy, runs: Sequence[SealedRun]) -> dict[str, Any]:
    """Return what a manifest of results or of an export says that its files were made from."""
    return {
        "writer": __version__,
        "study": frozen.registration.study.id,
        "lock_digest": str(frozen.lock_digest),
        "runs": {run.name: str(run.digest) for run in runs},
    }


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
        "overall": analysed.report.outcome.value if frozen.registration.gates else None,
        "bars": [bar.to_dict() for bar in analysed.told_bars],
        "amendments": [amendment.to_dict() for amendment in analysed.amendments],
        "deviations": deviations(home_of(frozen.root)),
    }


def findings_document(analysed: Analysed) -> dict[str, Any]:
    """Return everything that an analysis found as one JSON document."""
    return {
        "execution": analysed.execution(),
        "controls": [estimate_to_dict(e) for e in analysed.findings.controls],
        **verdicts_document(analysed),
        "estimates": [estimate_to_dict(e) for e in analysed.findings.estimates],
    }


def _provenance(analysed: Analysed, folder: Path, now: datetime) -> dict[str, Any]:
    return {
        "format": "judgeaudit-provenance/2",
        "analysed_at": now.isoformat(timespec="seconds"),
        "judgeaudit": __version__,
        "packages": {m.__name__: m.__version__ for m in (numpy, scipy, pandas, pyarrow)},
        "lock_digest": str(analysed.frozen.lock_digest),
        "runs": {run.name: str(run.digest) for run in analysed.runs},
        "seed": analysed.frozen.registration.schedule.seed,
        "files": {name: str(file_digest(folder / name)) for name in (ESTIMATES, ITEMS, VERDICTS)},
    }


def _write_json(path: Path, document: Mapping[str, Any]) -> None:
    text = json.dumps(document, ensure_ascii=False, indent=2, allow_nan=False)
    replace_whole(path, lambda part: part.write_text(text + "\n", encoding="utf-8"))
