"""Sealed attempts and a frozen study to readings: run at seal time, and again by verify.

For each call that was tried, in this order:

1. the last attempt with outcome `ok` is read: the API's reply first, then the readout's value;
2. without one, the last attempt says why: an undecodable success is `bad_body`, an attempt of
   which nothing is known `unresolved`, everything else `no_reply` with what happened;

Replies are read by the rules that the study's lock names, so that what a sealed study says of them
does not change with the program.

A call without any attempt has no reading of ours: why it was never sent (cap reached, window
closed, no memory, stopped by rule) stands in the journal.

The last `ok` attempt and not the first: a runner never asks again after one, so a second exists
only after an outcome that was unresolved at the time, and the later record is the known one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from judgeaudit.design.frozen import FrozenStudy
from judgeaudit.instrument.provider import Provider, provider
from judgeaudit.model import (
    Attempt,
    Invalid,
    Item,
    Outcome,
    PlannedCall,
    Reading,
    Reason,
    Reply,
    Value,
)

Derive = Callable[[Sequence[Attempt], PlannedCall], Reading]
"""What seal and verify are given, so that they know no provider. At least one attempt."""


def derive(study: FrozenStudy) -> Derive:
    """Return the function from a call's attempts to its reading."""
    providers = {spec.id: provider(spec.api) for spec in study.registration.endpoints}
    items: dict[tuple[str, int, str], Item] = {}

    def reading(attempts: Sequence[Attempt], call: PlannedCall) -> Reading:
        last_ok = next((a for a in reversed(attempts) if a.outcome is Outcome.OK), None)
        if last_ok is None:
            return Reading(call, _why_failed(attempts[-1]), attempts[-1].attempt)
        key = (call.item, call.stage, call.arm)
        if key not in items:
            items[key] = study.item_of(call)
        value = _read(study, providers[call.endpoint], last_ok, call, items[key])
        return Reading(call, value, last_ok.attempt)

    return reading


def _read(
    study: FrozenStudy, api: Provider, attempt: Attempt, call: PlannedCall, item: Item
) -> Value | Invalid:
    rules = study.rules
    reply: Reply | Invalid = api.read(attempt.response_body or b"", rules)
    if isinstance(reply, Invalid):
        return reply
    return study.readout_of(call).under(rules).read(reply, item, study.readout_arm(call))


def _why_failed(last: Attempt) -> Invalid:
    if last.outcome is Outcome.BAD_BODY:
        return Invalid(Reason.BAD_BODY, last.error or "")
    if last.outcome is Outcome.UNRESOLVED:
        return Invalid(Reason.UNRESOLVED, last.error or "sent, and nothing is known of it")
    status = f" {last.status}" if last.status is not None else ""
    said = f": {last.error}" if last.error else ""
    return Invalid(Reason.NO_REPLY, f"{last.outcome}{status} at attempt {last.attempt}{said}")
