"""Replies that came compressed although none was asked for.

`accept-encoding: identity` goes with every request, and a server or a gateway may still pack its
answer. The log keeps what came; for reading it is unpacked, up to `MOST` bytes, so that a small
body cannot fill the memory. Read are gzip and deflate (with and without zlib's header), also put
on top of each other. Anything else (br, zstd) is no reply, by the name of its coding.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping

from judgeaudit.model import Invalid, Reason

MOST = 64 * 1024 * 1024
"""The most bytes that a reply may have when it is unpacked."""

PLAIN = frozenset({"", "identity"})
_SEVERAL = 4


def codings(headers: Mapping[str, str]) -> tuple[str, ...]:
    """Return the codings that were put on a body, in order; none for a plain one."""
    named = headers.get("content-encoding", "").lower().split(",")
    return tuple(name for name in (part.strip() for part in named) if name not in PLAIN)


def readable(body: bytes, headers: Mapping[str, str]) -> bytes | Invalid:
    """Return a body as it reads, or `Invalid(bad_body)` naming the coding that was not undone.

    `headers` have lower-case names.
    """
    found = codings(headers)
    if len(found) > _SEVERAL:
        return Invalid(Reason.BAD_BODY, f"compressed {len(found)} times over")
    for coding in reversed(found):
        undo = CODINGS.get(coding)
        if undo is None:
            return Invalid(Reason.BAD_BODY, f"compressed as {coding!r}, which is not read here")
        try:
            body = undo(body)
        except (ValueError, EOFError, zlib.error) as error:
            return Invalid(Reason.BAD_BODY, f"compressed as {coding!r}, and broken: {error}")
    return body


def packed(body: bytes, headers: Mapping[str, str]) -> bytes:
    """Return a readable body as its headers say that it comes; inverse to `readable`."""
    for coding in codings(headers):
        wbits = zlib.MAX_WBITS if coding == "deflate" else 16 + zlib.MAX_WBITS
        stream = zlib.compressobj(wbits=wbits)
        body = stream.compress(body) + stream.flush()
    return body


def _inflate(body: bytes, wbits: int) -> bytes:
    """Return the members of a zlib or gzip stream, joined; raises ValueError beyond `MOST`."""
    parts: list[bytes] = []
    size = 0
    while body:
        member = zlib.decompressobj(wbits)
        parts.append(member.decompress(body, MOST + 1 - size))
        size += len(parts[-1])
        if size > MOST:
            raise ValueError(f"it unpacks to more than {MOST} bytes")
        if not member.eof:
            raise EOFError("it ends early")
        body = member.unused_data
    return b"".join(parts)


def _gzip(body: bytes) -> bytes:
    return _inflate(body, 16 + zlib.MAX_WBITS)


def _deflate(body: bytes) -> bytes:
    """RFC 9110, 8.4.1.2: zlib's format; some servers leave its header out."""
    try:
        return _inflate(body, zlib.MAX_WBITS)
    except zlib.error:
        return _inflate(body, -zlib.MAX_WBITS)


CODINGS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": _gzip,
    "x-gzip": _gzip,
    "deflate": _deflate,
}
