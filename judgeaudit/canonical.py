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
from pathlib import Path
from typing import Any

import rfc8785

from judgeaudit.errors import InputError

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


def file_digest(path: Path) -> Digest:
    """Return the digest of a file's bytes, read in blocks."""
    with path.open("rb") as stream:
        return str.__new__(Digest, "sha256:" + hashlib.file_digest(stream, "sha256").hexdigest())
