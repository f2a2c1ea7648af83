"""How 0.1 read the replies of its two APIs: the body's bytes to what readouts saw of them.

Only what a reading can depend on: text, ending, refusal and log-probabilities. Rules that were
mended later, and hold for what 0.1 froze: text parts are joined without a seam; the API's ending is
passed on unjudged; an error object beside an answer is not looked at.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from judgeaudit.model import Invalid, Reason, Reply, TokenLogprob

ReadReply = Callable[[bytes], Reply | Invalid]


def read_openai_chat(body: bytes) -> Reply | Invalid:
    """Return the first choice of a chat completion, or `Invalid(bad_body)`."""
    document = _document(body)
    if isinstance(document, Invalid):
        return document
    choices = _sequence(document.get("choices"))
    choice = _mapping(choices[0]) if choices else {}
    message = choice.get("message")
    if not isinstance(message, dict):
        return Invalid(Reason.BAD_BODY, _no_choice(document))
    return Reply(
        text=_joined(message.get("content")),
        finish_reason=_filled(choice.get("finish_reason")),
        refusal=_filled(message.get("refusal")),
        positions=_positions(_mapping(choice.get("logprobs")).get("content")),
    )


def read_anthropic_messages(body: bytes) -> Reply | Invalid:
    """Return a message's text, or `Invalid(bad_body)`."""
    document = _document(body)
    if isinstance(document, Invalid):
        return document
    content = document.get("content")
    if not isinstance(content, list):
        return Invalid(Reason.BAD_BODY, "no content array")
    blocks = [_mapping(block) for block in content]
    ending = document.get("stop_reason")
    explained = _filled(_mapping(document.get("stop_details")).get("explanation"))
    return Reply(
        text=_joined([block for block in blocks if block.get("type", "text") == "text"]),
        finish_reason=_filled(ending),
        refusal=(explained or "stop_reason refusal") if ending == "refusal" else None,
    )


READERS: Mapping[str, ReadReply] = {
    "openai.chat": read_openai_chat,
    "anthropic.messages": read_anthropic_messages,
}
"""The APIs that a study of format 1 can name."""


def _document(body: bytes) -> Mapping[str, Any] | Invalid:
    try:
        return _mapping(json.loads(body.decode("utf-8-sig"), parse_constant=float))
    except RecursionError:
        return Invalid(Reason.BAD_BODY, "not JSON: nested too deep")
    except ValueError as error:
        return Invalid(Reason.BAD_BODY, f"not JSON: {error}"[:200])


def _no_choice(document: Mapping[str, Any]) -> str:
    error = document.get("error")
    if error is None:
        return "no choices[0].message"
    said = _text(_mapping(error).get("message")) or _text(error) or ""
    return f"an error under a success status: {said}"[:200]


def _positions(content: Any) -> tuple[tuple[TokenLogprob, ...], ...] | None:
    if not isinstance(content, list):
        return None
    return tuple(
        tuple(map(_entry, _sequence(_mapping(at).get("top_logprobs")) or [at])) for at in content
    )


def _entry(value: Any) -> TokenLogprob:
    entry = _mapping(value)
    token, logprob = _text(entry.get("token")) or "", _real(entry.get("logprob"))
    return TokenLogprob(token, logprob, _octets(entry.get("bytes")))


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _sequence(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list) else ()


def _text(value: Any) -> str | None:
    if not isinstance(value, str):
        return None
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return value


def _filled(value: Any) -> str | None:
    return _text(value) or None


def _joined(content: Any) -> str | None:
    if isinstance(content, str):
        return _text(content)
    parts = [_text(_mapping(part).get("text")) for part in _sequence(content)]
    found = [part for part in parts if part is not None]
    return "".join(found) if found else None


def _real(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return math.nan
    try:
        return float(value)
    except OverflowError:
        return math.nan


def _octets(value: Any) -> bytes | None:
    if not isinstance(value, list):
        return None
    if not all(type(byte) is int and 0 <= byte <= 255 for byte in value):
        return None
    return bytes(value)
