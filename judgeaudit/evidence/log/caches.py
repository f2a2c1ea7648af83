"""Response headers in which a cache on the way says that it answered itself.

The log keeps these headers; what they say is read from there, never stored apart.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

HITS = (
    "x-cache",
    "x-cache-status",
    "x-cache-lookup",
    "cf-cache-status",
    "cf-aig-cache-status",
    "cdn-cache",
    "x-vercel-cache",
    "x-nextjs-cache",
    "x-proxy-cache",
    "x-cache-hit",
    "x-litellm-cache-hit",
    "x-portkey-cache-status",
    "helicone-cache",
)
"""Headers in which a cache says `HIT`, `TCP_HIT`, `Hit from ...` or `true`."""

NUMBERS = ("age", "x-cache-hits")
STANDARD = "cache-status"
KEYS = ("x-litellm-cache-key",)
CACHE_HEADERS = frozenset({*HITS, *NUMBERS, STANDARD, *KEYS})
"""Every header that is read here; the log keeps them."""

_HIT = re.compile(r"(?:hit|stale|updating|revalidated)(?![a-z])|^\s*true\s*$", re.IGNORECASE)
_STANDARD_HIT = re.compile(r";\s*hit\s*(?:=\s*\?1\s*)?(?:;|,|$)", re.IGNORECASE)


def cache_hit(headers: Mapping[str, str], document: Mapping[str, Any]) -> str | None:
    """Return a cache's own word that it gave this reply, None where none is there."""
    for name in HITS:
        if _HIT.search(headers.get(name, "")):
            return f"{name}: {headers[name]}"
    if _STANDARD_HIT.search(headers.get(STANDARD, "")):
        return f"{STANDARD}: {headers[STANDARD]}"
    for name in NUMBERS:
        if any(int(part) > 0 for part in re.findall(r"\d{1,15}", headers.get(name, ""))):
            return f"{name}: {headers[name]}"
    for name in KEYS:
        if headers.get(name):
            return f"{name}: {headers[name]}"
    return '"cached": true' if document.get("cached") is True else None
