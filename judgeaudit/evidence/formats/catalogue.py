"""Which formats this program reads, and telling another format from damage.

* A released format is read by its own frozen lists, whatever today's are.
* A version of the right form whose number is not known was written by another version of this
  program: `OtherVersion`, which says who wrote it and calls nothing altered.
* Anything else in its place is no version at all: `EvidenceError`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from judgeaudit import __version__
from judgeaudit.errors import EvidenceError, OtherVersion
from judgeaudit.evidence.formats import today
from judgeaudit.evidence.formats.spec import LogFormat
from judgeaudit.evidence.formats.v1 import log as v1_log

TODAY: LogFormat = today.LOG
RELEASED: tuple[LogFormat, ...] = (v1_log.LOG,)

JOURNAL, SCHEMA, RUN = "journal", "log", "judgeaudit-run"


def log_formats() -> dict[int, LogFormat]:
    """Return the log formats that are read, by number; a released one is never replaced."""
    return {known.number: known for known in (TODAY, *RELEASED)}


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
