"""Scenarios of the simulated judge: what is planted, in numbers that an analysis must recover.

A name is `NAME` or `NAME:key=value,key=value`; `superstitious-agent:0.112` sets the scenario's
first parameter. Noise is planted in three layers that act in turn on the noise-free answer: once
a (text, UTC day), once a call, once a call that was sent while others were in flight.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, fields, replace
from typing import Any

from judgeaudit.errors import InputError


@dataclass(frozen=True, slots=True)
class Noise:
    """How far one layer moves an answer.

    `swap`: chance that one adjacent pair of a ranking, at a uniformly drawn place, is exchanged.
    `flip`: chance that a verdict becomes its runner-up category. `step`: chance that a score
    moves one step (half up, half down), which gives it a variance of `step` squared steps.
    `z_sd`: standard deviation of a normal shift of a label's logit.
    """

    swap: float = 0.0
    flip: float = 0.0
    step: float = 0.0
    z_sd: float = 0.0


@dataclass(frozen=True, slots=True)
class Scenario:
    """One simulated judge. Chances are shares in [0, 1].

    `spread`: how far apart points lie on the logit scale, 1 as a rule. `bias`: median b_map in
    logits, `bias_sd` its spread over points; `first_bias`: what the candidate shown first gains
    in quality. `unparsed`, `refused`, `truncated`, `empty`: shares of bodies (by digest, so always
    the same ones) that never get a valid answer. `bare`: share of ranking bodies always answered
    as a bare JSON array. `limited`, `dropped`, `timeout`, `cut`, `unavailable`, `inside`: shares of
    first attempts that meet a 429, a closed connection, no answer in time, a truncated body, a 503,
    a 429 inside a 200.
    `always`: a failure of every request. `fingerprints`: how many values the fingerprint takes
    within a day. `model_days`: after how many UTC days the returned model name changes (0:
    never). `agent` with its parameters: see `agent.py`. `sleep_ms`: how long an answer really
    takes, where no virtual time is given.
    """

    name: str
    day: Noise = Noise()
    call: Noise = Noise()
    loaded: Noise = Noise()
    spread: float = 1.0
    bias: float = 0.0
    bias_sd: float = 0.0
    first_bias: float = 0.0
    unparsed: float = 0.0
    refused: float = 0.0
    truncated: float = 0.0
    empty: float = 0.0
    bare: float = 0.0
    limited: float = 0.0
    dropped: float = 0.0
    timeout: float = 0.0
    cut: float = 0.0
    unavailable: float = 0.0
    inside: float = 0.0
    always: str = ""
    fingerprints: int = 1
    model_days: int = 0
    agent: str = ""
    base: float = 0.0
    carry: float = 0.0
    sleep_ms: float = 0.0
    parameters: tuple[str, ...] = ()
    note: str = field(default="", compare=False)


_FLOOR = Noise(swap=0.104, flip=0.05, step=0.1, z_sd=0.1)

_CATALOGUE = (
    Scenario("stable", note="the same bytes always get the same answer"),
    Scenario(
        "shared-floor",
        call=_FLOOR,
        parameters=("call.swap",),
        note="noise of one size in every window",
    ),
    Scenario(
        "label-bias",
        bias=0.3125,
        bias_sd=0.25,
        parameters=("bias", "bias_sd"),
        note="favours the mapping in which the alphabetically first label means correct",
    ),
    Scenario(
        "drift-day",
        day=Noise(swap=0.15, flip=0.15, step=0.3, z_sd=0.4),
        call=Noise(swap=0.05, flip=0.02, step=0.05, z_sd=0.05),
        parameters=("day.swap", "call.swap"),
        note="answers change from one UTC day to the next",
    ),
    Scenario(
        "load-dependent",
        loaded=Noise(swap=0.3, flip=0.1, step=0.2, z_sd=0.2),
        sleep_ms=20,
        parameters=("loaded.swap",),
        note="exact alone, noisy with more than one call in flight",
    ),
    Scenario("fingerprint-churn", fingerprints=19, note="19 fingerprints a day, equal answers"),
    Scenario("alias-move", model_days=1, note="the returned model changes each UTC day"),
    Scenario("bare-array", bare=0.1, parameters=("bare",), note="some rankings as a bare array"),
    Scenario(
        "invalid-some",
        unparsed=0.04,
        refused=0.03,
        truncated=0.02,
        empty=0.01,
        parameters=("unparsed", "refused", "truncated", "empty"),
        note="some bodies never get a valid answer",
    ),
    Scenario("rate-limited", limited=0.2, parameters=("limited",), note="429 with retry-after"),
    Scenario(
        "flaky-transport",
        dropped=0.05,
        timeout=0.02,
        cut=0.05,
        unavailable=0.05,
        parameters=("dropped", "timeout", "cut", "unavailable"),
        note="dropped, late and truncated answers, 503s",
    ),
    Scenario(
        "noisy",
        call=Noise(swap=0.2, flip=0.1, step=0.16, z_sd=0.3),
        parameters=("call.flip", "call.step", "call.z_sd"),
        note="verdict flips, score steps, logit noise",
    ),
    Scenario(
        "order-bias",
        first_bias=0.5,
        parameters=("first_bias",),
        note="favours the candidate shown first",
    ),
    *(
        Scenario(name, always=name, note="an error on every request")
        for name in ("quota", "auth", "notfound", "badrequest", "html", "hang")
    ),
    Scenario("echo-key", always="echo-key", note="shows the request's credentials in its reply"),
    Scenario("bayes-agent", agent="bayes", note="picks the tool with the higher posterior mean"),
    Scenario(
        "superstitious-agent",
        agent="superstitious",
        base=0.004,
        carry=0.112,
        parameters=("carry", "base"),
        note="a lesson that blames chance carries over",
    ),
    Scenario("random-agent", agent="random", note="picks either tool"),
    Scenario("stubborn-agent", agent="stubborn", note="picks the tool offered first"),
    Scenario(
        "unparsable-agent",
        agent="unparsable",
        base=0.3,
        parameters=("base",),
        note="often names no tool",
    ),
)

_UNBOUNDED = frozenset({"bias", "bias_sd", "first_bias", "z_sd", "sleep_ms"})
"""Parameters in logits, qualities or milliseconds; the others are shares or counts."""

SCENARIOS: dict[str, Scenario] = {scenario.name: scenario for scenario in _CATALOGUE}
"""Every scenario with its default parameters."""


def scenario(name: str) -> Scenario:
    """Return the scenario that `name` describes; raises `InputError` naming what is allowed.

    The returned scenario's name is `name` itself, so that replies say what was asked for.
    """
    head, _, tail = name.partition(":")
    if head not in SCENARIOS:
        known = ", ".join(sorted(SCENARIOS))
        raise InputError(
            f"scenario {name!r}", found=f"no scenario {head!r}", remedy=f"one of {known}"
        )
    found = replace(SCENARIOS[head], name=name)
    parts = [part.strip() for part in tail.split(",") if part.strip()]
    for place, part in enumerate(parts):
        key, sign, text = part.partition("=")
        if not sign:
            if place >= len(found.parameters):
                raise InputError(f"scenario {name!r}", found=f"{part!r}", remedy="write key=value")
            key, text = found.parameters[place], part
        found = _with(found, key.strip(), text)
    return found


def _with(found: Scenario, key: str, text: str) -> Scenario:
    layer, dot, part = key.partition(".")
    if dot and layer in ("day", "call", "loaded") and part in _numbers(Noise()):
        noise: Noise = getattr(found, layer)
        moved: dict[str, Any] = {layer: replace(noise, **{part: _number(found, key, text)})}
        return replace(found, **moved)
    if key not in _numbers(found):
        allowed = ", ".join([*_numbers(found), "day.*, call.*, loaded.*: swap, flip, step, z_sd"])
        raise InputError(
            f"scenario {found.name!r}", found=f"no parameter {key!r}", remedy=f"one of {allowed}"
        )
    value = _number(found, key, text)
    changed: dict[str, Any] = {key: int(value) if _numbers(found)[key] is int else value}
    return replace(found, **changed)


def _numbers(value: Any) -> dict[str, type]:
    """Return the numeric fields of a dataclass with their type."""
    kinds = {f.name: type(getattr(value, f.name)) for f in fields(value)}
    return {name: kind for name, kind in kinds.items() if kind in (int, float)}


def _number(found: Scenario, key: str, text: str) -> float:
    where = f"scenario {found.name!r}"
    try:
        value = float(text)
    except ValueError:
        raise InputError(where, key, f"{text!r} is no number") from None
    field_name = key.rpartition(".")[2]
    if _numbers(found).get(key) is int and not (value >= 0 and value.is_integer()):
        raise InputError(where, key, f"{text} is no whole number", "0 or more")
    if field_name not in _UNBOUNDED and _numbers(found).get(key) is not int and not 0 <= value <= 1:
        raise InputError(where, key, f"{text} is no share", "a number from 0 to 1")
    if not math.isfinite(value):
        raise InputError(where, key, f"{text} is not finite")
    return value
