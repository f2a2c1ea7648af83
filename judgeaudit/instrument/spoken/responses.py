"""OpenAI Responses as others speak it; studies of our own ask through Chat Completions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from judgeaudit.instrument.provider import lenient
from judgeaudit.instrument.provider.document import opened
from judgeaudit.instrument.provider.lenient import mapping, sequence, text
from judgeaudit.instrument.rules import Rules
from judgeaudit.instrument.spoken.interface import Said, messages_of, names_of, put_together
from judgeaudit.model import Ending, Invalid, Message, Reason, Reply, Usage

_ENDS = frozenset({"response.completed", "response.incomplete", "response.failed"})
_REASONS = {"max_output_tokens": Ending.CUT, "content_filter": Ending.DECLINED}


class Responses:
    """`POST .../responses`."""

    api = "openai.responses"
    path = "/responses"
    end_mark = b'"response.completed"'

    def said(self, document: Mapping[str, Any]) -> Said:
        """Return what a request's document says."""
        told = document.get("instructions")
        system = (Message("system", told),) if isinstance(told, str) else ()
        asked = document.get("input")
        turns = (Message("user", asked),) if isinstance(asked, str) else messages_of(asked)
        return Said(
            model=text(document.get("model")) or "",
            messages=system + turns,
            schema=mapping(mapping(document.get("text")).get("format")) or None,
            tools=names_of(document.get("tools")),
            stream=document.get("stream") is True,
        )

    def read(self, body: bytes, rules: Rules) -> Reply | Invalid:
        """Return the text of the only message, or `Invalid(bad_body)`."""
        document = opened(body, rules)
        if isinstance(document, Invalid):
            return document
        if not isinstance(document.get("output"), list):
            return Invalid(Reason.BAD_BODY, "no output array")
        return _reply(document)

    def streamed(self, events: Iterator[Mapping[str, Any]], rules: Rules) -> Reply | Invalid:
        """Return what the last event, which holds the whole response, says."""
        for event in events:
            if event.get("type") == "error":
                return self.read(put_together({"error": event.get("error") or event}), rules)
            if event.get("type") in _ENDS:
                return self.read(put_together(mapping(event.get("response"))), rules)
        return Invalid(Reason.TRUNCATED, "the stream ended before response.completed")


def _reply(document: Mapping[str, Any]) -> Reply:
    parts: list[Mapping[str, Any]] = []
    other: list[str] = []
    for item in map(mapping, document["output"]):
        if item.get("type") == "message":
            parts += map(mapping, sequence(item.get("content")))
        elif item.get("type") != "reasoning":
            other.append(f"output {item.get('type')}")
    texts = [text(p.get("text")) or "" for p in parts if p.get("type") == "output_text"]
    refusals = [lenient.filled(p.get("refusal")) for p in parts if p.get("type") == "refusal"]
    word, ending = _ending(document)
    return Reply(
        text="\n".join(texts) if texts else None,
        parts=len(texts),
        other=tuple(other),
        finish_reason=word,
        ending=ending,
        refusal=next((said for said in refusals if said), None),
        model=lenient.filled(document.get("model")),
        service_tier=lenient.filled(document.get("service_tier")),
        usage=_usage(mapping(document.get("usage"))),
    )


def _ending(document: Mapping[str, Any]) -> tuple[str | None, Ending]:
    status = text(document.get("status"))
    if status is None:
        return None, Ending.NOT_REPORTED
    if status == "completed":
        return status, Ending.WHOLE
    why = text(mapping(document.get("incomplete_details")).get("reason"))
    return why or status, _REASONS.get(why or "", Ending.UNKNOWN)


def _usage(usage: Mapping[str, Any]) -> Usage:
    return Usage(
        prompt=lenient.count(usage.get("input_tokens")),
        completion=lenient.count(usage.get("output_tokens")),
        cached=lenient.count(mapping(usage.get("input_tokens_details")).get("cached_tokens")),
        reasoning=lenient.count(
            mapping(usage.get("output_tokens_details")).get("reasoning_tokens")
        ),
    )
