"""The files of a frozen folder beside what they say: what is there, and the bytes of its tables.

Known are the lock, its token, the input files that it lists, the two tables, later stages and
amendments with what each superseded. Whatever else lies there is named, and so are links.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from judgeaudit.design.document import Registration
from judgeaudit.design.draft import FROZEN_NAMES
from judgeaudit.design.layout import AMENDMENTS, BODIES, CALLS, LOCK, PLAN, TOKEN
from judgeaudit.design.lock import Lock
from judgeaudit.design.tables import rows_digest
from judgeaudit.errors import JudgeauditError
from judgeaudit.evidence.inventory import file_findings
from judgeaudit.evidence.lock.amendment_files import amendment_paths
from judgeaudit.evidence.lock.disk import read_lock
from judgeaudit.evidence.lock.sources import input_names, read_frozen
from judgeaudit.evidence.strays import beside

_STAGE = re.compile(r"stage-[1-9][0-9]*")
_KEPT = "{}-superseded"


def layout_findings(folder: Path, lock: Lock) -> Iterator[str]:
    """Yield strays and links of the folder in force, and tables whose bytes are not the lock's."""
    known = {LOCK, TOKEN, PLAN, BODIES, *lock.document["content"]["files"]}
    for path in amendment_paths(folder):
        known |= {f"{AMENDMENTS}/{path.name}", f"{AMENDMENTS}/{_KEPT.format(path.stem)}/"}
    stages = [path for path in sorted(folder.glob("stage-*")) if _STAGE.fullmatch(path.name)]
    known |= {f"{path.name}/{name}" for path in stages for name in (LOCK, CALLS, BODIES)}
    yield from map(str, beside(folder, known))
    yield from table_file_findings(folder, lock)


def table_file_findings(folder: Path, lock: Lock) -> Iterator[str]:
    """Yield tables that are not the bytes that were written; a lock of 0.1 names no bytes."""
    for name, promised in (lock.document.get("table_files") or {}).items():
        yield from map(str, file_findings(folder / name, promised))


def superseded_findings(folder: Path) -> Iterator[str]:
    """Yield what is wrong with the folders that amendments kept, each against its own lock."""
    for path in amendment_paths(folder):
        kept = path.with_name(_KEPT.format(path.stem))
        try:
            lock = read_lock(kept)
        except JudgeauditError:
            continue  # the chain of locks tells it
        yield from read_frozen(kept, lock.document)[1]
        known = {LOCK, TOKEN, PLAN, BODIES, *lock.document["content"]["files"]}
        yield from map(str, beside(kept, known))
        yield from table_file_findings(kept, lock)
        for name, part in ((PLAN, "plan"), (BODIES, "bodies")):
            yield from _rows_findings(kept / name, lock.document["content"][part]["sha256"])


def _rows_findings(path: Path, promised: str) -> Iterator[str]:
    try:
        got = rows_digest(pq.read_table(path, partitioning=None))
    except (OSError, ValueError, pa.ArrowException) as error:
        yield f"{path}: cannot be read: {' '.join(str(error).split())}"
        return
    if got != promised:
        yield f"{path}: its rows have digest {got}, but the lock beside it has {promised}"


def input_findings(root: Path, registration: Registration) -> Iterator[str]:
    """Yield input files that are gone or only links; their frozen copies are checked apart."""
    for role, name in input_names(registration).items():
        path = root / name
        if path.is_symlink():
            yield f"{path}: link: its bytes are kept elsewhere"
        elif not path.is_file():
            remedy = "`judgeaudit prereg restore` puts it back"
            yield f"{path}: missing; frozen/{FROZEN_NAMES[role]} has what it was, {remedy}"
