"""Sealed attempts and a frozen study to readings: run at seal time, and again by verify.

For each call that was tried, in this order:

1. the last attempt with outcome `ok` is read: the API's reply first, then the readout's value;
2. without one, the last attempt says why: an undecodable success is `bad_body`, a filter's refusal
   of this item `refused`, an attempt of which nothing is known `unresolved`, everything else
   `no_reply` with what happened;

Replies are read by the rules that the study's lock names, so that what a sealed study says of them
does not change with the program: 0.1's by its own readers (`formats/v1`), later ones by today's.

A call without any attempt has no reading of ours: why it was never sent (cap reached, window
closed, no memory, stopped by rule) stands in the journal.

The last `ok` attempt and not the first: a runner never asks again after one, so a second exists
only after an outcome that was unresolved at the time, and the later record is the known one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from judgeaudit.design.frozen import FrozenStudy
from judgeaudit.evidence.formats.v1 import readings as v1
from judgeaudit.instrument.provider import provider
from judgeaudit.instrument.provider.compressed import readable
from judgeaudit.instrument.rules import Rules
from judgeaudit.model import Attempt, Invalid, Item, Outcome, PlannedCall, Reading, Reason, Value

Derive = Callable[[Sequence[Attempt], PlannedCall], Reading]
"""What seal and verify are given, so that they know no provider. At least one attempt."""


def derive(study: FrozenStudy) -> Derive:
    """Return the function from a call's attempts to its reading."""
    apis = {spec.id: spec.api for spec in study.registration.endpoints}
    items: dict[tuple[str, int, str], Item] = {}
    read = v1.value_of if study.rules is Rules.V1 else _by_todays(study.rules)

    def reading(attempts: Sequence[Attempt], call: PlannedCall) -> Reading:
        answered = v1.last_answered(attempts)
        if answered is None:
            last = attempts[-1]
            refused = study.rules > Rules.V1 and _refused(last, apis[call.endpoint])
            why = Invalid(Reason.REFUSED, last.error or "") if refused else v1.why_failed(last)
            return Reading(call, why, last.attempt)
        key = (call.item, call.stage, call.arm)
        if key not in items:
            items[key] = study.item_of(call)
        readout, arm = study.readout_of(call), study.readout_arm(call)
        body = _body(answered, study.rules)
        if isinstance(body, Invalid):
            return Reading(call, body, answered.attempt)
        value = read(body, apis[call.endpoint], readout, items[key], arm)
        return Reading(call, value, answered.attempt)

    return reading


def _body(attempt: Attempt, rules: Rules) -> bytes | Invalid:
    """Return a stored body as it reads; compressed ones are unpacked since the second rules."""
    stored = attempt.response_body or b""
    return stored if rules is Rules.V1 else readable(stored, attempt.response_headers)


def _refused(last: Attempt, api: str) -> bool:
    """Return whether a filter refused this item, with an error instead of an answer."""
    if last.outcome is not Outcome.HTTP_ERROR:
        return False
    body = readable(last.response_body or b"", last.response_headers)
    known = b"" if isinstance(body, Invalid) else body
    found = provider(api).classify(last.status or 0, last.response_headers, known)
    return found.about == "refused"


def _by_todays(rules: Rules) -> v1.ReadValue:
    def read(
        body: bytes, api: str, readout: v1.AnyReadout, item: Item, arm: str
    ) -> Value | Invalid:
        reply = provider(api).read(body, rules)
        if isinstance(reply, Invalid):
            return reply
        value: Value | Invalid = readout.under(rules).read(reply, item, arm)
        return value

    return read
