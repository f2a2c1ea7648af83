"""A study's amendments for its reports, each with what had been seen when it was made.

By the clock on the wall these are the answers that had been received by then. On a virtual clock
they are the answers of runs that began under a lock before the amendment's.
"""

from __future__ import annotations

from datetime import datetime

import pyarrow.compute as pc

from judgeaudit.collect.past import log_dir
from judgeaudit.design.amendments import Amendment
from judgeaudit.design.frozen import FrozenStudy
from judgeaudit.design.layout import FROZEN
from judgeaudit.evidence.lock.amendment_files import chain
from judgeaudit.evidence.lock.disk import read_lock
from judgeaudit.evidence.lock.gate_run import home_of
from judgeaudit.evidence.log.load import load_attempts
from judgeaudit.evidence.log.runs import sealed_runs
from judgeaudit.model import JSON


def amendments_of(frozen: FrozenStudy) -> tuple[Amendment, ...]:
    """Return the amendments from the first freeze to the lock in force, in order."""
    folder = home_of(frozen.root) / FROZEN
    _, documents = chain(folder, read_lock(folder))
    return tuple(Amendment(one, _seen(frozen, one)) for one in documents)


def _seen(frozen: FrozenStudy, document: dict[str, JSON]) -> str:
    virtual = frozen.registration.schedule.clock == "virtual"
    count = _under_earlier_locks(frozen, document) if virtual else _by_time(frozen, document)
    return "no answer" if count == 0 else f"{count} answer{'' if count == 1 else 's'}"


def _by_time(frozen: FrozenStudy, document: dict[str, JSON]) -> int:
    moment = datetime.fromisoformat(str(document["amended_at"]))
    table = load_attempts(log_dir(frozen.root), ["outcome", "received_at"])
    times = table.filter(pc.equal(table["outcome"], "ok"))["received_at"].cast("int64")
    return int(pc.sum(pc.less_equal(times, int(moment.timestamp() * 1e9))).as_py() or 0)


def _under_earlier_locks(frozen: FrozenStudy, document: dict[str, JSON]) -> int:
    locks = list(map(str, frozen.locks))
    earlier = locks[: locks.index(str(document["superseded_lock"])) + 1]
    runs = [r for r in sealed_runs(log_dir(frozen.root)) if r.manifest["lock_digest"] in earlier]
    return sum(run.manifest["ledger"]["calls"]["response"] for run in runs)
