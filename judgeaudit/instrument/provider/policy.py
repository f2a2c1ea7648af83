"""The retry policy: what a status, its headers and its body mean.

* 2xx is an outcome, also where its body is bad or holds a refusal. An error inside a 2xx document
  means what its code says, as if it had come as that status.
* Never tried again: 400, 401, 402, 403, 404, 413, 422, and any status whose error code speaks of
  quota, credit, billing or a spend limit. The first such code, and 401, 402, 403 and 404, pause.
* A refusal of one item (a content filter's, or a prompt that is too long) is never tried again and
  never pauses: the way to the model is open.
* Tried again: 408, 409, 429 and 500 upwards (529 is Anthropic's "overloaded"), unless the server
  says `x-should-retry: false`; any other status only where it says `x-should-retry: true`.
* The wait is `retry-after-ms`, else `retry-after` in seconds or as a date, else a delay in the
  body (`retryDelay`, `retry_after`). A date is held against the reply's own `date`, since the two
  come from one clock. A wait is a whole number of milliseconds from 0 to `LONGEST_WAIT_MS`; more
  is cut to that, and what is no number is no wait.

Codes may be integers (llama.cpp) and stand at the top, under `error` or in a list (Gemini). Only
codes and types are searched for quota: messages of plain rate limits name quotas too.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from email.utils import parsedate_to_datetime
from typing import Any

from judgeaudit.instrument.provider.failures import embedded_error
from judgeaudit.instrument.provider.interface import Classified, Kind
from judgeaudit.instrument.provider.lenient import load_json, mapping, sequence, text
from judgeaudit.model import Responsibility

NEVER = frozenset({400, 401, 402, 403, 404, 413, 422})
PAUSING = frozenset({401, 402, 403, 404})
RETRIED = frozenset({408, 409, 429})
LONGEST_WAIT_MS = 366 * 24 * 3600 * 1000
"""A leap year: whatever a server asks beyond it is no longer a wait."""

FILTERS = frozenset(
    {
        "content_filter",
        "content_filtered",
        "content_policy_violation",
        "data_inspection_failed",
        "invalid_prompt",
        "moderation_blocked",
        "prohibited_content",
        "responsibleaipolicyviolation",
        "safety",
    }
)
"""Codes by which providers say that a filter refused this prompt."""

TOO_LONG = frozenset({"context_length_exceeded", "prompt_too_long", "string_above_max_length"})
_FILTERED = re.compile(
    r"content[ _]filter|content management policy|content policy|(?:prompt|input) was flagged",
    re.IGNORECASE,
)
_ABOUT_ITEMS = frozenset({400, 403, 413, 422})
_QUOTA_WORDS = ("quota", "credit", "spend_limit", "spending_limit", "billing")
_DETAIL_WIDTH = 200
_NUMBER = re.compile(r"\s*[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?\s*", re.ASCII)
_DELAY = re.compile(r"(?:(\d+)h)?(?:(\d+)m(?!s))?(?:(\d+(?:\.\d+)?)s)?(?:(\d+)ms)?", re.ASCII)
_DELAYS = {
    "retrydelay": 1000,
    "retry_delay": 1000,
    "retry_after": 1000,
    "retryafter": 1000,
    "retry_after_seconds": 1000,
    "retry_after_ms": 1,
}
"""Fields of a body that hold a wait, and milliseconds in a plain number's unit."""


def classify(
    status: int, headers: Mapping[str, str], body: bytes, *, now_ns: int | None = None
) -> Classified:
    """Return what a reply means; `headers` have lower-case names, `now_ns` is for dates alone."""
    if 200 <= status < 300:
        return _inside(headers, body)
    return _failed(status, headers, _error_of(body), now_ns)


def _inside(headers: Mapping[str, str], body: bytes) -> Classified:
    """Return what a success means: what the error inside it says, where it says it by a code."""
    inside = embedded_error(body)
    if inside is None:
        return Classified(Kind.FINAL)
    said = {"code": inside.code, "type": inside.type, "message": inside.message}
    about = _about(200, tuple(_codes(said)), said)
    if inside.status is None and not about:
        return Classified(Kind.FINAL)
    error = {**mapping(_error_of(body)), **{name: word for name, word in said.items() if word}}
    return _failed(inside.status or 400, headers, error, None)


def _failed(status: int, headers: Mapping[str, str], error: Any, now_ns: int | None) -> Classified:
    codes = tuple(_codes(error))
    about = _about(status, codes, error)
    detail = _detail(error, codes)
    if about:
        return Classified(Kind.REFUSE, Responsibility.PROVIDER, detail=detail, about=about)
    quota = any(word in code for code in codes for word in _QUOTA_WORDS)
    if quota or status in NEVER:
        pause = quota or status in PAUSING
        return Classified(Kind.REFUSE, Responsibility.USER, pause=pause, detail=detail)
    responsibility = Responsibility.PROVIDER if status >= 400 else Responsibility.USER
    if _asks_for_retry(status, headers.get("x-should-retry", "").strip().lower()):
        wait = retry_after_ms(headers, now_ns)
        wait = _delay_in(error) if wait is None else wait
        return Classified(Kind.RETRY, responsibility, wait, detail=detail)
    return Classified(Kind.REFUSE, responsibility, detail=detail)


def _about(status: int, codes: tuple[str, ...], error: Any) -> str:
    """Return what a refusal says of its item: `refused`, `too_long`, or nothing."""
    if not (200 <= status < 300 or status in _ABOUT_ITEMS):
        return ""
    if FILTERS & set(codes) or "flagged_input" in mapping(mapping(error).get("metadata")):
        return "refused"
    message = error if isinstance(error, str) else text(mapping(error).get("message")) or ""
    if status >= 400 and _FILTERED.search(message):
        return "refused"
    return "too_long" if TOO_LONG & set(codes) else ""


def _delay_in(error: Any, depth: int = 4) -> int | None:
    """Return the wait that an error's body asks for, in milliseconds; the first there is."""
    if depth == 0:
        return None
    for name, value in mapping(error).items():
        unit = _DELAYS.get(name.lower())
        if unit is not None and (wait := _delay(value, unit)) is not None:
            return wait
    inner = (*mapping(error).values(), *sequence(error))
    waits = (_delay_in(part, depth - 1) for part in inner if isinstance(part, dict | list))
    return next((wait for wait in waits if wait is not None), None)


def _delay(value: Any, unit: int) -> int | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float) or (isinstance(value, str) and _NUMBER.fullmatch(value)):
        return _bounded(_number(str(value)), unit)
    found = _DELAY.fullmatch(value) if isinstance(value, str) and value else None
    if found is None:
        return None
    hours, minutes, seconds, rest = (float(part or 0) for part in found.groups())
    return _bounded(((hours * 60 + minutes) * 60 + seconds) * 1000 + rest, 1)


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
    inner = (mapping(error).get(name) for name in ("innererror", "inner_error"))
    for part in (error, *inner):
        for name in ("code", "type", "status"):
            value = mapping(part).get(name)
            if isinstance(value, str | int) and not isinstance(value, bool):
                yield str(value).lower()


def _detail(error: Any, codes: tuple[str, ...]) -> str:
    message = error if isinstance(error, str) else mapping(error).get("message")
    parts = [*dict.fromkeys(codes), text(message) or ""]
    line = " ".join(": ".join(part for part in parts if part).split())
    return line[:_DETAIL_WIDTH]


def retry_after_ms(headers: Mapping[str, str], now_ns: int | None = None) -> int | None:
    """Return the wait that a server's headers ask for in whole milliseconds, or None."""
    if (wait := _bounded(_number(headers.get("retry-after-ms")), 1)) is not None:
        return wait
    if (wait := _bounded(_number(headers.get("retry-after")), 1000)) is not None:
        return wait
    return _bounded(_until(headers.get("retry-after"), headers.get("date"), now_ns), 1)


def _bounded(number: float | None, unit: int) -> int | None:
    """Return a number of units as milliseconds within bounds; None for what is no number."""
    if number is None or math.isnan(number):
        return None
    return math.ceil(min(max(number * unit, 0), LONGEST_WAIT_MS))


def _number(value: str | None) -> float | None:
    """Return a decimal number, infinite where it is larger than any; None for anything else."""
    if value is None or not _NUMBER.fullmatch(value):
        return None
    return float(value)


def _seconds(date: str | None) -> float | None:
    try:
        return parsedate_to_datetime(date).timestamp() if date is not None else None
    except (ValueError, OverflowError, OSError, TypeError):
        return None


def _until(date: str | None, sent: str | None, now_ns: int | None) -> float | None:
    then, now = _seconds(date), _seconds(sent)
    if now is None and now_ns is not None:
        now = now_ns / 1e9
    return None if then is None or now is None else (then - now) * 1000
