"""The retry policy: what a status, its headers and its body mean.

* 2xx is an outcome, also where its body is bad or holds a refusal.
* Never tried again: 400, 401, 402, 403, 404, 413, 422, and any status whose error code speaks of
  quota, credit, billing or a spend limit. The first such code, and 401, 402, 403 and 404, pause.
* Tried again: 408, 409, 429 and 500 upwards (529 is Anthropic's "overloaded"), unless the server
  says `x-should-retry: false`; any other status only where it says `x-should-retry: true`.
* The wait is `retry-after-ms`, else `retry-after` in seconds or as a date. A date is held against
  the reply's own `date`, since the two come from one clock.

Codes may be integers (llama.cpp) and stand at the top, under `error` or in a list (Gemini). Only
codes and types are searched for quota: messages of plain rate limits name quotas too.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from email.utils import parsedate_to_datetime
from typing import Any

from judgeaudit.instrument.provider.interface import Classified, Kind
from judgeaudit.instrument.provider.lenient import load_json, mapping, text
from judgeaudit.model import Responsibility

NEVER = frozenset({400, 401, 402, 403, 404, 413, 422})
PAUSING = frozenset({401, 402, 403, 404})
RETRIED = frozenset({408, 409, 429})
_QUOTA_WORDS = ("quota", "credit", "spend_limit", "spending_limit", "billing")
_DETAIL_WIDTH = 200


def classify(
    status: int, headers: Mapping[str, str], body: bytes, *, now_ns: int | None = None
) -> Classified:
    """Return what a reply means; `headers` have lower-case names, `now_ns` is for dates alone."""
    if 200 <= status < 300:
        return Classified(Kind.FINAL)
    error = _error_of(body)
    codes = tuple(_codes(error))
    detail = _detail(error, codes)
    quota = any(word in code for code in codes for word in _QUOTA_WORDS)
    if quota or status in NEVER:
        pause = quota or status in PAUSING
        return Classified(Kind.REFUSE, Responsibility.USER, pause=pause, detail=detail)
    responsibility = Responsibility.PROVIDER if status >= 400 else Responsibility.USER
    if _asks_for_retry(status, headers.get("x-should-retry", "").strip().lower()):
        wait = retry_after_ms(headers, now_ns)
        return Classified(Kind.RETRY, responsibility, wait, detail=detail)
    return Classified(Kind.REFUSE, responsibility, detail=detail)


def _asks_for_retry(status: int, asked: str) -> bool:
    if asked in ("true", "false"):
        return asked == "true"
    return status in RETRIED or status >= 500


def _error_of(body: bytes) -> Any:
    try:
        document = load_json(body)
    except ValueError:
        return None
    if isinstance(document, list) and document:
        document = document[0]
    error = mapping(document).get("error", document)
    return error if isinstance(error, dict | str) else None


def _codes(error: Any) -> Iterator[str]:
    for name in ("code", "type", "status"):
        value = mapping(error).get(name)
        if isinstance(value, str | int) and not isinstance(value, bool):
            yield str(value).lower()


def _detail(error: Any, codes: tuple[str, ...]) -> str:
    message = error if isinstance(error, str) else mapping(error).get("message")
    parts = [*dict.fromkeys(codes), text(message) or ""]
    line = " ".join(": ".join(part for part in parts if part).split())
    return line[:_DETAIL_WIDTH]


def retry_after_ms(headers: Mapping[str, str], now_ns: int | None = None) -> int | None:
    """Return the wait that a server asks for in whole milliseconds, or None."""
    wait = _number(headers.get("retry-after-ms"))
    if wait is None:
        seconds = _number(headers.get("retry-after"))
        wait = None if seconds is None else seconds * 1000
    if wait is None:
        wait = _until(headers.get("retry-after"), headers.get("date"), now_ns)
    return None if wait is None else max(0, math.ceil(wait))


def _number(value: str | None) -> float | None:
    try:
        number = float(value) if value is not None else math.nan
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _seconds(date: str | None) -> float | None:
    try:
        return parsedate_to_datetime(date).timestamp() if date is not None else None
    except (ValueError, OverflowError):
        return None


def _until(date: str | None, sent: str | None, now_ns: int | None) -> float | None:
    then, now = _seconds(date), _seconds(sent)
    if now is None and now_ns is not None:
        now = now_ns / 1e9
    return None if then is None or now is None else (then - now) * 1000
