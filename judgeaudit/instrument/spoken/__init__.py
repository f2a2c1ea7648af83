"""What other people's programs say to a model, by API: one file an API, one entry here.

A provider composes requests of our own; here requests are read that somebody else composed, and
replies in every form in which they come, streamed ones put together to the document that the API
gives without streaming, so that one reader reads both.
"""

from __future__ import annotations

from collections.abc import Mapping

from judgeaudit.errors import InputError
from judgeaudit.instrument.provider.compressed import readable
from judgeaudit.instrument.provider.lenient import load_json
from judgeaudit.instrument.rules import CURRENT, Rules
from judgeaudit.instrument.spoken.chat import Chat
from judgeaudit.instrument.spoken.interface import Said, Spoken, events, is_stream
from judgeaudit.instrument.spoken.messages import Messages
from judgeaudit.instrument.spoken.responses import Responses
from judgeaudit.model import Invalid, Reason, Reply

__all__ = [
    "CATALOGUE",
    "Said",
    "Spoken",
    "api_of",
    "is_stream",
    "plain_reply_of",
    "reply_of",
    "said",
    "stream_ends",
]

CATALOGUE: dict[str, Spoken] = {found.api: found for found in (Chat(), Messages(), Responses())}


def api_of(method: str, path: str) -> str | None:
    """Return the API that a request speaks, by its method and path; None where it is not known."""
    if method != "POST":
        return None
    end = path.rstrip("/")
    return next((api for api, spoken in CATALOGUE.items() if end.endswith(spoken.path)), None)


def said(api: str, body: bytes) -> Said | None:
    """Return what a request body says; None where it is no JSON object."""
    try:
        document = load_json(body)
    except ValueError:
        return None
    return CATALOGUE[api].said(document) if isinstance(document, dict) else None


def reply_of(
    api: str, body: bytes, headers: Mapping[str, str], rules: Rules = CURRENT
) -> Reply | Invalid:
    """Return what a success says, streamed or whole, packed or plain.

    `headers` have lower-case names.
    """
    plain = readable(body, headers)
    return plain if isinstance(plain, Invalid) else plain_reply_of(api, plain, headers, rules)


def plain_reply_of(
    api: str, plain: bytes, headers: Mapping[str, str], rules: Rules = CURRENT
) -> Reply | Invalid:
    """Return what a success says whose body was unpacked before, whatever its headers say."""
    spoken = CATALOGUE[api]
    if not is_stream(headers):
        return spoken.read(plain, rules)
    try:
        return spoken.streamed(events(plain), rules)
    except InputError as error:  # half a character, a number beyond all floats
        return Invalid(Reason.BAD_BODY, f"the stream cannot be put together: {error.found}")


def stream_ends(api: str | None, chunk: bytes) -> bool:
    """Return whether a piece of a stream holds the mark after which nothing more is said."""
    return api is not None and CATALOGUE[api].end_mark in chunk
