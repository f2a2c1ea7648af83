"""Closing a window that a registered rule says not to ask: sealed, every call with its reason.

Nothing is sent. The run is opened and finished in one step, so that the log still holds one sealed
run a planned window and one reading a planned call.
"""

from __future__ import annotations

import os
import socket
from typing import Any

from judgeaudit.collect import past
from judgeaudit.collect.clock import RunClock
from judgeaudit.collect.collector import earliest_of, window_of
from judgeaudit.collect.lock import exclusive
from judgeaudit.design.frozen import FrozenStudy
from judgeaudit.errors import GuardError
from judgeaudit.evidence.log import runs
from judgeaudit.evidence.log.reader import read_journal
from judgeaudit.evidence.log.records import Opening
from judgeaudit.evidence.log.seal import seal_run
from judgeaudit.evidence.log.standard import Derive
from judgeaudit.model import Reason
from judgeaudit.version import __version__


def close_unasked(
    study: FrozenStudy, window_id: str, *, clock: RunClock, derive: Derive
) -> dict[str, Any]:
    """Seal a window of which nothing was asked, its calls `stopped_by_rule`; returns the manifest.

    Raises `GuardError` for a window that had begun: what was asked is finished, not closed.
    """
    with exclusive(study.root):
        window = window_of(study, window_id)
        log, lock = past.log_dir(study.root), str(study.lock_digest)
        calls = [call for call in study.plan if call.window == window.id]
        path = runs.journal_path(log, window.id)
        if path.exists():
            state = read_journal(path).state
            if state.calls:
                raise GuardError(f"window {window.id}: has begun; finish it")
            if state.sealed:
                return seal_run(log, window.id, calls, lock, derive)
        if clock.virtual and (earliest := earliest_of(study, window)) is not None:
            clock.advance_to(earliest)
        at = clock.now_ns()
        opening = Opening(
            run=window.id,
            window=window.id,
            stage=window.stage,
            lock_digest=lock,
            previous_manifest=None,
            tool_version=__version__,
            host=socket.gethostname(),
            pid=os.getpid(),
            clock="virtual" if clock.virtual else "utc",
            opened_at=at,
        )
        with runs.start(log, opening, calls) as journal:
            journal.seal(at, {call.endpoint: Reason.STOPPED_BY_RULE for call in calls})
        return seal_run(log, window.id, calls, lock, derive)
