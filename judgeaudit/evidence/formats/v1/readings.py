"""How 0.1 made a reading of a call's attempts.

1. the last attempt with outcome `ok` is read: the API's reply first, then the readout's value;
2. without one, the last attempt says why: `bad_body`, `unresolved`, or `no_reply` with what
   happened.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from judgeaudit.errors import InputError
from judgeaudit.evidence.formats.v1.readouts import READERS as READOUTS
from judgeaudit.evidence.formats.v1.replies import READERS as APIS
from judgeaudit.model import Attempt, Invalid, Item, Outcome, Reason, Value

AnyReadout = Any
"""A readout: its name and its registered options are used here, and nothing else of it."""

ReadValue = Callable[[bytes, str, AnyReadout, Item, str], Value | Invalid]
"""A reply's bytes, the API, the readout, the item and the readout's arm, to a value."""


def last_answered(attempts: Sequence[Attempt]) -> Attempt | None:
    """Return the attempt that is read; None where none was answered."""
    return next((a for a in reversed(attempts) if a.outcome is Outcome.OK), None)


def value_of(body: bytes, api: str, readout: AnyReadout, item: Item, arm: str) -> Value | Invalid:
    """Return the value in a reply, or why there is none."""
    for kind, name, known in (("api", api, APIS), ("readout", readout.record.name, READOUTS)):
        if name not in known:
            raise InputError(kind, found=f"{name!r}, which format 1 did not have")
    reply = APIS[api](body)
    if isinstance(reply, Invalid):
        return reply
    return READOUTS[readout.record.name](readout.options, reply, item, arm)


def why_failed(last: Attempt) -> Invalid:
    """Return why a call of which no attempt was answered has no value."""
    if last.outcome is Outcome.BAD_BODY:
        return Invalid(Reason.BAD_BODY, last.error or "")
    if last.outcome is Outcome.UNRESOLVED:
        return Invalid(Reason.UNRESOLVED, last.error or "sent, and nothing is known of it")
    status = f" {last.status}" if last.status is not None else ""
    said = f": {last.error}" if last.error else ""
    return Invalid(Reason.NO_REPLY, f"{last.outcome}{status} at attempt {last.attempt}{said}")
