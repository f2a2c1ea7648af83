"""Single calls out of a log, sealed or not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from judgeaudit.collect import past
from judgeaudit.design.frozen import FrozenStudy
from judgeaudit.errors import EvidenceError, InputError
from judgeaudit.evidence.log import runs
from judgeaudit.evidence.log.reader import AttemptIndex, attempts_by_call, read_journal
from judgeaudit.evidence.log.rows import attempt_of, rows_of
from judgeaudit.evidence.log.schema import ATTEMPTS, READINGS
from judgeaudit.instrument.provider import Provider
from judgeaudit.model import Attempt, PlannedCall, Reply

_READING_KEYS = [
    "call_id",
    "endpoint",
    "item",
    "arm",
    "window",
    "reason",
    "detail",
    "attempt",
    "status",
]


def find_call(study: FrozenStudy, name: str) -> PlannedCall:
    """Return the call with this id, unique beginning of an id, or plan index.

    Raises `InputError` where there is none, or more than one.
    """
    if name in study.calls:
        return study.calls[name]
    if name.isdecimal() and int(name) < len(study.plan):
        return study.plan[int(name)]
    found = [call for call in study.plan if name and call.call_id.startswith(name)]
    if len(found) == 1:
        return found[0]
    what = f"{len(found)} calls begin with {name!r}" if found else f"no call {name!r}"
    raise InputError("plan", found=what, remedy=f"give an id or 0 to {len(study.plan) - 1}")


def attempts_of(study: FrozenStudy, call: PlannedCall) -> list[Attempt]:
    """Return a call's attempts, from its sealed run or from the journal."""
    log = past.log_dir(study.root)
    folder = runs.sealed_path(log, call.window)
    if folder.exists():
        return sealed_attempts(folder, call.call_id)
    path = runs.journal_path(log, call.window)
    if not path.exists():
        return []
    index = AttemptIndex()
    read_journal(path, index.note)
    return [
        attempt
        for _, group in attempts_by_call(path, _only(index, call), [call])
        for attempt in group
    ]


def _only(index: AttemptIndex, call: PlannedCall) -> AttemptIndex:
    return AttemptIndex(index.log, calls={call.call_id: index.calls.get(call.call_id, [])})


def sealed_attempts(folder: Path, call_id: str) -> list[Attempt]:
    """Return a call's attempts from a sealed run."""
    table = _part(folder / ATTEMPTS, [("call_id", "=", call_id)])
    return [attempt_of(row) for batch in table.to_batches() for row in rows_of(batch)]


def sealed_invalid(folder: Path) -> list[dict[str, Any]]:
    """Return the keys, reasons and details of a sealed run's invalid readings."""
    table = _part(folder / READINGS, [("status", "=", "invalid")], _READING_KEYS)
    rows: list[dict[str, Any]] = table.to_pylist()
    return rows


def _part(
    path: Path, filters: list[tuple[str, str, str]], columns: list[str] | None = None
) -> pa.Table:
    """Return rows of a sealed file; raises `EvidenceError` where it is no Parquet any more."""
    try:
        return pq.read_table(path, columns=columns, filters=filters)
    except FileNotFoundError as error:  # Arrow's has the path for its only words
        raise EvidenceError(f"{path}: missing; `judgeaudit verify` tells what else is") from error
    except (OSError, pa.ArrowException) as error:
        told = "`judgeaudit verify` tells what was changed"
        raise EvidenceError(f"{path}: cannot be read: {error}; {told}") from error


def reply_text(body: bytes | None) -> str | None:
    """Return a reply's bytes as text for people."""
    return None if body is None else body.decode("utf-8", "replace")


def answer_text(provider: Provider, body: bytes | None, width: int) -> str | None:
    """Return what a judge answered, cut to `width` characters; the bytes where that is unread."""
    if body is None:
        return None
    reply = provider.read(body)
    text = reply.refusal or reply.text if isinstance(reply, Reply) else reply_text(body)
    return text if text is None or len(text) <= width else text[:width] + "…"
