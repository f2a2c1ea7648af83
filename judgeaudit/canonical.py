"""The only place that turns values into bytes and bytes into digests.

* `canonical_bytes` is RFC 8785 (JSON Canonicalization Scheme): what digests of documents cover.
* `body_bytes` is the request serializer: insertion order kept, compact, UTF-8, no NaN, no lone
  surrogates. A frozen body is these bytes; nothing serializes a body a second time.
* `Digest` prints as `sha256:<64 hex>` and compares as that string.
"""

from __future__ import annotations

import hashlib
import json
import re
import stat
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import rfc8785

from judgeaudit.errors import InputError

LONGEST_FILE = 2**32
"""The most bytes that a registration, protocol, battery or prompt may have."""

_PATTERN = re.compile(r"sha256:[0-9a-f]{64}")


class Digest(str):
    """A SHA-256 digest, written `sha256:<hex>`."""

    __slots__ = ()

    def __new__(cls, text: str) -> Digest:
        """Check the form; raises `InputError` on anything else."""
        if not _PATTERN.fullmatch(text):
            raise InputError("digest", found=f"{text[:80]!r} is not sha256:<64 hex digits>")
        return super().__new__(cls, text)

    @property
    def hex(self) -> str:
        """The 64 hexadecimal digits."""
        return self[7:]

    @property
    def short(self) -> str:
        """The first 12 hexadecimal digits, for people."""
        return self[7:19]


def digest(data: bytes) -> Digest:
    """Return the SHA-256 digest of `data`."""
    return str.__new__(Digest, "sha256:" + hashlib.sha256(data).hexdigest())


def canonical_bytes(value: Any) -> bytes:
    """Return the RFC 8785 form of `value`; raises `InputError` where JSON has none for it."""
    try:
        return rfc8785.dumps(value)
    except (rfc8785.CanonicalizationError, UnicodeEncodeError) as error:
        raise InputError("canonical JSON", found=str(error)) from error


def digest_of(value: Any) -> Digest:
    """Return the digest of the canonical form of a JSON value."""
    return digest(canonical_bytes(value))


_plain = json.JSONEncoder(
    ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False
).encode


def record_bytes(record: Any) -> bytes:
    """Return the RFC 8785 form of a log record, four times as fast as `canonical_bytes`.

    Only for values without floats, with ASCII keys and integers below 2^53, where Python's own
    serializer gives the canonical form (a test compares the two). Raises `InputError` for lone
    surrogates.
    """
    try:
        return _plain(record).encode("utf-8", "strict")
    except UnicodeEncodeError as error:
        raise InputError("log record", found=f"lone surrogate at {error.start}") from error


def body_bytes(body: Any) -> bytes:
    """Serialize a request body once: compact, UTF-8, key order as given.

    Raises `InputError` for NaN and infinities, lone surrogates and types that JSON lacks.
    """
    try:
        text = json.dumps(body, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
        return text.encode("utf-8", "strict")
    except UnicodeEncodeError as error:
        raise InputError("request body", found=f"lone surrogate at {error.start}") from error
    except (TypeError, ValueError) as error:
        raise InputError("request body", found=str(error)) from error


def digest_of_parts(parts: Iterable[bytes]) -> Digest:
    """Return the digest of all parts in a row, holding one of them at a time."""
    hasher = hashlib.sha256()
    for part in parts:
        hasher.update(part)
    return str.__new__(Digest, "sha256:" + hasher.hexdigest())


def read_regular(path: Path) -> bytes:
    """Return the bytes of a file with an end.

    Raises `InputError` for a folder, a pipe, a device (`/dev/zero` has no end) and for a file of
    more than `LONGEST_FILE` bytes; OSError where the system refuses.
    """
    found = path.stat()
    if not stat.S_ISREG(found.st_mode):
        what = "a folder" if stat.S_ISDIR(found.st_mode) else "a pipe or a device"
        raise InputError(path, found=f"{what}, no regular file", remedy="name a file")
    if found.st_size > LONGEST_FILE:
        told = f"{found.st_size} bytes, more than {LONGEST_FILE}"
        raise InputError(path, found=told, remedy="split it")
    return path.read_bytes()


def file_digest(path: Path) -> Digest:
    """Return the digest of a file's bytes, read in blocks."""
    with path.open("rb") as stream:
        return str.__new__(Digest, "sha256:" + hashlib.file_digest(stream, "sha256").hexdigest())


VIRTUAL_HEADER = "x-judgeaudit-virtual"
"""Request header that tells a simulated endpoint when, on the virtual clock, a call is made."""


def virtual_header(t_ns: int, attempt: int, load: int) -> str:
    """Return the header's value: `t=<UTC ns>;attempt=<from 1>;load=<calls in flight, from 1>`."""
    return f"t={t_ns:d};attempt={attempt:d};load={load:d}"


def parse_virtual_header(text: str) -> tuple[int, int, int]:
    """Return (t_ns, attempt, load) of a header value.

    Grammar: `key=integer` fields in any order, parted by `;`, spaces ignored, unknown keys
    ignored; `t` is required, `attempt` and `load` are 1 where absent. Raises `InputError`.
    """
    fields = dict(part.split("=", 1) for part in text.replace(" ", "").split(";") if "=" in part)
    try:
        t_ns, attempt, load = (
            int(fields["t"]),
            int(fields.get("attempt", "1")),
            int(fields.get("load", "1")),
        )
    except (KeyError, ValueError) as error:
        raise InputError(
            VIRTUAL_HEADER, found=f"{text[:80]!r}", remedy="write t=<ns>;attempt=<n>;load=<n>"
        ) from error
    return t_ns, attempt, load
