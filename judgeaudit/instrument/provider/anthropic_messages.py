"""Anthropic Messages. The API version is part of the experiment: it is registered and frozen.

Under `2023-06-01` a key travels in `x-api-key`; from `2026-10-21` on as a bearer token. The API has
no seed, no log-probabilities and no fingerprint; asking for one is refused here, never dropped.
System messages become the `system` field; a structured answer is `output_config.format`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, ClassVar

from judgeaudit.instrument.provider import lenient
from judgeaudit.instrument.provider.body import composed, refusal, wanted
from judgeaudit.instrument.provider.document import content_of, ending_of, ending_word, opened
from judgeaudit.instrument.provider.interface import Classified, ProviderRecord
from judgeaudit.instrument.provider.policy import classify
from judgeaudit.instrument.rules import CURRENT, Rules
from judgeaudit.model import JSON, Ask, Composed, Endpoint, Invalid, Reason, Reply, Usage

BEARER_SINCE = "2026-10-21"
_FIELDS = {
    "max_tokens": "max_tokens",
    "temperature": "temperature",
    "top_p": "top_p",
    "stop": "stop_sequences",
}
_VERSION = re.compile(r"\d{4}-\d{2}-\d{2}")


class AnthropicMessages:
    """`POST {base_url}/v1/messages`."""

    record: ClassVar[ProviderRecord] = ProviderRecord(
        api="anthropic.messages",
        title="Anthropic Messages",
        base_url="https://api.anthropic.com",
        key_env="ANTHROPIC_API_KEY",
        sdk="anthropic",
        path="/v1/messages",
        api_version="2023-06-01",
        # Newer models refuse sampling parameters.
        decoding={"temperature": "unset"},
        top_logprobs=0,
        whole=frozenset({"end_turn", "stop_sequence"}),
        token_fields=("max_tokens",),
        batch=True,
    )

    def compose(self, endpoint: Endpoint, ask: Ask, decoding: Mapping[str, JSON]) -> Composed:
        """Return the request to freeze; raises `InputError` for what the API cannot be asked."""
        if ask.top_logprobs is not None:
            raise refusal(
                endpoint,
                "top_logprobs",
                "the Messages API gives no log-probabilities",
                "choose another readout or another API",
            )
        system = "\n\n".join(m.content for m in ask.messages if m.role == "system")
        turns = [{"role": m.role, "content": m.content} for m in ask.messages if m.role != "system"]
        body: dict[str, JSON] = {
            "model": endpoint.model,
            "messages": turns,
            **_decoding(endpoint, wanted(endpoint, decoding)),
        }
        if system:
            body["system"] = system
        if ask.json_schema is not None:
            _add_format(endpoint, body, ask.json_schema)
        version = ("anthropic-version", _api_version(endpoint))
        return composed(endpoint, self.record.path, body, version)

    def read(self, body: bytes, rules: Rules = CURRENT) -> Reply | Invalid:
        """Return a message's text, or `Invalid(bad_body)`."""
        document = opened(body, rules)
        if isinstance(document, Invalid):
            return document
        if not isinstance(document.get("content"), list):
            return Invalid(Reason.BAD_BODY, "no content array")
        return _reply(document, rules)

    def classify(
        self, status: int, headers: Mapping[str, str], body: bytes, *, now_ns: int | None = None
    ) -> Classified:
        """Return what a status means under the retry policy."""
        return classify(status, headers, body, now_ns=now_ns)

    def auth(self, key: str, api_version: str | None = None) -> dict[str, str]:
        """Return the header that this API version reads a key from."""
        if api_version is not None and api_version >= BEARER_SINCE:
            return {"authorization": f"Bearer {key}"}
        return {"x-api-key": key}


def _api_version(endpoint: Endpoint) -> str:
    version = endpoint.api_version
    if version is None or not _VERSION.fullmatch(version):
        raise refusal(
            endpoint,
            "api_version",
            "missing" if version is None else f"{version!r}",
            'it is part of the experiment; write api_version = "2023-06-01" or a later one',
        )
    return version


def _decoding(endpoint: Endpoint, values: dict[str, JSON]) -> dict[str, JSON]:
    for name in values:
        if name not in _FIELDS:
            raise refusal(
                endpoint,
                f"decoding.{name}",
                "the Messages API has no such parameter",
                f'set decoding.{name} = "unset" for this endpoint',
            )
    if "max_tokens" not in values:
        raise refusal(endpoint, "decoding.max_tokens", "missing", "the Messages API requires it")
    return {_FIELDS[name]: value for name, value in values.items()}


def _add_format(endpoint: Endpoint, body: dict[str, JSON], schema: Mapping[str, JSON]) -> None:
    if "output_config" in endpoint.params:
        raise refusal(
            endpoint,
            "params.output_config",
            "the readout asks for a structured answer, which is set there",
            "leave it out, or turn the readout's structured answer off",
        )
    body["output_config"] = {"format": {"type": "json_schema", "schema": dict(schema)}}


def _reply(document: Mapping[str, Any], rules: Rules) -> Reply:
    usage = lenient.mapping(document.get("usage"))
    blocks, reason = document["content"], document.get("stop_reason")
    if rules is Rules.V1:
        blocks = [b for b in blocks if lenient.mapping(b).get("type", "text") == "text"]
    content = content_of(blocks, rules)
    return Reply(
        text=content.text,
        parts=content.parts,
        other=content.other,
        finish_reason=ending_word(reason),
        ending=ending_of(reason, AnthropicMessages.record.whole, rules),
        refusal=_refusal(document),
        model=lenient.filled(document.get("model")),
        service_tier=lenient.filled(usage.get("service_tier")),
        usage=_usage(usage),
    )


def _refusal(document: Mapping[str, Any]) -> str | None:
    if document.get("stop_reason") != "refusal":
        return None
    details = lenient.mapping(document.get("stop_details"))
    return lenient.filled(details.get("explanation")) or "stop_reason refusal"


def _usage(usage: Mapping[str, Any]) -> Usage:
    """`prompt` is all input: Anthropic's `input_tokens` leaves cached tokens out."""
    fresh = lenient.count(usage.get("input_tokens"))
    cached = lenient.count(usage.get("cache_read_input_tokens"))
    written = lenient.count(usage.get("cache_creation_input_tokens"))
    details = lenient.mapping(usage.get("output_tokens_details"))
    return Usage(
        prompt=None if fresh is None else fresh + (cached or 0) + (written or 0),
        completion=lenient.count(usage.get("output_tokens")),
        cached=cached,
        reasoning=lenient.count(details.get("thinking_tokens")),
    )
