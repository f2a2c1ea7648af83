"""The gate of a study: ask what is left (in blocks where it is sequential), then decide.

A paused run, a window that is not sealed and evidence of another registration are bars of the
report, not crashes: CI gets the same JUnit file and the same exit code 3 as for any other lack of
evidence. A window that is due later raises `TooEarly`, which is 3 with the earliest time.
"""

from __future__ import annotations

import json
import os
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from judgeaudit.collect.lock import exclusive
from judgeaudit.collect.past import log_dir
from judgeaudit.design.frozen import FrozenStudy
from judgeaudit.errors import InputError, NoKey, RunPaused, UndefinedEstimate
from judgeaudit.evidence.lock import gate_run
from judgeaudit.evidence.lock.environment import git_state
from judgeaudit.evidence.lock.files import load_frozen
from judgeaudit.evidence.log.runs import sealed_runs
from judgeaudit.study.folders import Folder, unless_read_only
from judgeaudit.study.gate_against import compare_studies
from judgeaudit.study.gate_blocks import ask_in_blocks
from judgeaudit.study.gate_history import ci_findings
from judgeaudit.study.loops import outside_a_loop
from judgeaudit.study.progress import Progress, Remark, silent
from judgeaudit.study.results import GATE, RESULTS, Analysed, analyse, list_results
from judgeaudit.study.standing import items_of
from judgeaudit.study.windows import Windows
from judgeaudit.tables.write import replace_whole
from judgeaudit.verdict.blockers import Bar
from judgeaudit.verdict.gate_report import Asked, GateReport
from judgeaudit.verdict.registered import with_bars

__all__ = ["GateReport", "commit_of", "gate"]


@outside_a_loop
def gate(
    folder: Folder,
    *,
    run_key: str | None = None,
    read_only: bool = False,
    against: Folder | None = None,
    now: datetime | None = None,
    progress: Progress = silent,
) -> GateReport:
    """Ask what is left of a frozen study's gate and decide; writes `results/gate.json`.

    `run_key` asks anew in an order of its own (a sequential gate takes the commit), `read_only`
    decides on what is sealed, `against` names a sealed baseline. No threshold can be given. Raises
    `TooEarly` where a window is due later, `InputError` for a sequential gate without a key.
    """
    root, at = Path(folder), now or datetime.now(UTC)
    study = load_frozen(root)
    commit = commit_of(root)
    key = run_key or (commit if study.registration.sequential is not None else None)
    if key is None and study.registration.sequential is not None:
        raise InputError(
            root, "--run-key", "no commit to draw the order from", "give --run-key, e.g. the commit"
        )
    facts, asked = _facts(study, key, commit, at), study
    if key is not None:
        asked = gate_run.of_run(study, key)
        if not read_only or (asked.root / gate_run.RUN).exists():
            gate_run.begin(asked, key, commit, facts["day"])
    bars = [] if read_only else _ask(asked, progress)
    report = _decide(study, asked, bars, facts, None if against is None else Path(against))
    _keep(asked, report, progress)
    return report


def commit_of(root: Path) -> str | None:
    """Return the commit that is gated: GitHub's word for it, or that of the checkout."""
    if sha := os.environ.get("GITHUB_SHA"):
        return sha
    found = git_state(root)
    return None if found is None else str(found["commit"])


def _facts(
    study: FrozenStudy, key: str | None, commit: str | None, now: datetime
) -> dict[str, Any]:
    return {
        "lock_digest": str(study.lock_digest),
        "run_key": key,
        "commit": commit,
        "day": now.astimezone(UTC).date().isoformat(),
        "clock": study.registration.schedule.clock,
        "simulated": [s.id for s in study.registration.endpoints if s.is_simulated],
    }


def _decide(
    study: FrozenStudy,
    asked: FrozenStudy,
    bars: list[Bar],
    facts: dict[str, Any],
    against: Path | None,
) -> GateReport:
    """Return the report on what is sealed; `bars` are what asking met."""
    spent: Asked | None = None
    compared = None
    report = GateReport(study.registration.study.id, bars=tuple(bars), about=facts)
    try:
        found = analyse(asked)
        findings = with_bars(found.findings, asked.registration, bars)
        report = replace(replace(found, findings=findings).report, bars=findings.bars)
        if not any(bar.kind == "other_registration" for bar in report.bars):
            spent = _cost(found)
            compared = None if against is None else compare_studies(asked, against)
    except UndefinedEstimate:
        nothing = Bar("no_reading", "nothing is sealed: there is no reading to decide on")
        report = replace(report, bars=tuple(bars) or (nothing,))
    findings_of_ci = tuple(ci_findings(study))
    return replace(report, about=facts, findings=findings_of_ci, asked=spent, compared=compared)


def _ask(study: FrozenStudy, progress: Progress) -> list[Bar]:
    """Ask what is left; returns a bar where the run paused."""
    study.root.mkdir(parents=True, exist_ok=True)
    try:
        with exclusive(study.root):
            if study.registration.sequential is not None:
                ask_in_blocks(study, progress)
            else:
                for _ in Windows(study.root, study, progress).each():
                    pass
    except NoKey as error:
        progress(Remark(f"error: {error}"))
        says = f"nothing was asked and nothing is said of the judge: {error.place} is {error.found}"
        return [Bar("no_key", says)]
    except RunPaused as paused:
        progress(Remark(f"error: {paused}"))
        return [Bar("paused", str(paused))]
    return []


def _cost(analysed: Analysed) -> Asked:
    reasons = analysed.by_status()
    calls = sum(reasons.values()) - reasons.get("stopped_by_rule", 0)
    planned, stopped = len(analysed.frozen.plan), analysed.standing
    if stopped is None:
        return Asked(calls, planned, ended=_until(analysed.runs))
    ended = "stopped by the registered rule" if reasons.get("stopped_by_rule") else ""
    items = max((one.items for one in stopped), default=0)
    return Asked(calls, planned, items, len(items_of(analysed.frozen)), ended)


def _until(runs: Any) -> str:
    """Return when the last reply came: a gate that only reads must not look like one that asked."""
    times = [t["last_activity"] for run in runs for t in run.manifest["times"].values()]
    known = [int(time) for time in times if time is not None]
    if not known:
        return ""
    moment = datetime.fromtimestamp(max(known) // 1_000_000_000, UTC)
    return f"the last reply came {moment:%Y-%m-%d %H:%M} UTC"


def _keep(asked: FrozenStudy, report: GateReport, progress: Progress) -> None:
    """Write `results/gate.json`, or tell that nothing can be written there."""
    root = asked.root
    if not root.is_dir():
        return
    text = json.dumps(report.to_dict(), ensure_ascii=False, indent=2, default=str) + "\n"

    def write() -> None:
        (root / RESULTS).mkdir(exist_ok=True)
        replace_whole(root / RESULTS / GATE, lambda part: part.write_text(text, encoding="utf-8"))
        list_results(asked, [GATE], sealed_runs(log_dir(root)))

    if why := unless_read_only(root / RESULTS, write):
        progress(Remark(why))
