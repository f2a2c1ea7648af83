"""No secret reaches a file, a stream or an export, also when a server echoes it.

Received bytes are redacted first; what is derived from them (error texts, codes, ids, names) is
derived from the redacted bytes, so that no cut through a text can hide a piece of a secret. In
which forms a secret is found, `search` says. What holds one is replaced by `[redacted]`; a packed
body is unpacked, redacted and packed again. The stored bytes then differ from the received ones,
so both digests are kept, and `redacted` is true.

Response headers are kept by an allow-list; a header that nobody thought of is not kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from judgeaudit.canonical import digest
from judgeaudit.evidence.log.caches import CACHE_HEADERS
from judgeaudit.evidence.log.search import Searcher
from judgeaudit.instrument.provider.compressed import codings, packed, readable
from judgeaudit.model import Attempt, Invalid

MARKER = b"[redacted]"
_ROUNDS = 4

_KEPT = frozenset(
    {
        "anthropic-version",
        "content-encoding",
        "content-length",
        "content-type",
        "date",
        "openai-processing-ms",
        "openai-version",
        "request-id",
        "retry-after",
        "retry-after-ms",
        "server",
        "transfer-encoding",
        "x-request-id",
        "x-should-retry",
        *CACHE_HEADERS,
    }
)
_KEPT_PREFIXES = ("x-ratelimit-", "ratelimit-", "anthropic-ratelimit-")
_NEVER = ("organization", "authorization", "cookie", "api-key")


def allowed_headers(headers: Mapping[str, str] | Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return the response headers that may be stored, names in lower case, repeats joined."""
    pairs = headers.items() if isinstance(headers, Mapping) else headers
    kept: dict[str, str] = {}
    for name, value in ((name.lower(), value) for name, value in pairs):
        if (name in _KEPT or name.startswith(_KEPT_PREFIXES)) and not any(
            word in name for word in _NEVER
        ):
            kept[name] = f"{kept[name]}, {value}" if name in kept else value
    return kept


def redact(body: bytes, secrets: Iterable[str]) -> tuple[bytes, bool]:
    """Return `body` with every form of every secret replaced, and whether anything was."""
    return Redactor(secrets).body(body)


class Redactor:
    """The secrets of a run, made ready to search for. It never prints them."""

    def __init__(self, secrets: Iterable[str]) -> None:
        self._search = Searcher(secrets)
        self._last: bytes | None = None

    def body(self, body: bytes) -> tuple[bytes, bool]:
        """Return `body` without the secrets, and whether it held any."""
        if body is self._last:
            return body, False
        found = self._search.holds(body)
        self._last = self._replaced(body) if found else body
        return self._last, found

    def received(self, body: bytes, headers: Mapping[str, str]) -> tuple[bytes, bool]:
        """Return a reply's body without the secrets, and whether it held any.

        A compressed body is unpacked, redacted and packed again; one that cannot be looked into
        while there are secrets is not kept.
        """
        if not codings(headers) or not self._search:
            return self.body(body)
        inner = readable(body, headers)
        if isinstance(inner, Invalid):
            return MARKER, True
        clear, found = self.body(inner)
        return (packed(clear, headers), True) if found else (body, False)

    def _replaced(self, body: bytes) -> bytes:
        for _ in range(_ROUNDS):
            parts, done = [], 0
            for start, stop in self._search.spans(body):
                parts += [body[done:start], MARKER]
                done = stop
            body = b"".join([*parts, body[done:]])
            if not self._search.holds(body.replace(MARKER, b"\xff")):
                return body
        return MARKER

    def text(self, text: str) -> str:
        """Return `text` without the secrets; lone surrogates, which no log can hold, become `?`."""
        return self.body(text.encode("utf-8", "replace"))[0].decode("utf-8", "replace")

    def json(self, value: Any) -> Any:
        """Return a JSON value without the secrets in any of its strings and keys."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Mapping):
            return {self.text(str(name)): self.json(item) for name, item in value.items()}
        if isinstance(value, list | tuple):
            return [self.json(item) for item in value]
        return value

    def headers(self, headers: Mapping[str, str]) -> dict[str, str]:
        """Return the headers that may be stored, without the secrets."""
        kept = allowed_headers(headers)
        whole = "\n".join((*kept, *kept.values()))
        if not self._search.holds(whole.encode("utf-8", "replace")):
            return kept
        return {self.text(name): self.text(value) for name, value in kept.items()}

    def attempt(self, attempt: Attempt) -> Attempt:
        """Return an attempt as it may be stored: body, headers and every reported text cleared.

        Sets `received_sha256`, `stored_sha256` and `redacted` from the bytes themselves, except
        that a body which was redacted before keeps the digest of what was received.
        """
        stored, redacted = attempt.response_body, attempt.redacted
        received = attempt.received_sha256 if redacted else None
        if stored is not None:
            received = received or digest(stored)
            stored, found = self.received(stored, attempt.response_headers)
            redacted = redacted or found
        return replace(
            attempt,
            **self._reported(attempt),
            response_body=stored,
            received_sha256=received,
            stored_sha256=None if stored is None else digest(stored),
            redacted=redacted,
            response_headers=self.headers(attempt.response_headers),
        )

    def _reported(self, attempt: Attempt) -> dict[str, Any]:
        texts = {name: text for name in _REPORTED if (text := getattr(attempt, name)) is not None}
        whole = "\n".join(texts.values())
        if whole.isascii() and not self._search.holds(whole.encode()):
            return texts
        return {name: self.text(text) for name, text in texts.items()}


_REPORTED = (
    "error",
    "request_id",
    "model_returned",
    "fingerprint",
    "service_tier",
    "finish_reason",
)
