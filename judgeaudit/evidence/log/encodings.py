r"""The forms in which text is passed on, undone: escapes, alphabets, numbers, packing.

Everything here is lenient: it yields what bytes could mean, for a search, and never raises. What
is read as evidence is decoded elsewhere, strictly.
"""

from __future__ import annotations

import base64
import binascii
import html
import re
import zlib
from collections.abc import Iterator

RUN = 16
"""The shortest run of an alphabet that is decoded."""

LONG_RUN = 40
"""From here on a run is decoded whatever it looks like: it can hold an encoding of an encoding."""

MOST_UNPACKED = 16 * 1024 * 1024
"""The most bytes that are unpacked from a packed part."""

RUNS = re.compile(rb"[A-Za-z0-9+/_=-]{%d,}" % RUN)
SIGNS = (b"\x1f\x8b\x08", b"x\x01", b"x\x5e", b"x\x9c", b"x\xda")
"""How gzip and zlib begin."""

PACKED = re.compile(b"|".join(map(re.escape, SIGNS)))
_UNIT = rb"(?:\\+x|0x|%|u\+)?(?:00)?[0-9a-f]{2}|[0-9]{1,3}"
SPELLED = re.compile(rb"(?:(?:%s)[\s,;:|\\-]{1,4}){7,}(?:%s)" % (_UNIT, _UNIT), re.IGNORECASE)
"""Eight or more numbers below 256 with something between them, as `73:6b` or `[115, 107]`."""

# Only escapes of ASCII characters: a secret that can stand in a header has no others.
ESCAPE = re.compile(
    rb"\\+u00[0-7][0-9a-fA-F]|\\+x[0-7][0-9a-fA-F]|\\+[01][0-7]{2}|\\+[\"'/nrt]"
    rb"|%(?:25)*[0-7][0-9a-fA-F]|&#0{0,4}[0-9]{2,3};|&#[xX]0{0,4}[2-7][0-9a-fA-F];"
    rb"|&[a-z]{2,6};|=[2-7][0-9A-F]|=\r?\n"
)
_WORTH = (b"\\u00", b"\\x", b"\\/", b"%", b"&", b"\\0", b"\\1", b"=")
_HEX = re.compile(rb"[0-9a-fA-F]{%d,}" % RUN)
_BASE32 = re.compile(rb"[A-Z2-7]{%d,}|[a-z2-7]{%d,}" % (RUN, RUN))
URLSAFE = bytes.maketrans(b"-_", b"+/")


def has_escapes(data: bytes) -> bool:
    """Return whether `data` may hold an escape other than the usual ones of a line's end."""
    return any(sign in data for sign in _WORTH)


def unescaped(unit: bytes) -> bytes:
    """Return what one match of `ESCAPE` stands for; at most one byte."""
    if unit[:1] == b"&":
        return html.unescape(unit.decode("ascii")).encode("ascii", "replace")[:1]
    if unit[:1] == b"=":
        return bytes.fromhex(unit[1:].decode()) if len(unit) == 3 and unit[1:2] != b"\r" else b""
    if unit[:1] == b"%":
        return bytes.fromhex(unit[-2:].decode())
    tail = unit.lstrip(b"\\")
    if tail[:1] in (b"u", b"x"):
        return bytes.fromhex(tail[-2:].decode())
    if len(tail) == 3:
        return bytes([int(tail, 8) & 0x7F])
    return b" " if tail in (b"n", b"r", b"t") else tail


def base64_groups(text: bytes) -> Iterator[bytes]:
    """Yield the groups of four by which base64 shows three bytes of `text`, at every alignment."""
    for at in range(len(text) - 2):
        yield base64.b64encode(text[at : at + 3])


def not_base64(run: bytes) -> bool:
    """Return whether a run can be hexadecimal or base32."""
    return bool(_HEX.search(run) or _BASE32.search(run))


def decoded(run: bytes) -> Iterator[bytes]:
    """Yield what a run of base64, base64url, base32 or hexadecimal may mean, at every alignment."""
    for part in run.translate(URLSAFE).split(b"="):
        for shift in range(4):
            digits = part[shift:]
            digits = digits[: len(digits) - (len(digits) % 4 == 1)]
            yield binascii.a2b_base64(digits + b"=" * (-len(digits) % 4))
    for found in _HEX.findall(run):
        for shift in (0, 1):
            digits = found[shift:]
            yield bytes.fromhex(digits[: len(digits) & ~1].decode())
    for found in _BASE32.findall(run):
        for shift in range(8):
            digits = found[shift : shift + (len(found) - shift) // 8 * 8].upper()
            yield base64.b32decode(digits)


def spelled_out(numbers: bytes) -> Iterator[bytes]:
    """Yield the bytes that a match of `SPELLED` lists: as hexadecimal, then as decimal."""
    parts = re.findall(rb"[0-9a-f]+", re.sub(rb"0x|\\+x|u\+", b" ", numbers.lower()))
    yield bytes(int(part[-2:], 16) for part in parts)
    yield bytes(int(part) for part in parts if part.isdigit() and int(part) < 256)


def unpacked(data: bytes) -> bytes | None:
    """Return what gzip or zlib packed at the start of `data`, as far as it is whole; or None.

    At most one byte more than `MOST_UNPACKED`, which tells that there was more.
    """
    try:
        return zlib.decompressobj(wbits=47).decompress(data, MOST_UNPACKED + 1) or None
    except zlib.error:
        return None
