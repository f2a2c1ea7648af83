"""A study's amendments for its reports, each with what had been seen when it was made.

These are the answers of runs that began under a lock before the amendment's; by the clock on the
wall, those that had been received by then. Those of the study's gate runs count with its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from judgeaudit.collect.past import log_dir
from judgeaudit.design.amendments import Amendment
from judgeaudit.design.document import Registration
from judgeaudit.design.frozen import FrozenStudy
from judgeaudit.design.layout import FROZEN
from judgeaudit.evidence.lock.amendment_files import chain
from judgeaudit.evidence.lock.disk import read_lock
from judgeaudit.evidence.lock.files import superseded_studies
from judgeaudit.evidence.lock.gate_run import home_of, run_folders
from judgeaudit.evidence.log.load import load_attempts
from judgeaudit.evidence.log.records import PREFLIGHT
from judgeaudit.evidence.log.runs import sealed_runs
from judgeaudit.model import JSON
from judgeaudit.verdict.amended import Amended


def amendments_of(frozen: FrozenStudy) -> tuple[Amendment, ...]:
    """Return the amendments from the first freeze to the lock in force, in order."""
    folder = home_of(frozen.root) / FROZEN
    _, documents = chain(folder, read_lock(folder))
    return tuple(Amendment(one, _seen(frozen, one)) for one in documents)


def superseded_of(frozen: FrozenStudy) -> tuple[Amended, ...]:
    """Return the amendments with the registration that each superseded, in order."""
    found = amendments_of(frozen)
    if not found:
        return ()
    earlier = superseded_studies(home_of(frozen.root))
    seed = frozen.registration.schedule.seed  # a gate run draws its order by a seed of its own
    return tuple(
        Amended(one, with_seed(study.registration, seed))
        for one, (study, _) in zip(found, earlier, strict=True)
    )


def with_seed(registration: Registration, seed: int) -> Registration:
    """Return a registration whose schedule has another seed."""
    schedule = registration.schedule.model_copy(update={"seed": seed})
    return registration.model_copy(update={"schedule": schedule})


def _seen(frozen: FrozenStudy, document: Mapping[str, JSON]) -> int:
    home = home_of(frozen.root)
    locks = list(map(str, frozen.locks))
    earlier = locks[: locks.index(str(document["superseded_lock"])) + 1]
    until = None
    if frozen.registration.schedule.clock == "utc":
        # An amendment's time is kept in whole seconds: its own second counts as before it.
        until = datetime.fromisoformat(str(document["amended_at"])) + timedelta(seconds=1)
    return sum(_answers(log_dir(root), earlier, until) for root in [home, *run_folders(home)])


def _answers(log: Path, locks: Sequence[str], until: datetime | None) -> int:
    """Return how many planned calls were answered in runs under these locks, before a time."""
    runs = [run for run in sealed_runs(log) if run.manifest["lock_digest"] in locks]
    if until is None or not runs:
        return sum(run.manifest["ledger"]["calls"]["response"] for run in runs)
    table = load_attempts(log, ["outcome", "received_at", "condition", "window"])
    windows = pa.array([run.manifest["window"] for run in runs], pa.string())
    planned = pc.and_(
        pc.not_equal(table["condition"], PREFLIGHT), pc.is_in(table["window"], windows)
    )
    answered = table.filter(pc.and_(planned, pc.equal(table["outcome"], "ok")))
    times = answered["received_at"].cast("int64")
    return int(pc.sum(pc.less(times, int(until.timestamp() * 1e9))).as_py() or 0)
