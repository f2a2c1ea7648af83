"""A study's amendments for its reports, each with what had been seen when it was made.

By the clock on the wall these are the answers that had been received by then. On a virtual clock
they are the answers of runs that began under a lock before the amendment's. Those of the study's
gate runs count with its own.
"""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

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


def _seen(frozen: FrozenStudy, document: dict[str, JSON]) -> int:
    home = home_of(frozen.root)
    virtual = frozen.registration.schedule.clock == "virtual"
    count = _under_earlier_locks if virtual else _by_time
    return sum(count(frozen, log_dir(root), document) for root in [home, *run_folders(home)])


def _by_time(frozen: FrozenStudy, log: Path, document: dict[str, JSON]) -> int:
    moment = datetime.fromisoformat(str(document["amended_at"]))
    table = load_attempts(log, ["outcome", "received_at", "condition"])
    planned = pc.not_equal(table["condition"], PREFLIGHT)
    answered = pc.and_(planned, pc.equal(table["outcome"], "ok"))
    times = table.filter(answered)["received_at"].cast("int64")
    return int(pc.sum(pc.less_equal(times, int(moment.timestamp() * 1e9))).as_py() or 0)


def _under_earlier_locks(frozen: FrozenStudy, log: Path, document: dict[str, JSON]) -> int:
    locks = list(map(str, frozen.locks))
    earlier = locks[: locks.index(str(document["superseded_lock"])) + 1]
    runs = [r for r in sealed_runs(log) if r.manifest["lock_digest"] in earlier]
    return sum(run.manifest["ledger"]["calls"]["response"] for run in runs)
