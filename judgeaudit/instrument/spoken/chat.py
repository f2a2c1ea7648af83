"""OpenAI Chat Completions as others speak it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from judgeaudit.instrument.provider.lenient import count, mapping, sequence, text
from judgeaudit.instrument.provider.openai_chat import OpenAIChat
from judgeaudit.instrument.rules import Rules
from judgeaudit.instrument.spoken.interface import Said, messages_of, names_of, put_together
from judgeaudit.model import Invalid, Reason, Reply

_KEPT = ("id", "created", "model", "system_fingerprint", "service_tier", "provider", "usage")


class Chat:
    """`POST .../chat/completions`."""

    api = "openai.chat"
    path = "/chat/completions"
    end_mark = b"data: [DONE]"

    def said(self, document: Mapping[str, Any]) -> Said:
        """Return what a request's document says."""
        format_ = mapping(document.get("response_format"))
        return Said(
            model=text(document.get("model")) or "",
            messages=messages_of(document.get("messages")),
            schema=format_.get("json_schema") or format_.get("type"),
            tools=names_of(document.get("tools"), inner="function"),
            count=count(document.get("n")) or 1,
            stream=document.get("stream") is True,
        )

    def read(self, body: bytes, rules: Rules) -> Reply | Invalid:
        """Return the only choice."""
        return OpenAIChat().read(body, rules)

    def streamed(self, events: Iterator[Mapping[str, Any]], rules: Rules) -> Reply | Invalid:
        """Return the only choice, its pieces joined; `Invalid` where no end was told."""
        whole: dict[str, Any] = {}
        choices: dict[int, _Choice] = {}
        for event in events:
            if event.get("error"):
                whole["error"] = event["error"]
            whole |= {name: event[name] for name in _KEPT if event.get(name) is not None}
            for piece in map(mapping, sequence(event.get("choices"))):
                choices.setdefault(count(piece.get("index")) or 0, _Choice()).add(piece)
        if "error" not in whole and not any(choice.reason for choice in choices.values()):
            return Invalid(Reason.TRUNCATED, "the stream told no finish reason")
        whole["choices"] = [choice.document() for _, choice in sorted(choices.items())]
        return self.read(put_together(whole), rules)


class _Choice:
    """One choice as its pieces come."""

    def __init__(self) -> None:
        self.texts: dict[str, list[str]] = {}
        self.tools: dict[int, dict[str, Any]] = {}
        self.logprobs: list[Any] = []
        self.reason: Any = None

    def add(self, piece: Mapping[str, Any]) -> None:
        """Take in one piece."""
        delta = mapping(piece.get("delta"))
        for name in ("content", "refusal", "reasoning_content", "reasoning"):
            if isinstance(delta.get(name), str):
                self.texts.setdefault(name, []).append(delta[name])
        for part in map(mapping, sequence(delta.get("tool_calls"))):
            function = mapping(part.get("function"))
            known = self.tools.setdefault(
                count(part.get("index")) or 0, {"name": "", "arguments": ""}
            )
            for name in known:
                known[name] += text(function.get(name)) or ""
        self.logprobs += sequence(mapping(piece.get("logprobs")).get("content"))
        self.reason = piece.get("finish_reason") or self.reason

    def document(self) -> dict[str, Any]:
        """Return the choice as a reply without streaming has it."""
        message: dict[str, Any] = {"role": "assistant", "content": None}
        message |= {name: "".join(texts) for name, texts in self.texts.items()}
        if self.tools:
            tools = [{"type": "function", "function": f} for _, f in sorted(self.tools.items())]
            message["tool_calls"] = tools
        found: dict[str, Any] = {"message": message, "finish_reason": self.reason}
        if self.logprobs:
            found["logprobs"] = {"content": self.logprobs}
        return found
