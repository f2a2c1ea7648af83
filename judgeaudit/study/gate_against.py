"""`judgeaudit gate --against BASELINE`: the tables of two sealed studies, compared by anchors."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from judgeaudit.design.frozen import FrozenStudy
from judgeaudit.evidence.lock.files import load_frozen
from judgeaudit.evidence.lock.gate_run import is_run, load_run
from judgeaudit.study.sealed import sealed_runs_of, study_table
from judgeaudit.verdict.baseline import compare


def compare_studies(study: FrozenStudy, against: Path) -> dict[str, Any]:
    """Return the comparison of a study with a sealed baseline (a study, or one of its gate runs).

    Raises `UndefinedEstimate` where the baseline has nothing sealed, `EvidenceError` where its
    files are not what their digests say.
    """
    base = load_run(against) if is_run(against) else load_frozen(against)
    runs = sealed_runs_of(base)
    watch = study.registration.watch
    margin = None if watch is None or watch.margin is None else float(watch.margin)
    found = compare(study_table(study), study_table(base), margin)
    return {**found, "baseline": str(against), "baseline_manifest": str(runs[-1].digest)}
