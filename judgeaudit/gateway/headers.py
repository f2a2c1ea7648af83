"""Headers on their way: what is passed on, what is a secret, what may be stored.

Everything is passed on as it came but what belongs to one connection (RFC 9110, 7.6.1), the host,
and codings of the reply that could not be read again: `accept-encoding` keeps gzip, deflate and
identity. What a request carries that looks like a credential is passed on and never stored: it is
what the log's redactor searches for.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from urllib.parse import parse_qsl

Pairs = list[tuple[str, str]]

HOP = frozenset(
    {
        "connection",
        "keep-alive",
        "proxy-authenticate",
        "proxy-authorization",
        "proxy-connection",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
        "expect",
    }
)
"""Headers of one connection."""

_REPLACED = HOP | {"host", "content-length"}
_READ = frozenset({"gzip", "x-gzip", "deflate", "identity"})
_SECRET = re.compile(r"auth|cookie|key|token|secret|credential|password|organization", re.I)
_NO_SECRET = frozenset({"idempotency-key", "x-idempotency-key", "sec-websocket-key"})

AGAIN_WITHOUT = frozenset(
    {
        "idempotency-key",
        "x-idempotency-key",
        "traceparent",
        "tracestate",
        "baggage",
        "b3",
        "sentry-trace",
        "uber-trace-id",
        "x-amzn-trace-id",
        "x-cloud-trace-context",
        "x-request-id",
        "x-client-request-id",
        "x-correlation-id",
        "x-stainless-retry-count",
    }
)
"""What a re-ask leaves out: by it a server could take the call for the first one again."""
_AGAIN_PREFIXES = ("x-b3-", "x-datadog-")

STORED = frozenset(
    {
        "accept",
        "anthropic-beta",
        "anthropic-version",
        "content-encoding",
        "content-type",
        "openai-beta",
        "user-agent",
        "x-stainless-lang",
        "x-stainless-package-version",
        "x-stainless-retry-count",
    }
)
"""Request headers that the log keeps."""


def passed_on(raw: Iterable[tuple[bytes, bytes]]) -> Pairs:
    """Return a request's headers as they go upstream, in order, names as written."""
    found: Pairs = []
    spelled: dict[str, str] = {}  # the client takes two spellings of one name for a replacement
    for name_, value_ in raw:
        name, value = name_.decode("latin-1"), value_.decode("latin-1")
        low = name.lower()
        name = spelled.setdefault(low, name)
        if low in _REPLACED:
            continue
        found.append((name, _readable(value) if low == "accept-encoding" else value))
    return found


def _readable(codings: str) -> str:
    kept = [part for part in codings.split(",") if part.partition(";")[0].strip().lower() in _READ]
    return ",".join(kept).strip() or "identity"


def returned(raw: Iterable[tuple[bytes, bytes]]) -> Pairs:
    """Return a reply's headers as they go back to the client."""
    pairs = ((name.decode("latin-1"), value.decode("latin-1")) for name, value in raw)
    return [(name, value) for name, value in pairs if name.lower() not in HOP]


def again(pairs: Pairs) -> Pairs:
    """Return the headers of a call that is asked again."""
    return [
        (name, value)
        for name, value in pairs
        if (low := name.lower()) not in AGAIN_WITHOUT and not low.startswith(_AGAIN_PREFIXES)
    ]


def secrets_in(pairs: Iterable[tuple[str, str]], query: str) -> Iterator[str]:
    """Yield what a request carries that no file may hold: values of headers and of the query."""
    for name, value in pairs:
        if _SECRET.search(name) and name.lower() not in _NO_SECRET:
            yield value
            yield from (part for part in re.split(r"[\s;,=]+", value) if part)
    if query:
        for name, value in parse_qsl(query):
            if _SECRET.search(name) or name in ("sig", "signature", "code"):
                yield value


def stored(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return the request headers that the log keeps, names in lower case."""
    return {low: value for name, value in pairs if (low := name.lower()) in STORED}


def lower(pairs: Iterable[tuple[str, str]]) -> Mapping[str, str]:
    """Return headers with lower-case names, repeats joined."""
    found: dict[str, str] = {}
    for name, value in pairs:
        low = name.lower()
        found[low] = f"{found[low]}, {value}" if low in found else value
    return found
