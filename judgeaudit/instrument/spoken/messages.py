"""Anthropic Messages as others speak it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from judgeaudit.instrument.provider.anthropic_messages import AnthropicMessages
from judgeaudit.instrument.provider.lenient import count, mapping, text
from judgeaudit.instrument.rules import Rules
from judgeaudit.instrument.spoken.interface import (
    Said,
    messages_of,
    names_of,
    put_together,
    text_of,
)
from judgeaudit.model import Invalid, Message, Reason, Reply

_GROWS = {"text_delta": "text", "thinking_delta": "thinking", "input_json_delta": "partial_json"}


class Messages:
    """`POST .../messages`."""

    api = "anthropic.messages"
    path = "/messages"
    end_mark = b'"message_stop"'

    def said(self, document: Mapping[str, Any]) -> Said:
        """Return what a request's document says."""
        system = document.get("system")
        first = (Message("system", text_of(system)),) if system else ()
        config = mapping(document.get("output_config"))
        return Said(
            model=text(document.get("model")) or "",
            messages=first + messages_of(document.get("messages")),
            schema=config.get("format") or document.get("output_format"),
            tools=names_of(document.get("tools")),
            stream=document.get("stream") is True,
        )

    def read(self, body: bytes, rules: Rules) -> Reply | Invalid:
        """Return the message's text."""
        return AnthropicMessages().read(body, rules)

    def streamed(self, events: Iterator[Mapping[str, Any]], rules: Rules) -> Reply | Invalid:
        """Return the message's text, its pieces joined; `Invalid` where no end was told."""
        whole: dict[str, Any] = {}
        blocks: dict[int, dict[str, Any]] = {}
        ended = False
        for event in events:
            kind, place = event.get("type"), count(event.get("index")) or 0
            if kind == "error":
                whole["error"] = event.get("error") or event
            elif kind == "message_start":
                whole |= mapping(event.get("message"))
            elif kind == "content_block_start":
                blocks[place] = dict(mapping(event.get("content_block")))
            elif kind == "content_block_delta":
                _grow(blocks.setdefault(place, {}), mapping(event.get("delta")))
            elif kind == "message_delta":
                whole |= {n: v for n, v in mapping(event.get("delta")).items() if v is not None}
                whole["usage"] = {**mapping(whole.get("usage")), **mapping(event.get("usage"))}
            ended |= kind == "message_stop"
        if not ended and "error" not in whole:
            return Invalid(Reason.TRUNCATED, "the stream ended before message_stop")
        whole["content"] = [block for _, block in sorted(blocks.items())]
        return self.read(put_together(whole), rules)


def _grow(block: dict[str, Any], delta: Mapping[str, Any]) -> None:
    name = _GROWS.get(str(delta.get("type")))
    if name is not None and isinstance(delta.get(name), str):
        block[name] = (block.get(name) or "") + delta[name]
