"""Which formats this program reads, and telling another format from damage.

* A released format is read by its own frozen lists, whatever today's are.
* A version of the right form whose number is not known was written by another version of this
  program: `OtherVersion`, which says who wrote it and calls nothing altered.
* Anything else in its place is no version at all: `EvidenceError`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from judgeaudit.design import tables
from judgeaudit.design.lock import Lock
from judgeaudit.design.tables import FrozenTables
from judgeaudit.errors import EvidenceError, OtherVersion
from judgeaudit.evidence.formats import today
from judgeaudit.evidence.formats.spec import LogFormat
from judgeaudit.evidence.formats.v1 import frozen as v1_frozen
from judgeaudit.evidence.formats.v1 import log as v1_log
from judgeaudit.model import JSON
from judgeaudit.version import __version__

TODAY: LogFormat = today.LOG
RELEASED: tuple[LogFormat, ...] = (v1_log.LOG,)

TABLES_TODAY: FrozenTables = tables.TODAY
TABLES_RELEASED: tuple[FrozenTables, ...] = (v1_frozen.TABLES,)

JOURNAL, SCHEMA, RUN = "journal", "log", "judgeaudit-run"
LOCK, STAGE_LOCK = "judgeaudit/lock", "judgeaudit/stage-lock"


def log_formats() -> dict[int, LogFormat]:
    """Return the log formats that are read, by number; a released one is never replaced."""
    return {known.number: known for known in (TODAY, *RELEASED)}


def frozen_formats() -> dict[int, FrozenTables]:
    """Return the formats of frozen tables that are read, by number."""
    return {known.number: known for known in (TABLES_TODAY, *TABLES_RELEASED)}


def frozen_number(lock: Mapping[str, JSON], kind: str, source: object) -> int:
    """Return the number of a lock's format; raises as `log_format` does."""
    writer = (lock.get("beside") or {}).get("code_version")
    return number_of(lock.get("schema"), kind, frozen_formats(), source, writer)


def tables_of(lock: Lock) -> FrozenTables:
    """Return the tables of a lock that was read."""
    return frozen_formats()[int(lock.document["schema"].rpartition("/")[2])]


def log_format(said: object, kind: str, source: object, writer: object = None) -> LogFormat:
    """Return the format that a record, part or manifest says it has, as `KIND/NUMBER`.

    Raises `OtherVersion` for a number that is not known, `EvidenceError` for no version of `kind`.
    """
    known = log_formats()
    return known[number_of(said, kind, known, source, writer)]


def number_of(
    said: object, kind: str, known: Iterable[int], source: object, writer: object = None
) -> int:
    """Return the number in `KIND/NUMBER` if it is one of `known`; raises as `log_format` does."""
    form = rf"{re.escape(kind)}/([1-9][0-9]{{0,8}})"
    found = re.fullmatch(form, said) if isinstance(said, str) else None
    if found is None:
        raise EvidenceError(f"{source}: {said!r} is no version; expected {kind}/ and a number")
    number, numbers = int(found[1]), sorted(known)
    if number not in numbers:
        raise OtherVersion(source, str(said), writer, __version__, [f"{kind}/{n}" for n in numbers])
    return number
