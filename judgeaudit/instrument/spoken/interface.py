"""What is read of a request that somebody else composed, and of a reply that was streamed.

The event stream is that of the HTML standard (server-sent events): fields `data:` of one event are
joined by line feeds, events are parted by blank lines. Only the data is read; the events' own names
stand in it again in all three APIs.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from judgeaudit.canonical import body_bytes, digest
from judgeaudit.instrument.provider.lenient import load_json, mapping, sequence, text
from judgeaudit.instrument.rules import Rules
from judgeaudit.model import JSON, Invalid, Message, Reply

STREAM = "text/event-stream"


@dataclass(frozen=True, slots=True)
class Said:
    """What a request says: its model, its messages as text, and what the answer must be.

    `schema` is the schema of a structured answer, `tools` the names of the tools on offer; `count`
    how many answers are asked for in one reply, `stream` whether it is to come in pieces.
    """

    model: str
    messages: tuple[Message, ...]
    schema: JSON = None
    tools: tuple[str, ...] = ()
    count: int = 1
    stream: bool = False

    def shape(self, api: str) -> str:
        """Return what all requests of this form share, as 12 hexadecimal digits.

        It covers API, model, schema, tools, whether there is a system message, and whether the
        model itself has spoken before; not the words.
        """
        roles = {message.role for message in self.messages}
        form = [self.model, self.schema, list(self.tools), "system" in roles, "assistant" in roles]
        return digest(json.dumps([api, *form], sort_keys=True).encode()).short


class Spoken(Protocol):
    """One API, read from the outside."""

    api: str
    path: str
    end_mark: bytes

    def said(self, document: Mapping[str, Any]) -> Said:
        """Return what a request's document says."""
        ...

    def read(self, body: bytes, rules: Rules) -> Reply | Invalid:
        """Return what a whole reply says."""
        ...

    def streamed(self, events: Iterator[Mapping[str, Any]], rules: Rules) -> Reply | Invalid:
        """Return what a streamed reply says once it is put together."""
        ...


def is_stream(headers: Mapping[str, str]) -> bool:
    """Return whether a reply is a stream of events; `headers` have lower-case names."""
    return headers.get("content-type", "").partition(";")[0].strip().lower() == STREAM


def events(body: bytes) -> Iterator[Mapping[str, Any]]:
    """Yield the data of each event that is a JSON object."""
    data: list[bytes] = []
    for line in (*body.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n"), b""):
        if line.startswith(b"data:"):
            data.append(line[5:].removeprefix(b" "))
        elif not line and data:
            joined, data = b"\n".join(data), []
            try:
                yield mapping(load_json(joined))
            except ValueError:
                continue  # `[DONE]`


def text_of(content: Any) -> str:
    """Return a message's content as text; what is no text stands as the name of its type."""
    if isinstance(content, str):
        return text(content) or ""
    parts = (mapping(part) for part in sequence(content))
    return "\n".join(text(part.get("text")) or f"[{part.get('type', 'part')}]" for part in parts)


def names_of(tools: Any, *, inner: str = "") -> tuple[str, ...]:
    """Return the names of the tools on offer."""
    found = (mapping(tool) for tool in sequence(tools))
    named = (mapping(tool.get(inner)) if inner and inner in tool else tool for tool in found)
    return tuple(text(tool.get("name")) or "?" for tool in named)


def messages_of(listed: Any) -> tuple[Message, ...]:
    """Return the messages of a list; `developer` is the newer word for `system`."""
    found = (mapping(message) for message in sequence(listed))
    return tuple(
        Message(
            "system" if message.get("role") == "developer" else text(message.get("role")) or "user",
            text_of(message.get("content")),
        )
        for message in found
    )


def put_together(document: Mapping[str, Any]) -> bytes:
    """Return the bytes of a document made from events."""
    return body_bytes(dict(document))
