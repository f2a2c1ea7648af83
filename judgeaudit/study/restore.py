"""An input file that was changed after the freeze: put back, or told as a deviation."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from judgeaudit.collect.lock import exclusive
from judgeaudit.collect.past import log_dir
from judgeaudit.design.amendments import Words
from judgeaudit.design.layout import FROZEN
from judgeaudit.evidence import deviations
from judgeaudit.evidence.lock import restore as files
from judgeaudit.evidence.lock.disk import read_lock
from judgeaudit.evidence.lock.restore import Restored
from judgeaudit.evidence.log.runs import sealed_runs
from judgeaudit.study.folders import Folder
from judgeaudit.version import __version__


def restore(folder: Folder) -> tuple[Restored, ...]:
    """Put the input files of a frozen study back as they were frozen; returns what differed.

    An edited file is kept beside as `NAME.edited`. Raises `InputError` for a study that is not
    frozen, `EvidenceError` where the frozen copies are not what the lock says.
    """
    root = Path(folder)
    with exclusive(root):
        return files.restore(root)


def deviate(
    folder: Folder, *, what: str, why: str, effect: str, now: datetime | None = None
) -> dict[str, Any]:
    """Tell a departure from the registration that has happened; it is kept, and reported.

    Nothing that is frozen changes. `now` is when it was told, by default the machine's time.
    """
    root, words = Path(folder), Words(what, why, effect)
    lock = read_lock(root / FROZEN)
    runs = sealed_runs(log_dir(root))
    told = {
        "told_at": (now or datetime.now(UTC)).astimezone(UTC).isoformat(timespec="seconds"),
        "lock_digest": str(lock.digest),
        "sealed_runs": [run.name for run in runs],
        "head": str(runs[-1].digest) if runs else None,
        "writer": __version__,
    }
    with exclusive(root):
        return deviations.deviate(root, words, told)
