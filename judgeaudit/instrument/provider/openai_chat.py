"""OpenAI Chat Completions, and every server that speaks it (OpenRouter, vLLM, llama.cpp ...).

Chat Completions and not Responses, which has neither `seed` nor `system_fingerprint`. What differs
between such servers goes into an endpoint's `params` in the server's own name: OpenRouter's
`provider` block, Mistral's `random_seed`, `reasoning_effort`, `service_tier`, `store`. Models that
count reasoning need `decoding.max_tokens_field = "max_completion_tokens"`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from judgeaudit.instrument.provider import lenient
from judgeaudit.instrument.provider.body import composed, refusal, wanted
from judgeaudit.instrument.provider.document import (
    content_of,
    ending_of,
    ending_word,
    filled_places,
    opened,
)
from judgeaudit.instrument.provider.interface import Classified, ProviderRecord
from judgeaudit.instrument.provider.policy import classify
from judgeaudit.instrument.rules import CURRENT, Rules
from judgeaudit.model import (
    JSON,
    Ask,
    Composed,
    Endpoint,
    Invalid,
    Message,
    Reason,
    Reply,
    TokenLogprob,
    Usage,
)

ASIDE = ("reasoning_content", "reasoning", "thinking", "reasoning_details", "tool_calls")
"""Fields of a message that hold no answer: reasoning under its several names, calls of tools."""


class OpenAIChat:
    """`POST {base_url}/chat/completions`."""

    record: ClassVar[ProviderRecord] = ProviderRecord(
        api="openai.chat",
        title="OpenAI Chat Completions",
        base_url="https://api.openai.com/v1",
        key_env="OPENAI_API_KEY",
        sdk="openai",
        path="/chat/completions",
        api_version=None,
        decoding={},
        top_logprobs=20,
        # `stop` is OpenAI's; the others are what Text Generation Inference writes for it.
        whole=frozenset({"stop", "eos_token", "stop_sequence"}),
        token_fields=("max_tokens", "max_completion_tokens"),
        batch=True,
    )

    def compose(self, endpoint: Endpoint, ask: Ask, decoding: Mapping[str, JSON]) -> Composed:
        """Return the request to freeze; raises `InputError` for what the API cannot be asked."""
        body: dict[str, JSON] = {
            "model": endpoint.model,
            "messages": [_message(message) for message in ask.messages],
            **_decoding(endpoint, wanted(endpoint, decoding)),
            **self._logprobs(endpoint, ask.top_logprobs),
        }
        if ask.json_schema is not None:
            body["response_format"] = _response_format(ask.json_schema)
        return composed(endpoint, self.record.path, body)

    def _logprobs(self, endpoint: Endpoint, top: int | None) -> dict[str, JSON]:
        if top is None:
            return {}
        most = self.record.top_logprobs
        if not 0 <= top <= most:
            raise refusal(endpoint, "top_logprobs", f"{top}", f"this API gives 0 to {most}")
        return {"logprobs": True, "top_logprobs": top}

    def read(self, body: bytes, rules: Rules = CURRENT) -> Reply | Invalid:
        """Return the only choice of a chat completion, or `Invalid(bad_body)`."""
        document = opened(body, rules)
        if isinstance(document, Invalid):
            return document
        choices = lenient.sequence(document.get("choices"))
        choice = lenient.mapping(choices[0]) if choices else {}
        if not isinstance(choice.get("message"), dict):
            return Invalid(Reason.BAD_BODY, "no choices[0].message")
        if len(choices) > 1 and rules > Rules.V1:
            return Invalid(Reason.BAD_BODY, f"{len(choices)} choices, where one was asked")
        return _reply(document, choice, choice["message"], rules)

    def classify(
        self, status: int, headers: Mapping[str, str], body: bytes, *, now_ns: int | None = None
    ) -> Classified:
        """Return what a status means under the retry policy."""
        return classify(status, headers, body, now_ns=now_ns)

    def auth(self, key: str, api_version: str | None = None) -> dict[str, str]:
        """Return the bearer header."""
        return {"authorization": f"Bearer {key}"}


def _message(message: Message) -> dict[str, str]:
    return {"role": message.role, "content": message.content}


def _decoding(endpoint: Endpoint, values: dict[str, JSON]) -> dict[str, JSON]:
    name = values.pop("max_tokens_field", "max_tokens")
    fields = OpenAIChat.record.token_fields
    if name not in fields:
        raise refusal(
            endpoint, "decoding.max_tokens_field", f"{name!r}", f"use {' or '.join(fields)}"
        )
    return {name if key == "max_tokens" else key: value for key, value in values.items()}


def _response_format(schema: Mapping[str, JSON]) -> dict[str, JSON]:
    return {
        "type": "json_schema",
        "json_schema": {"name": "answer", "strict": True, "schema": dict(schema)},
    }


def _reply(
    document: Mapping[str, Any],
    choice: Mapping[str, Any],
    message: Mapping[str, Any],
    rules: Rules,
) -> Reply:
    content, reason = content_of(message.get("content"), rules), choice.get("finish_reason")
    return Reply(
        text=content.text,
        parts=content.parts,
        other=content.other + filled_places(message, ASIDE),
        finish_reason=ending_word(reason),
        ending=ending_of(reason, OpenAIChat.record.whole, rules),
        refusal=_refusal(message),
        positions=_positions(lenient.mapping(choice.get("logprobs")).get("content")),
        model=lenient.filled(document.get("model")),
        fingerprint=lenient.filled(document.get("system_fingerprint")),
        service_tier=lenient.filled(document.get("service_tier")),
        provider=lenient.filled(document.get("provider")),
        usage=_usage(lenient.mapping(document.get("usage"))),
    )


def _refusal(message: Mapping[str, Any]) -> str | None:
    """Return the text of a refusal, also where it is a part of the content."""
    parts = (lenient.mapping(part) for part in lenient.sequence(message.get("content")))
    found = [lenient.filled(part.get("refusal")) for part in parts]
    said = [lenient.filled(message.get("refusal")), *found]
    return next((text for text in said if text is not None), None)


def _usage(usage: Mapping[str, Any]) -> Usage:
    prompt = lenient.mapping(usage.get("prompt_tokens_details"))
    completion = lenient.mapping(usage.get("completion_tokens_details"))
    return Usage(
        prompt=lenient.count(usage.get("prompt_tokens")),
        completion=lenient.count(usage.get("completion_tokens")),
        cached=lenient.count(prompt.get("cached_tokens")),
        reasoning=lenient.count(completion.get("reasoning_tokens")),
    )


def _positions(content: Any) -> tuple[tuple[TokenLogprob, ...], ...] | None:
    """Each position's alternatives in the reply's order; the answered token where none is shown."""
    if not isinstance(content, list):
        return None
    return tuple(
        _entries(lenient.sequence(lenient.mapping(at).get("top_logprobs")) or [at])
        for at in content
    )


def _entries(alternatives: Any) -> tuple[TokenLogprob, ...]:
    found = (lenient.mapping(entry) for entry in alternatives)
    return tuple(
        TokenLogprob(
            lenient.text(entry.get("token")) or "",
            lenient.real(entry.get("logprob")),
            lenient.octets(entry.get("bytes")),
        )
        for entry in found
    )
