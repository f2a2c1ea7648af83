"""What every API's reply is asked before its own fields: is it whole, and where does text stand.

* A document with an error in it is no reply, whatever text it holds beside (`failures`).
* An ending is whole where the API's record lists it; cut or declined where the word says so in any
  API; anything else is unknown, and the readouts tell the word. A null or absent ending is "not
  reported": OpenAI itself and KoboldCpp have sent whole answers without one.
* Text parts stay apart: their number travels with the text. A part whose type is not text is not
  read; where it holds text, its place is told.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from judgeaudit.instrument.provider import lenient
from judgeaudit.instrument.provider.failures import error_in
from judgeaudit.instrument.rules import Rules
from judgeaudit.model import Ending, Invalid, Reason

DECLINED = frozenset({"content_filter", "refusal", "safety"})
"""Endings by which an API says that it, or the model, declined."""

CUT = frozenset(
    {
        "length",
        "max_tokens",
        "max_output_tokens",
        "model_length",
        "model_context_window_exceeded",
    }
)
"""Endings by which an API says that the answer was cut."""

_SEAM = "\n"
"""What stands between text parts where they are shown; nothing reads across it."""


def opened(body: bytes, rules: Rules) -> Mapping[str, Any] | Invalid:
    """Return a reply's document, or `Invalid(bad_body)` where it is no JSON or holds an error."""
    try:
        document = lenient.load_json(body)
    except ValueError as error:
        return Invalid(Reason.BAD_BODY, f"not JSON: {error}"[:200])
    if rules > Rules.V1 and (found := error_in(document)) is not None:
        return Invalid(Reason.BAD_BODY, str(found))
    return lenient.mapping(document)


def ending_word(reason: Any) -> str | None:
    """Return an ending as written, also where it is no text; None where none was reported."""
    if reason is None or isinstance(reason, str):
        return lenient.text(reason)
    return json.dumps(reason)[:40]


def ending_of(reason: Any, whole: frozenset[str], rules: Rules) -> Ending:
    """Return what an API's word for the end of an answer means."""
    word = ending_word(reason)
    if word is None or (rules is Rules.V1 and not isinstance(reason, str)):
        return Ending.NOT_REPORTED
    if word in DECLINED:
        return Ending.DECLINED
    if word in CUT:
        return Ending.CUT
    return Ending.WHOLE if word in whole or rules is Rules.V1 else Ending.UNKNOWN


@dataclass(frozen=True, slots=True)
class Content:
    """An answer's text, of how many parts it is, and where other text stood."""

    text: str | None
    parts: int
    other: tuple[str, ...] = ()


def content_of(content: Any, rules: Rules) -> Content:
    """Return the text of a string, or of a list of parts that name their type."""
    if isinstance(content, str):
        return Content(lenient.text(content), 1)
    parts = [lenient.mapping(part) for part in lenient.sequence(content)]
    if rules is Rules.V1:
        return Content(_glued(parts), 1)
    texts = [lenient.text(p.get("text")) for p in parts if p.get("type", "text") in TEXT_TYPES]
    given = [text for text in texts if text is not None]
    said = [text for text in given if text.strip()] or given[:1]
    others = [p for p in parts if p.get("type", "text") not in TEXT_TYPES]
    return Content(_SEAM.join(said) if said else None, max(len(said), 1), places(others))


TEXT_TYPES = frozenset({"text", "output_text"})
"""The types of parts that are an answer's text."""


def _glued(parts: Iterable[Mapping[str, Any]]) -> str | None:
    found = [text for part in parts if (text := lenient.text(part.get("text"))) is not None]
    return "".join(found) if found else None


def places(parts: Iterable[Mapping[str, Any]]) -> tuple[str, ...]:
    """Return the types of parts that say something without being an answer's text."""
    return tuple(dict.fromkeys(str(part.get("type"))[:40] for part in parts))


def filled_places(message: Mapping[str, Any], names: Iterable[str]) -> tuple[str, ...]:
    """Return which of a message's fields, none of them its answer, hold something."""
    return tuple(name for name in names if _says(message.get(name)))


def _says(value: Any) -> bool:
    return bool(value.strip()) if isinstance(value, str) else bool(value)
