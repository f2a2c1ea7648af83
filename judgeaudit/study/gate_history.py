"""What was asked before, and what CI does with the gate: either can mean asking for a pass."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path

from judgeaudit.collect.past import log_dir
from judgeaudit.design.document import Registration
from judgeaudit.design.frozen import FrozenStudy
from judgeaudit.design.reasking import registration_findings, workflow_findings
from judgeaudit.evidence.lock.files import superseded_studies
from judgeaudit.evidence.lock.gate_run import (
    home_of,
    is_run,
    load_run,
    of_run,
    read_run,
    run_folders,
)
from judgeaudit.evidence.log.runs import sealed_runs
from judgeaudit.study.amendments import with_seed
from judgeaudit.study.sealed import planned_table, study_table
from judgeaudit.study.sound import statistics
from judgeaudit.study.standing import baseline_of, items_of
from judgeaudit.verdict import evaluate
from judgeaudit.verdict.blockers import Bar
from judgeaudit.verdict.declared import design_of
from judgeaudit.verdict.registered import LogFacts


def asked_again(run: FrozenStudy, outcome: Callable[[FrozenStudy], str]) -> Iterator[Bar]:
    """Yield a bar where a gate run's commit was asked before on its day and did not pass.

    `outcome` says by what is sealed how an earlier run ended. On another day the judge may be
    another one: a nightly gate asks the same commit anew.
    """
    if not is_run(run.root):
        return
    own = read_run(run.root)
    if own["commit"] is None:
        return
    begun = _place(run.root)
    for folder in run_folders(home_of(run.root)):
        other = read_run(folder)
        same = all(own.get(name) == other.get(name) for name in ("commit", "day"))
        # An amendment makes no new commit: runs under an earlier lock were asked before, too.
        if not same or other["lock_digest"] not in run.locks or _place(folder) >= begun:
            continue
        if (ended := outcome(load_run(folder))) != "pass":
            says = (
                f"commit {own['commit'][:12]} was asked before on {own['day']} under the key "
                f"{other['key']!r} and ended {ended}; a new key asks until it passes: go on with "
                "that run"
            )
            yield Bar("asked_again", says)


def _place(folder: Path) -> tuple[int, str]:
    """Return a run's place among the runs: when it began, by name where the clock is no help."""
    return _begun(folder) or 0, folder.resolve().name


def _begun(folder: Path) -> int | None:
    """Return when a run's first sealed block was opened; None where nothing is sealed."""
    runs = sealed_runs(log_dir(folder))
    return min((int(run.manifest["opened_at"]) for run in runs), default=None)


def loosened(frozen: FrozenStudy) -> Iterator[Bar]:
    """Yield a bar for each gate run that failed under an earlier lock and would not by this one.

    An amendment that was made before the run began loosened nothing that had failed.
    """
    home = home_of(frozen.root)
    if len(frozen.locks) < 2 or not run_folders(home):
        return
    earlier = {str(s.lock_digest): (s, at) for s, at in superseded_studies(home)}
    for folder in run_folders(home):
        facts = read_run(folder)
        if str(facts["lock_digest"]) not in earlier:
            continue
        study, amended_at = earlier[str(facts["lock_digest"])]
        run = of_run(study, str(facts["key"]))
        if (begun := _begun(run.root)) is None or _before(amended_at, begun, frozen):
            continue
        yield from _undone(run, frozen, str(facts["key"]))


def _before(amended_at: str, begun: int, frozen: FrozenStudy) -> bool:
    """Return whether an amendment was surely made before a run began (nanoseconds).

    It is dated in whole seconds: one of the second in which the run began may have come after it.
    """
    real = frozen.registration.schedule.clock == "utc"
    return real and datetime.fromisoformat(amended_at).timestamp() < begun // 1_000_000_000


def _undone(run: FrozenStudy, frozen: FrozenStudy, key: str) -> Iterator[Bar]:
    """Yield what failed in a run and does not fail on the same readings by the lock in force."""
    now = with_seed(frozen.registration, run.registration.schedule.seed)
    was, is_ = (_outcomes(registration, run) for registration in (run.registration, now))
    for gate, outcome in was.items():
        if outcome == "fail" and is_.get(gate) != "fail":
            says = (
                f"gate {gate!r} failed in the run {key!r} under an earlier lock; on the same "
                f"readings it is {is_.get(gate, 'not registered')} by the amended one"
            )
            yield Bar("loosened", says, gates=(gate,) if gate in is_ else None)


def _outcomes(registration: Registration, run: FrozenStudy) -> dict[str, str]:
    facts = LogFacts(cap=len(items_of(run)), baseline=baseline_of(run))
    sequential = registration.sequential is not None
    table = planned_table(run) if sequential else study_table(run)
    found = evaluate(registration, table, None, None, facts, design_of(run.protocol))
    return {verdict.id: verdict.outcome.value for verdict in found.verdicts}


def ci_findings(study: FrozenStudy) -> list[str]:
    """Return what in registration and workflows asks until it passes."""
    found = list(registration_findings(study.registration, statistics()))
    for name, text in _workflows(study.root):
        found += workflow_findings(name, text)
    return found


def _workflows(root: Path) -> Iterator[tuple[str, str]]:
    """Yield the workflows of the checkout that the study lies in."""
    home = next(
        (p for p in [root.resolve(), *root.resolve().parents] if (p / ".git").exists()), None
    )
    if home is None:
        return
    for path in sorted((home / ".github" / "workflows").glob("*.y*ml")):
        try:
            yield str(path.relative_to(home)), path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            continue
