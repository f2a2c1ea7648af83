r"""No secret reaches a file, also when a server echoes it.

A secret (key, authorization or cookie value) is replaced by `[redacted]` wherever it stands in
received bytes: as it is; with any of its characters as a JSON escape (`\u0073`, also nested) or
percent-encoded (also twice); and in base64 or base64url at each of the three alignments it can
have inside a longer text. The stored bytes then differ from the received ones, so both digests
are kept, and `redacted` is true. Values of fewer than `SHORTEST` bytes ("EMPTY", "none") are
placeholders, not secrets: replacing them would rewrite answers.

Response headers are kept by an allow-list; a header that nobody thought of is not kept.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from judgeaudit.canonical import digest
from judgeaudit.evidence.log.caches import CACHE_HEADERS
from judgeaudit.model import Attempt

MARKER = b"[redacted]"
SHORTEST = 8

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
    return Redactor(secrets).bytes(body)


class Redactor:
    """The secrets of a run, made ready to search for. It never prints them."""

    def __init__(self, secrets: Iterable[str]) -> None:
        known = sorted({s for s in secrets if len(s.encode()) >= SHORTEST}, key=len, reverse=True)
        self._literals = [form for secret in known for form in _base64_forms(secret.encode())]
        self._patterns = [re.compile(b"".join(map(_any_form, secret))) for secret in known]

    def bytes(self, body: bytes) -> tuple[bytes, bool]:
        """Return `body` without the secrets, and whether it held any."""
        stored = body
        for pattern in self._patterns:
            stored = pattern.sub(MARKER, stored)
        for literal in self._literals:
            stored = stored.replace(literal, MARKER)
        return stored, stored != body

    def text(self, text: str) -> str:
        """Return `text` without the secrets; lone surrogates, which no log can hold, become `?`."""
        return self.bytes(text.encode("utf-8", "replace"))[0].decode("utf-8", "replace")

    def json(self, value: Any) -> Any:
        """Return a JSON value without the secrets in any of its strings and keys."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Mapping):
            return {self.text(str(name)): self.json(item) for name, item in value.items()}
        if isinstance(value, list | tuple):
            return [self.json(item) for item in value]
        return value

    def attempt(self, attempt: Attempt) -> Attempt:
        """Return an attempt as it may be stored: body, headers and every reported text cleared.

        Sets `received_sha256`, `stored_sha256` and `redacted` from the bytes themselves.
        """
        received, stored, redacted = attempt.response_body, None, False
        if received is not None:
            stored, redacted = self.bytes(received)
        reported: dict[str, Any] = {
            name: text and self.text(text)
            for name in _REPORTED
            if (text := getattr(attempt, name)) is not None
        }
        return replace(
            attempt,
            **reported,
            response_body=stored,
            received_sha256=None if received is None else digest(received),
            stored_sha256=None if stored is None else digest(stored),
            redacted=redacted,
            response_headers={
                name: self.text(value)
                for name, value in allowed_headers(attempt.response_headers).items()
            },
        )


_REPORTED = (
    "error",
    "request_id",
    "model_returned",
    "fingerprint",
    "service_tier",
    "finish_reason",
)


def _any_form(character: str) -> bytes:
    """Return a pattern for one character: itself, JSON-escaped or percent-encoded."""
    units = character.encode("utf-16-be")
    escaped = b"".join(
        rb"\\\\*u" + _hex(units[at : at + 2].hex()) for at in range(0, len(units), 2)
    )
    percent = b"".join(b"%(?:25)*" + _hex(f"{byte:02x}") for byte in character.encode())
    plain = re.escape(character.encode())
    forms = [plain, escaped, percent]
    if character in '"\\/':
        forms.append(rb"\\\\*" + plain)
    if character == " ":
        forms.append(rb"\+")
    return b"(?:" + b"|".join(forms) + b")"


def _hex(digits: str) -> bytes:
    return "".join(f"[{d}{d.upper()}]" if d.isalpha() else d for d in digits).encode()


def _base64_forms(secret: bytes) -> list[bytes]:
    """Return what base64 shows of a secret wherever it starts: the characters it alone decides."""
    forms = []
    for offset, first in ((0, 0), (1, 2), (2, 3)):  # first = ceil(8 * offset / 6)
        last = 8 * (offset + len(secret)) // 6
        padded = bytes(offset) + secret
        forms += [
            base64.b64encode(padded)[first:last],
            base64.urlsafe_b64encode(padded)[first:last],
        ]
    return list(dict.fromkeys(forms))
