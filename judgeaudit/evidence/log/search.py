r"""Where a secret stands in bytes that a stranger wrote, in whatever form.

One searcher serves everything that is stored, shown or exported. A secret is found

* as it is, in any case, and in pieces: `PIECE` of its characters in a row (of a short secret, two
  thirds), so that a text which was cut in the middle of a key, or folded inside it, hides nothing;
* with white space or NUL bytes between its characters (folded lines, UTF-16);
* escaped, in whole or in part, also several times over: JSON and C (`\u0073`, `\x73`, `\163`),
  percent, HTML (`&#115;`), quoted-printable (`=73`);
* spelled byte by byte as hexadecimal or decimal numbers;
* inside base64, base64url, base32 or hexadecimal, at every alignment; inside gzip or zlib; and all
  of these inside each other, `DEEPEST` times.

`holds` costs microseconds where nothing stands: a piece always holds one of the secret's blocks of
`BLOCK` characters, every `STEP`, and those are looked for in flattened copies. Only where it finds
something does `spans` work out the places in the original, unit by unit.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from judgeaudit.evidence.log.encodings import (
    ESCAPE,
    LONG_RUN,
    MOST_UNPACKED,
    PACKED,
    RUNS,
    SIGNS,
    SPELLED,
    URLSAFE,
    base64_groups,
    decoded,
    has_escapes,
    not_base64,
    spelled_out,
    unescaped,
    unpacked,
)

SHORTEST = 8
"""Values of fewer bytes ("EMPTY") are placeholders: replacing them would rewrite answers."""

PIECE, BLOCK, STEP = 8, 4, 5
DEEPEST = 4
_LONG_SECRET = 24
_STRETCH, _OVERLAP = 1 << 20, 1 << 16
_BLANK = b" \t\r\n\0"
_BETWEEN = _BLANK + b",;:|-\\x"
_SMALL = bytes(range(256)).lower()
_LEVELS = 6
_REMEMBERED = 4096

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class _View:
    """A flattened copy: its byte k stands for the bytes `at[k]` to `end[k]` of the original."""

    text: bytes
    at: list[int]
    end: list[int]

    def span(self, start: int, stop: int) -> Span:
        return self.at[start], self.end[stop - 1]


@dataclass(frozen=True, slots=True)
class _Block:
    """A few characters of a secret, where they stand in it, and how much of it is a piece."""

    text: bytes
    at: int
    secret: bytes
    piece: int


class Searcher:
    """Secrets made ready to search for; those of fewer than `SHORTEST` bytes are left out."""

    def __init__(self, secrets: Iterable[str]) -> None:
        encoded = {secret.encode("utf-8", "replace") for secret in secrets}
        known = sorted(secret for secret in encoded if len(secret) >= SHORTEST)
        self._blocks = [b for secret in known for b in _blocks(secret.lower())]
        cases = {form for s in known for form in (s, s.lower(), s.upper())}
        self._encoded = sorted({group for form in cases for group in base64_groups(form)})
        every_second = [block.text for block in self._blocks if block.at % (2 * STEP) == 0]
        self._spelled = sorted({form for text in every_second for form in _spellings(text)})
        self._clean: set[bytes] = set()

    def __bool__(self) -> bool:
        return bool(self._blocks)

    def holds(self, data: bytes, depth: int = DEEPEST) -> bool:
        """Return whether any form of a secret stands in `data`."""
        if not self._blocks or len(data) < PIECE or depth == 0:
            return False
        return any(self._level_holds(level, depth) for level in _levels(data))

    def spans(self, data: bytes) -> list[Span]:
        """Return the stretches of `data` to replace, in order and apart from each other."""
        if not self.holds(data):
            return []
        found = [span for begin in _stretches(len(data)) for span in self._stretch(data, begin)]
        found += self._packed(data)
        return _joined(found) or [(0, len(data))]

    def _level_holds(self, data: bytes, depth: int) -> bool:
        flat = _flat(data)
        if any(self._pieces(flat)) or (self._may_spell(flat) and any(self._spellings(data))):
            return True
        if any(True for _ in self._packed(data, depth)):
            return True
        return any(self._run_holds(run, depth) for run in RUNS.findall(data))

    def _stretch(self, data: bytes, begin: int) -> Iterator[Span]:
        """Yield the spans in one stretch of the original, found in all its views."""
        for view in _views(data[begin : begin + _STRETCH + _OVERLAP]):
            for start, stop in self._in_view(view):
                yield begin + start, begin + stop

    def _in_view(self, view: _View) -> Iterator[Span]:
        tight = _squeezed(view)
        yield from (tight.span(*hit) for hit in self._pieces(tight.text))
        yield from (view.span(*hit) for hit in self._spellings(view.text))
        for found in RUNS.finditer(view.text):
            if self._run_holds(found.group(), DEEPEST):
                yield view.span(*found.span())

    def _pieces(self, text: bytes) -> Iterator[Span]:
        """Yield the stretches of `text` (small letters) that are a piece of a secret."""
        for block in self._blocks:
            at = text.find(block.text)
            while at >= 0:
                start, stop = _extended(text, at, block)
                if stop - start >= block.piece:
                    yield start, stop
                at = text.find(block.text, at + 1)

    def _may_spell(self, flat: bytes) -> bool:
        tight = flat.translate(None, _BETWEEN)
        return any(form in tight for form in self._spelled)

    def _spellings(self, data: bytes) -> Iterator[Span]:
        for found in SPELLED.finditer(data):
            if any(True for text in spelled_out(found.group()) for _ in self._pieces(text.lower())):
                yield found.span()

    def _packed(self, data: bytes, depth: int = DEEPEST) -> Iterator[Span]:
        if data.isascii() or not any(sign in data for sign in SIGNS):
            return
        for found in PACKED.finditer(data):
            inner = unpacked(data[found.start() :])
            if inner and (len(inner) > MOST_UNPACKED or self.holds(inner, depth - 1)):
                yield found.start(), len(data)
                return

    def _run_holds(self, run: bytes, depth: int) -> bool:
        if run in self._clean or (len(run) < LONG_RUN and not self._may_encode(run)):
            return False
        if self.holds(b"\xff".join(decoded(run)), depth - 1):
            return True
        if depth == DEEPEST and len(run) < 2 * LONG_RUN and len(self._clean) < _REMEMBERED:
            self._clean.add(run)  # names of JSON fields, the same in every reply
        return False

    def _may_encode(self, run: bytes) -> bool:
        standard = run.translate(URLSAFE)
        return any(group in standard for group in self._encoded) or not_base64(run)


def _blocks(secret: bytes) -> Iterator[_Block]:
    piece = PIECE if len(secret) >= _LONG_SECRET else max(PIECE, len(secret) * 2 // 3)
    starts = {*range(0, len(secret) - BLOCK + 1, STEP), len(secret) - BLOCK}
    return (_Block(secret[at : at + BLOCK], at, secret, piece) for at in sorted(starts))


def _spellings(text: bytes) -> Iterator[bytes]:
    """Yield a block as numbers, with what stands between them taken away."""
    for form in ("{:02x}", "0{:02x}", "{}"):
        yield "".join(form.format(byte) for byte in text).encode()


def _extended(text: bytes, at: int, block: _Block) -> Span:
    """Return how far `text` goes on as the secret does, on both sides of a block at `at`."""
    left, right = 0, BLOCK
    most = min(len(text) - at, len(block.secret) - block.at)
    while left < min(at, block.at) and text[at - left - 1] == block.secret[block.at - left - 1]:
        left += 1
    while right < most and text[at + right] == block.secret[block.at + right]:
        right += 1
    return at - left, at + right


def _flat(data: bytes) -> bytes:
    """Return `data` in small letters without blanks."""
    if b"\\" in data:
        data = data.replace(b"\\n", b"").replace(b"\\r", b"").replace(b"\\t", b"")
    return data.translate(_SMALL, _BLANK)


def _levels(data: bytes) -> Iterator[bytes]:
    """Yield `data`, and after each further round of escapes undone."""
    yield data
    for _ in range(_LEVELS):
        if not has_escapes(data):
            return
        inner = ESCAPE.sub(lambda found: unescaped(found.group()), data)
        if inner == data:
            return
        yield (data := inner)


def _views(data: bytes) -> Iterator[_View]:
    """Yield what `_levels` yields, each byte with its place in the original."""
    view = _View(data, list(range(len(data))), list(range(1, len(data) + 1)))
    yield view
    for _ in range(_LEVELS):
        inner = _unescaped_view(view)
        if inner.text == view.text:
            return
        yield (view := inner)


def _unescaped_view(view: _View) -> _View:
    text, at, end, done = bytearray(), list[int](), list[int](), 0
    for found in ESCAPE.finditer(view.text):
        start, stop = found.span()
        text += view.text[done:start]
        at += view.at[done:start]
        end += view.end[done:start]
        if byte := unescaped(found.group()):
            text += byte
            at.append(view.at[start])
            end.append(view.end[stop - 1])
        done = stop
    return _View(bytes(text) + view.text[done:], at + view.at[done:], end + view.end[done:])


def _squeezed(view: _View) -> _View:
    blank = re.compile(rb"\\[nrt]|[%s]+" % _BLANK)
    text, at, end, done = bytearray(), list[int](), list[int](), 0
    for found in blank.finditer(view.text):
        text += view.text[done : found.start()]
        at += view.at[done : found.start()]
        end += view.end[done : found.start()]
        done = found.end()
    whole = (bytes(text) + view.text[done:]).lower()
    return _View(whole, at + view.at[done:], end + view.end[done:])


def _stretches(length: int) -> range:
    return range(0, max(length, 1), _STRETCH)


def _joined(spans: Iterable[Span]) -> list[Span]:
    whole: list[Span] = []
    for start, stop in sorted(spans):
        if whole and start <= whole[-1][1]:
            whole[-1] = whole[-1][0], max(stop, whole[-1][1])
        else:
            whole.append((start, stop))
    return whole
