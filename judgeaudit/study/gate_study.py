"""The gate of a study: ask what is left (in blocks where it is sequential), then decide.

A paused run, a window that is not sealed and evidence of another registration are bars of the
report, not crashes: CI gets the same JUnit file and the same exit code 3 as for any other lack of
evidence. A window that is due later raises `TooEarly`, which is 3 with the earliest time.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judgeaudit.errors import InputError, RunPaused, UndefinedEstimate
from judgeaudit.study.progress import Progress, Remark, silent
from judgeaudit.study.results import GATE

if TYPE_CHECKING:
    from judgeaudit.design.frozen import FrozenStudy
    from judgeaudit.verdict.blockers import Bar
    from judgeaudit.verdict.gate_report import Asked, GateReport
    from judgeaudit.verdict.verdicts import Verdict


@dataclass(frozen=True, slots=True)
class Wish:
    """What a caller may choose: the run, whether to ask, a baseline; no threshold."""

    run_key: str | None = None
    read_only: bool = False
    against: Path | None = None


def gate_study(root: Path, wish: Wish, progress: Progress = silent) -> GateReport:
    """Run or read a study's gate, write `results/gate.json`, return the report."""
    from judgeaudit.evidence.lock.files import load_frozen

    study = load_frozen(root)
    commit = commit_of(root)
    key = wish.run_key or (commit if study.registration.sequential is not None else None)
    if key is None and study.registration.sequential is not None:
        raise InputError(
            root, "--run-key", "no commit to draw the order from", "give --run-key, e.g. the commit"
        )
    asked = study
    if key is not None:
        from judgeaudit.evidence.lock import gate_run

        asked = gate_run.of_run(study, key)
        if not wish.read_only or (asked.root / gate_run.RUN).exists():
            gate_run.begin(asked, key, commit, today())
    report = _decide(study, asked, wish, _facts(study, key, commit), progress)
    _keep(asked.root, report)
    return report


def commit_of(root: Path) -> str | None:
    """Return the commit that is gated: GitHub's word for it, or that of the checkout."""
    from judgeaudit.evidence.lock.environment import git_state

    if sha := os.environ.get("GITHUB_SHA"):
        return sha
    found = git_state(root)
    return None if found is None else str(found["commit"])


def today() -> str:
    """Return the day, UTC."""
    return datetime.now(UTC).date().isoformat()


def _facts(study: FrozenStudy, key: str | None, commit: str | None) -> dict[str, Any]:
    return {
        "lock_digest": str(study.lock_digest),
        "run_key": key,
        "commit": commit,
        "day": today(),
        "clock": study.registration.schedule.clock,
        "simulated": [s.id for s in study.registration.endpoints if s.is_simulated],
    }


def _decide(
    study: FrozenStudy,
    asked: FrozenStudy,
    wish: Wish,
    facts: dict[str, Any],
    progress: Progress,
) -> GateReport:
    from judgeaudit.study.gate_history import asked_again, ci_findings
    from judgeaudit.verdict.gate_report import GateReport

    bars = [] if wish.read_only else _ask(asked, progress)
    bars += _of_another(asked)
    verdicts: list[Verdict] = []
    spent: Asked | None = None
    compared = None
    if not any(bar.kind == "other_registration" for bar in bars):
        try:
            found, more, spent = _read(asked)
            verdicts, bars = found, [*bars, *more]
            compared = _compared(asked, wish.against)
        except UndefinedEstimate:
            bars.append(_bar("no_reading", "nothing is sealed: there is no reading to decide on"))
    bars += asked_again(study, asked, facts)
    return GateReport(
        study=study.registration.study.id,
        verdicts=tuple(verdicts),
        bars=tuple(bars),
        findings=tuple(ci_findings(study)),
        asked=spent,
        compared=compared,
        about=facts,
    )


def _bar(kind: str, says: str) -> Bar:
    from judgeaudit.verdict.blockers import Bar

    return Bar(kind, says)


def _ask(study: FrozenStudy, progress: Progress) -> list[Bar]:
    """Ask what is left; returns a bar where the run paused."""
    from judgeaudit.collect.lock import exclusive
    from judgeaudit.study.gate_blocks import Blocks
    from judgeaudit.study.windows import Windows

    study.root.mkdir(parents=True, exist_ok=True)
    try:
        with exclusive(study.root):
            if study.registration.sequential is not None:
                Blocks(study, progress).run()
            else:
                for _ in Windows(study.root, study, progress).each():
                    pass
    except RunPaused as paused:
        progress(Remark(f"error: {paused}"))
        return [_bar("paused", str(paused))]
    return []


def _of_another(study: FrozenStudy) -> list[Bar]:
    """Return a bar for each sealed run that was made under a registration not in force."""
    from judgeaudit.collect.past import log_dir
    from judgeaudit.evidence.log.runs import sealed_runs

    known = {str(lock) for lock in study.locks}
    strangers = [
        run for run in sealed_runs(log_dir(study.root)) if run.manifest["lock_digest"] not in known
    ]
    return [
        _bar(
            "other_registration",
            f"run {run.name} was made under {run.manifest['lock_digest']}, the registration in "
            f"force is {study.lock_digest}",
        )
        for run in strangers
    ]


def _read(study: FrozenStudy) -> tuple[list[Verdict], list[Bar], Asked]:
    """Return verdicts, bars and cost from what is sealed; raises `UndefinedEstimate`."""
    from judgeaudit.study.gate_blocks import Blocks, planned_table
    from judgeaudit.study.results import analyse, sealed_runs_of
    from judgeaudit.verdict.blockers import bars
    from judgeaudit.verdict.stopping import verdicts_of

    runs = sealed_runs_of(study)
    if study.registration.sequential is None:
        analysed = analyse(study)
        verdicts, table, waiting = (
            list(analysed.findings.verdicts), analysed.table, analysed.waiting,
        )  # fmt: skip
        stopped = None
    else:
        blocks = Blocks(study)
        found = blocks.progress()
        verdicts = verdicts_of(found, study.registration.pilot is not None)
        table, waiting, stopped = planned_table(study), blocks.waiting(), found
    more = list(bars(study.registration, table))
    if waiting:
        more.append(_bar("waiting", f"{len(waiting)} windows are not sealed: {', '.join(waiting)}"))
    return verdicts, more, _cost(study, runs, stopped)


def _cost(study: FrozenStudy, runs: Any, stopped: Any) -> Asked:
    from judgeaudit.study.gate_blocks import items_of
    from judgeaudit.verdict.gate_report import Asked

    reasons: dict[str, int] = {}
    for run in runs:
        for name, count in run.manifest["readings"]["by_status"].items():
            reasons[name] = reasons.get(name, 0) + count
    calls = sum(reasons.values()) - reasons.get("stopped_by_rule", 0)
    if stopped is None:
        return Asked(calls, len(study.plan), ended=_until(runs))
    ended = "stopped by the registered rule" if reasons.get("stopped_by_rule") else ""
    items = max((one.items for one in stopped), default=0)
    return Asked(calls, len(study.plan), items, len(items_of(study)), ended)


def _until(runs: Any) -> str:
    """Return when the last reply came: a gate that only reads must not look like one that asked."""
    times = [t["last_activity"] for run in runs for t in run.manifest["times"].values()]
    known = [int(time) for time in times if time is not None]
    if not known:
        return ""
    moment = datetime.fromtimestamp(max(known) // 1_000_000_000, UTC)
    return f"the last reply came {moment:%Y-%m-%d %H:%M} UTC"


def _compared(study: FrozenStudy, against: Path | None) -> dict[str, Any] | None:
    if against is None:
        return None
    from judgeaudit.study.gate_against import compare_studies

    return compare_studies(study, against)


def _keep(root: Path, report: GateReport) -> None:
    from judgeaudit.study.results import RESULTS
    from judgeaudit.tables.write import replace_whole

    if not root.is_dir():
        return
    folder = root / RESULTS
    folder.mkdir(exist_ok=True)
    text = json.dumps(report.to_dict(), ensure_ascii=False, indent=2, default=str)
    replace_whole(folder / GATE, lambda part: part.write_text(text + "\n", encoding="utf-8"))
