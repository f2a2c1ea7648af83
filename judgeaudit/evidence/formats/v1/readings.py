"""How 0.1 made a reading of a call's attempts. At least one attempt is given.

1. the last attempt with outcome `ok` is read: the API's reply first, then the readout's value;
2. without one, the last attempt says why: `bad_body`, `unresolved`, or `no_reply` with what
   happened.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from judgeaudit.errors import InputError
from judgeaudit.evidence.formats.v1.readouts import READERS as READOUTS
from judgeaudit.evidence.formats.v1.replies import READERS as APIS
from judgeaudit.model import Attempt, Invalid, Item, Outcome, Reading, Reason, Value
from judgeaudit.model import PlannedCall as Call


def reading(
    attempts: Sequence[Attempt], call: Call, *, api: str, readout: Any, item: Item, arm: str
) -> Reading:
    """Return a call's reading; `readout` gives its name and its registered options."""
    last_ok = next((a for a in reversed(attempts) if a.outcome is Outcome.OK), None)
    if last_ok is None:
        return Reading(call, _why_failed(attempts[-1]), attempts[-1].attempt)
    value = _value(last_ok.response_body or b"", api, readout, item, arm)
    return Reading(call, value, last_ok.attempt)


def _value(body: bytes, api: str, readout: Any, item: Item, arm: str) -> Value | Invalid:
    for kind, name, known in (("api", api, APIS), ("readout", readout.name, READOUTS)):
        if name not in known:
            raise InputError(kind, found=f"{name!r}, which format 1 did not have")
    reply = APIS[api](body)
    if isinstance(reply, Invalid):
        return reply
    return READOUTS[readout.name](readout.options, reply, item, arm)


def _why_failed(last: Attempt) -> Invalid:
    if last.outcome is Outcome.BAD_BODY:
        return Invalid(Reason.BAD_BODY, last.error or "")
    if last.outcome is Outcome.UNRESOLVED:
        return Invalid(Reason.UNRESOLVED, last.error or "sent, and nothing is known of it")
    status = f" {last.status}" if last.status is not None else ""
    said = f": {last.error}" if last.error else ""
    return Invalid(Reason.NO_REPLY, f"{last.outcome}{status} at attempt {last.attempt}{said}")
