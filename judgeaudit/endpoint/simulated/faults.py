"""Failures that a scenario plants: on the wire, in the status, or in the answer.

Planted shares of *first attempts* fail and later attempts of the same call do not, so a retry by
the registered policy ends in an answer. `always` fails every request. What an answer suffers
(unparsed, refused, truncated, empty, a bare array) hangs on the body alone: the same bytes
are invalid every time, as with real judges.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field

from judgeaudit.endpoint.simulated.draws import Stream
from judgeaudit.endpoint.simulated.judge import Virtual
from judgeaudit.endpoint.simulated.scenarios import Scenario

LATE_MS = 3_600_000
"""Virtual latency of an answer that never came: longer than any time-out."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One failure.

    `wire` is drop, hang, late, cut, html, inside (an error in a document of status 200), or empty
    where an error status is sent.
    """

    kind: str
    wire: str = ""
    status: int = 200
    type_: str = ""
    message: str = ""
    code: str | None = None
    headers: tuple[tuple[str, str], ...] = field(default=())


_LIMITED = Fault(
    "limited",
    status=429,
    type_="rate_limit_error",
    message="SIMULATED: rate limit reached, try again",
    code="rate_limit_exceeded",
    headers=(("retry-after-ms", "200"), ("retry-after", "1")),
)
_UNAVAILABLE = Fault(
    "unavailable",
    status=503,
    type_="overloaded_error",
    message="SIMULATED: the server is overloaded",
)
_INSIDE = Fault(
    "inside",
    wire="inside",
    type_="rate_limit_error",
    message="SIMULATED: rate limit reached, try again",
    code="429",
)
_ALWAYS = {
    "quota": Fault(
        "quota",
        status=429,
        type_="insufficient_quota",
        message="SIMULATED: you exceeded your current quota",
        code="insufficient_quota",
    ),
    "auth": Fault(
        "auth",
        status=401,
        type_="authentication_error",
        message="SIMULATED: incorrect API key",
        code="invalid_api_key",
    ),
    "notfound": Fault(
        "notfound",
        status=404,
        type_="not_found_error",
        message="SIMULATED: the model does not exist",
        code="model_not_found",
    ),
    "badrequest": Fault(
        "badrequest",
        status=400,
        type_="invalid_request_error",
        message="SIMULATED: unsupported parameter",
        code="unsupported_parameter",
    ),
    "hang": Fault("hang", wire="hang"),
    "html": Fault("html", wire="html"),
}


def planted_fault(scenario: Scenario, seed: int, body_digest: str, when: Virtual) -> Fault | None:
    """Return the failure that this attempt meets, or None."""
    if scenario.always in _ALWAYS:
        return _ALWAYS[scenario.always]
    chances = (
        (scenario.limited, _LIMITED),
        (scenario.dropped, Fault("dropped", wire="drop")),
        (scenario.timeout, Fault("timeout", wire="late")),
        (scenario.cut, Fault("cut", wire="cut")),
        (scenario.unavailable, _UNAVAILABLE),
        (scenario.inside, _INSIDE),
    )
    if when.attempt > 1 or not any(chance for chance, _ in chances):
        return None
    u = Stream(seed, "fault", body_digest, when.t_ns).uniform()
    for chance, fault in chances:
        if u < chance:
            return fault
        u -= chance
    return None


def invalidity(scenario: Scenario, seed: int, body_digest: str) -> str:
    """Return unparsed, refused, truncated, empty, or "" for a body that gets its answer."""
    names = ("unparsed", "refused", "truncated", "empty")
    u = Stream(seed, "invalid", body_digest).uniform()
    for name in names:
        chance: float = getattr(scenario, name)
        if u < chance:
            return name
        u -= chance
    return ""


def is_bare(scenario: Scenario, seed: int, body_digest: str) -> bool:
    """Tell whether this body's ranking always comes as a bare JSON array."""
    return Stream(seed, "bare", body_digest).uniform() < scenario.bare


def spoiled(kind: str, text: str) -> tuple[str, str]:
    """Return what is said, and its finish, of an answer that suffers `kind`."""
    if kind == "refused":
        return "SIMULATED refusal: I cannot judge this.", "refusal"
    if kind == "truncated":
        return text[: max(len(text) // 2, 1)], "length"
    if kind == "empty":
        return "", "stop"
    return "SIMULATED ramble: there is much to be said on both sides, as ever.", "stop"


def bare_array(text: str) -> str:
    """Return the only value of a JSON object's text, as an array of its own."""
    return json.dumps(next(iter(json.loads(text).values())))
