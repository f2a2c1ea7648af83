"""An error that a server wrote into a document it sent under a success status.

Gateways answer 200 and put what went wrong into the body, beside a piece of an answer or instead
of one. Such an error overrides whatever text stands with it. It is looked for everywhere in the
document, since servers differ in the place:

* a key `error` that is neither null nor empty, at the top, in a choice, a message or an item;
* an object whose `type` or `object` is `error` (Anthropic; vLLM, SGLang);
* a list `errors` at the top that is not empty.

What a content filter says of itself is left out: Azure reports there that it could not look at an
answer that is whole.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from judgeaudit.instrument.provider.lenient import load_json, mapping, text

_FILTERS = frozenset({"content_filter_results", "content_filter_result", "prompt_filter_results"})
_DEEPEST = 8
_WIDTH = 200

STATUS_OF = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "invalid_api_key": 401,
    "billing_error": 402,
    "insufficient_quota": 429,
    "permission_error": 403,
    "not_found_error": 404,
    "model_not_found": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "rate_limit_exceeded": 429,
    "resource_exhausted": 429,
    "too_many_requests": 429,
    "api_error": 500,
    "server_error": 500,
    "internal_error": 500,
    "internal_server_error": 500,
    "unavailable": 503,
    "service_unavailable": 503,
    "deadline_exceeded": 504,
    "timeout_error": 504,
    "overloaded_error": 529,
}
"""The HTTP status that providers document for an error's code or type, in lower case."""


@dataclass(frozen=True, slots=True)
class EmbeddedError:
    """An error inside a 2xx document.

    `status` is the HTTP status that its code, status or type stands for, None where none of them
    is known; `code` and `type` are as written ("" where absent); `message` is one line.
    """

    status: int | None
    code: str = ""
    type: str = ""
    message: str = ""

    def __str__(self) -> str:
        """Say the error on one line."""
        words = dict.fromkeys(part for part in (self.code, self.type, self.message) if part)
        return f"an error under a success status: {': '.join(words) or 'nothing said'}"[:_WIDTH]


def embedded_error(body: bytes) -> EmbeddedError | None:
    """Return the first error in a response body; None where there is none, or it is no JSON."""
    try:
        return error_in(load_json(body))
    except ValueError:
        return None


def error_in(document: Any) -> EmbeddedError | None:
    """Return the first error in a JSON document, None where there is none."""
    errors = mapping(document).get("errors")
    found = errors if isinstance(errors, list) else []
    error = next((entry for entry in (*_errors(document, _DEEPEST), *found) if entry), None)
    return None if error is None else _read(error)


def _errors(value: Any, depth: int) -> Iterator[Any]:
    """Yield what stands where errors stand, outer places first."""
    if depth == 0:
        return
    inner = value if isinstance(value, list) else []
    if isinstance(value, dict):
        if "error" in (value.get("type"), value.get("object")):
            yield value.get("error") or value
        yield value.get("error")
        inner = [part for name, part in value.items() if name not in _FILTERS]
    for part in inner:
        yield from _errors(part, depth - 1)


def _read(error: Any) -> EmbeddedError:
    if not isinstance(error, dict):
        return EmbeddedError(None, message=_line(error))
    code, kind = _line(error.get("code")), _line(error.get("type"))
    named = (code, _line(error.get("status")), kind)
    status = next((found for name in named if (found := _status(name)) is not None), None)
    return EmbeddedError(status, code, kind, _line(error.get("message")))


def _status(name: str) -> int | None:
    if name.isascii() and name.isdecimal() and len(name) == 3 and name[0] in "45":
        return int(name)
    return STATUS_OF.get(name.lower())


def _line(value: Any) -> str:
    if value is None or isinstance(value, bool | dict | list):
        return ""
    said = text(value) if isinstance(value, str) else str(value)
    return " ".join((said or "").split())[:_WIDTH]
