"""Requests and replies in the two shapes: OpenAI Chat Completions and Anthropic Messages.

Requests are checked as strictly as the parameters that carry a study: a wrong type or range is a
`BadRequest`, never a silent default. Parameters that the simulator does not know are ignored.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from judgeaudit.canonical import digest

OPENAI, ANTHROPIC = "openai.chat", "anthropic.messages"
_CHARACTERS_A_TOKEN = 3


class BadRequest(Exception):
    """A request that a provider would answer with 400; the text names the parameter."""


@dataclass(frozen=True, slots=True)
class Request:
    """What a request body says, in either shape; `top` is the number of alternatives asked for."""

    messages: list[tuple[str, str]]
    schema: Mapping[str, Any] | None
    logprobs: bool
    top: int
    max_tokens: int | None


def read_request(api: str, body: Mapping[str, Any]) -> Request:
    """Return the request in `body`; raises `BadRequest`."""
    if not isinstance(body.get("model"), str):
        raise BadRequest("model: a string is required")
    highest = 2 if api == OPENAI else 1
    _in_range(body, "temperature", 0, highest)
    _in_range(body, "top_p", 0, 1)
    return _openai_request(body) if api == OPENAI else _anthropic_request(body)


def _openai_request(body: Mapping[str, Any]) -> Request:
    for name in ("max_tokens", "max_completion_tokens"):
        _positive_whole(body, name)
    logprobs = body.get("logprobs") or False
    if not isinstance(logprobs, bool):
        raise BadRequest("logprobs: true or false")
    _in_range(body, "top_logprobs", 0, 20)
    if body.get("top_logprobs") is not None and not logprobs:
        raise BadRequest("top_logprobs: needs logprobs = true")
    form = body.get("response_format") or {}
    schema = _object(_object(form, "response_format").get("json_schema")).get("schema")
    return Request(
        messages=_messages(body.get("messages")),
        schema=_object(schema),
        logprobs=logprobs,
        top=int(body.get("top_logprobs") or 0),
        max_tokens=body.get("max_completion_tokens") or body.get("max_tokens"),
    )


def _anthropic_request(body: Mapping[str, Any]) -> Request:
    if body.get("max_tokens") is None:
        raise BadRequest("max_tokens: Field required")
    _positive_whole(body, "max_tokens")
    messages = _messages(body.get("messages"))
    if any(role not in ("user", "assistant") for role, _ in messages):
        raise BadRequest("messages: roles are user and assistant")
    if system := _text_of(body.get("system") or ""):
        messages.insert(0, ("system", system))
    form = _object(_object(body.get("output_config")).get("format") or body.get("output_format"))
    return Request(messages, _object(form.get("schema")), False, 0, body["max_tokens"])


def _messages(value: Any) -> list[tuple[str, str]]:
    if not isinstance(value, list) or not value:
        raise BadRequest("messages: a non-empty array is required")
    found = []
    for number, message in enumerate(value):
        if not isinstance(message, Mapping) or not isinstance(message.get("role"), str):
            raise BadRequest(f"messages[{number}]: an object with role and content is required")
        role = "system" if message["role"] == "developer" else message["role"]
        found.append((role, _text_of(message.get("content"))))
    return found


def _text_of(content: Any) -> str:
    """Return a message's text: a string, or the text parts of a list joined."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        parts = [part for part in content if isinstance(part, Mapping)]
        return "\n".join(str(part["text"]) for part in parts if part.get("type") == "text")
    raise BadRequest("content: a string or an array of parts is required")


def _object(value: Any, name: str = "") -> Mapping[str, Any]:
    if value is None or isinstance(value, Mapping):
        return value or {}
    raise BadRequest(f"{name or 'json_schema'}: an object is required")


def _in_range(body: Mapping[str, Any], name: str, low: float, high: float) -> None:
    value = body.get(name)
    if value is None:
        return
    if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
        raise BadRequest(f"{name}: {value!r} is not a number from {low} to {high}")


def _positive_whole(body: Mapping[str, Any], name: str) -> None:
    value = body.get(name)
    if value is None:
        return
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise BadRequest(f"{name}: {value!r} is not a positive whole number")


@dataclass(frozen=True, slots=True)
class Said:
    """What the judge says, before it takes a provider's shape.

    `finish` is stop, length or refusal; `alternatives` as in `Answer`.
    """

    text: str
    finish: str
    alternatives: tuple[tuple[str, float], ...]
    model: str
    fingerprint: str
    id: str
    created: int


def cut(text: str, max_tokens: int | None) -> tuple[str, str]:
    """Return the text within the token limit and its finish; a token is three characters here."""
    if max_tokens is None or len(text) <= max_tokens * _CHARACTERS_A_TOKEN:
        return text, "stop"
    return text[: max_tokens * _CHARACTERS_A_TOKEN], "length"


def tokens(text: str) -> int:
    """Return the number of simulated tokens in `text`."""
    return -(-len(text) // _CHARACTERS_A_TOKEN)


def openai_body(said: Said, request: Request) -> dict[str, Any]:
    """Return a `chat.completion` object."""
    refused = said.finish == "refusal"
    message: dict[str, Any] = {
        "role": "assistant",
        "content": None if refused else said.text,
        "refusal": said.text if refused else None,
        "annotations": [],
    }
    choice = {
        "index": 0,
        "message": message,
        "logprobs": _openai_logprobs(said, request.top) if request.logprobs else None,
        "finish_reason": "stop" if refused else said.finish,
    }
    return {
        "id": f"chatcmpl-simulated-{said.id}",
        "object": "chat.completion",
        "created": said.created,
        "model": said.model,
        "choices": [choice],
        "usage": _openai_usage(said, request),
        "service_tier": "default",
        "system_fingerprint": said.fingerprint,
    }


def _openai_usage(said: Said, request: Request) -> dict[str, Any]:
    prompt, completion = _prompt_tokens(request), max(tokens(said.text), 1)
    return {
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": prompt + completion,
        "prompt_tokens_details": {"cached_tokens": 0, "audio_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": 0, "audio_tokens": 0},
    }


def _openai_logprobs(said: Said, top: int) -> dict[str, Any]:
    entries = said.alternatives or ((said.text, 0.0),)
    shown = [_entry(token, logprob) for token, logprob in entries[:top]]
    return {"content": [{**_entry(*entries[0]), "top_logprobs": shown}], "refusal": None}


def _entry(token: str, logprob: float) -> dict[str, Any]:
    return {"token": token, "logprob": logprob, "bytes": list(token.encode())}


def anthropic_body(said: Said, request: Request) -> dict[str, Any]:
    """Return a `message` object."""
    reasons = {"stop": "end_turn", "length": "max_tokens", "refusal": "refusal"}
    return {
        "id": f"msg_simulated_{said.id}",
        "type": "message",
        "role": "assistant",
        "model": said.model,
        "content": [{"type": "text", "text": said.text}] if said.text else [],
        "stop_reason": reasons[said.finish],
        "stop_sequence": None,
        "usage": {
            "input_tokens": _prompt_tokens(request),
            "output_tokens": max(tokens(said.text), 1),
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 0,
            "service_tier": "standard",
        },
    }


def _prompt_tokens(request: Request) -> int:
    return sum(tokens(text) + 4 for _, text in request.messages)


def error_body(api: str, kind: str, message: str, code: str | None = None) -> dict[str, Any]:
    """Return a provider's error object; `kind` is the OpenAI type."""
    if api == ANTHROPIC:
        return {
            "type": "error",
            "error": {"type": kind, "message": message},
            "request_id": "req_simulated_" + digest(message.encode()).short,
        }
    return {"error": {"message": message, "type": kind, "param": None, "code": code}}
