"""One executor a study, on this machine: a file lock, and a note of who holds it."""

from __future__ import annotations

import json
import os
import shlex
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from judgeaudit.errors import ExecutorBusy
from judgeaudit.evidence.log.files import sweep

LOCK_NAME = ".executor.lock"
HOLDER_NAME = ".executor.json"


@contextmanager
def exclusive(root: Path) -> Iterator[None]:
    """Hold the study in `root`; raises `ExecutorBusy` at once where another holds it.

    A thread that holds it already may hold it again. The operating system lets go of the lock when
    its holder ends, however it ends; the note beside it only serves the message.
    """
    # One lock object for each path and thread is what makes holding it twice possible.
    lock = FileLock(root.resolve() / LOCK_NAME, is_singleton=True)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        raise ExecutorBusy(_busy(root)) from None
    outermost = lock.lock_counter == 1
    try:
        if outermost:
            _write(root / HOLDER_NAME)
        yield
    finally:
        if outermost:
            (root / HOLDER_NAME).unlink(missing_ok=True)
        lock.release()


def _write(path: Path) -> None:
    holder = {
        "pid": os.getpid(),
        "host": socket.gethostname(),
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
        "command": shlex.join([Path(sys.argv[0]).name, *sys.argv[1:]]),
    }
    sweep(path)
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    with temporary.open("x", encoding="utf-8") as stream:  # never through a link
        stream.write(json.dumps(holder))
    os.replace(temporary, path)


def _busy(root: Path) -> str:
    holder = _read(root / HOLDER_NAME)
    who = (
        f"process {holder['pid']} on {holder['host']}, started {holder['started']}: "
        f"`{holder['command']}`"
        if {"pid", "host", "started", "command"} <= holder.keys()
        else "another process, which has just started"
    )
    return f"{root}: held by {who}; nothing was sent"


def _read(path: Path) -> dict[str, Any]:
    try:
        holder = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}
    return holder if isinstance(holder, dict) else {}
