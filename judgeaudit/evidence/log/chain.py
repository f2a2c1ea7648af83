r"""How lines and rows are chained, and what a broken chain means.

A journal line is `{"digest":D,"record":R}` and a newline. R is the RFC 8785 form of the record,
D the SHA-256 of exactly R's bytes, so that reading needs no second serialization and the line as
a whole is canonical JSON too. R holds `seq` (0, 1, 2, ...), `previous` (the D of the line before;
null for the first) and `kind`. D stands in its own line, not only in the next, so that damage is
named at the line that has it, also at the last one. These checks follow, in this order:

* a last line without a newline is *torn*: writing it was interrupted, so nothing relied on it
  (a reservation counts once its record is durable). It is dropped and reported. No other line may
  be incomplete;
* `frame`: the bytes around R are the fixed ones, else the line was altered;
* `digest`: R's bytes hash to D, else the record was altered;
* `previous` and `seq`: each is what the line before promises, else a line is missing, doubled or
  moved.

A Parquet row's digest covers the previous row's digest and every column but the two digest
columns, by value and not by file bytes: integers beyond 2^53 as decimal strings, floats as their
shortest decimal string, bytes as their own SHA-256, the rest as JSON. So a rewritten file with
equal rows keeps its row digests, whatever its writer. The first row's previous digest is
`genesis`, which names run and part: a part of another run is refused at its first row.

Neither chain proves that nobody rewrote *everything*; only a copy of the last manifest's digest
kept elsewhere does.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from judgeaudit.canonical import Digest, canonical_bytes, digest, record_bytes
from judgeaudit.errors import EvidenceError
from judgeaudit.evidence.log.records import Kind

_HEAD, _MIDDLE, _TAIL = b'{"digest":"', b'","record":', b"}\n"
_DIGEST_END = len(_HEAD) + len("sha256:") + 64
_RECORD_START = _DIGEST_END + len(_MIDDLE)
SAFE_INTEGER = 2**53 - 1


class Broken(Exception):
    """A line or a record that breaks a rule; whoever knows file and line turns it into an error."""


def frame(record: bytes) -> tuple[bytes, Digest]:
    """Return the line that carries a record's bytes, and the record's digest."""
    found = digest(record)
    return b"".join((_HEAD, found.encode("ascii"), _MIDDLE, record, _TAIL)), found


def unframe(line: bytes) -> tuple[bytes, Digest]:
    """Return a line's record bytes and digest; raises `Broken` if they do not fit."""
    record = line[_RECORD_START : -len(_TAIL)]
    expected, found = frame(record)
    if line != expected:
        said = line[len(_HEAD) : _DIGEST_END].decode("ascii", "replace")
        if frame_of(line) != (_HEAD, _MIDDLE, _TAIL):
            raise Broken("the line is not of the form of a journal line")
        raise Broken(f"record altered: expected {said}, got {found}")
    return record, found


def frame_of(line: bytes) -> tuple[bytes, bytes, bytes]:
    """Return the three fixed pieces of a line as they stand in it."""
    return line[: len(_HEAD)], line[_DIGEST_END:_RECORD_START], line[-len(_TAIL) :]


@dataclass(frozen=True, slots=True)
class Link:
    """A record, the line that carries it, and its digest."""

    record: dict[str, Any]
    line: bytes
    digest: Digest


@dataclass(slots=True)
class Chain:
    """Where a chain stands: how many records it has and the digest of the last."""

    length: int = 0
    head: Digest | None = None

    def extend(self, kind: Kind, payload: Mapping[str, Any]) -> Link:
        """Return the next record and its line, without moving on to it."""
        record = {**payload, "kind": kind.value, "seq": self.length, "previous": self.head}
        # Only events are free in form; the rest is built without floats by `records`.
        serialize = canonical_bytes if kind is Kind.EVENT else record_bytes
        return Link(record, *frame(serialize(record)))

    def move_to(self, link: Link) -> None:
        """Move on to a link that `extend` made."""
        self.length, self.head = self.length + 1, link.digest

    def accept(self, line: bytes) -> dict[str, Any]:
        """Return a line's record and move on to it; raises `Broken`."""
        raw, found = unframe(line)
        record = json.loads(raw)
        if not isinstance(record, dict):
            raise Broken("the record is not an object")
        if record.get("previous") != self.head:
            raise Broken(
                f"chain broken: expected previous {self.head}, got {record.get('previous')}"
            )
        if record.get("seq") != self.length:
            raise Broken(f"chain broken: expected seq {self.length}, got {record.get('seq')}")
        self.length, self.head = self.length + 1, found
        return record


@dataclass(frozen=True, slots=True)
class Entry:
    """One record where it stands: its line's number (from 1) and its first byte's offset."""

    number: int
    offset: int
    record: dict[str, Any]


class ChainReader:
    """Iterates over the entries of journal lines, checking the chain as it goes.

    Afterwards `chain` is where it ended, `length` the bytes of whole lines and `torn` the bytes of
    a dropped last line. Iterating raises `EvidenceError`, which names source, line and digests.
    """

    def __init__(self, lines: Iterable[bytes], source: object) -> None:
        self.lines, self.source = lines, source
        self.chain = Chain()
        self.length = self.torn = 0

    def __iter__(self) -> Iterator[Entry]:
        for number, line in enumerate(self.lines, 1):
            if not line.endswith(b"\n"):
                self.torn = len(line)
                return
            try:
                record = self.chain.accept(line)
            except (Broken, ValueError) as error:
                raise EvidenceError(
                    f"{self.source}: line {number}: {error}; {whole_part(number - 1, self.length)}"
                ) from error
            offset, self.length = self.length, self.length + len(line)
            yield Entry(number, offset, record)


def whole_part(lines: int, length: int) -> str:
    """Return how much of a broken journal is whole, and how to go on."""
    return (
        f"the {lines} line{'' if lines == 1 else 's'} before it ({length} bytes) are whole, and "
        "what is sealed stays usable; to go on, keep a copy of this file, cut it after them "
        "(`truncate -s`), run again, and report the deviation"
    )


def genesis(run: str, part: str, lock_digest: str) -> Digest:
    """Return what the first row of a part names as its previous digest."""
    return digest(record_bytes({"lock": lock_digest, "part": part, "run": run}))


def row_digest(previous: str, row: Mapping[str, Any]) -> Digest:
    """Return the digest of a row (its digest columns left out) after the row `previous`."""
    plain = {name: _plain(value) for name, value in row.items()}
    return digest(record_bytes({"previous": previous, "row": plain}))


def _plain(value: Any) -> Any:
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, bytes):
        return digest(value)
    if isinstance(value, int) and abs(value) > SAFE_INTEGER:
        return str(value)
    return value
