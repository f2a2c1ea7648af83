"""The simulated judge: a question and a moment in, an answer out.

Quality is planted: each shown candidate, and each point of a label, score or verdict question,
has the standard normal `quality(seed, text)`. Candidates rank by it; a label's logit is
`LOGIT_SD` times the scenario's `spread` times it; a score is its normal share of the scale, kept
one step inside.

Noise of a call is drawn from (seed, body digest, virtual time); the attempt does not enter, so
that a call repeated after a lost reply gets the reply that was lost.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass

from judgeaudit.endpoint.simulated.draws import Stream, latent, normal_share, quality
from judgeaudit.endpoint.simulated.question import TIES, Question
from judgeaudit.endpoint.simulated.scenarios import Noise, Scenario

LOGIT_SD = 1.5
"""Spread of a label's noise-free logit over points."""

TIE_BAND = 0.25
"""A quality difference below this is a tie, where a tie may be answered."""

MASS = 0.999
"""Probability that falls on the two labels together."""

_OTHERS = ("The", "I", "Both", "It", "This", "**", "\n", "Answer", "Based", "Sure")
_DAY_NS = 86_400_000_000_000


@dataclass(frozen=True, slots=True)
class Virtual:
    """A moment on the virtual clock: UTC nanoseconds, attempt from 1, calls in flight from 1."""

    t_ns: int
    attempt: int = 1
    load: int = 1

    @property
    def day(self) -> int:
        """The UTC day, counted from the epoch."""
        return self.t_ns // _DAY_NS


@dataclass(frozen=True, slots=True)
class Answer:
    """The judge's text, and (token, ln p) alternatives at its first position, likeliest first."""

    text: str
    alternatives: tuple[tuple[str, float], ...] = ()


def judge(
    scenario: Scenario, seed: int, question: Question, body_digest: str, when: Virtual
) -> Answer:
    """Return the answer of `scenario` to `question` at this moment."""
    layers = [
        (scenario.day, Stream(seed, "day", question.text, when.day)),
        (scenario.call, Stream(seed, "call", body_digest, when.t_ns)),
    ]
    if when.load > 1:
        layers.append((scenario.loaded, Stream(seed, "loaded", body_digest, when.t_ns)))
    if question.kind == "label":
        return _label(scenario, seed, question, layers)
    if question.kind == "ranking":
        return _ranking(scenario, seed, question, layers)
    if question.kind == "verdict":
        return _verdict(scenario, seed, question, layers)
    if question.kind == "score":
        return _score(seed, question, layers)
    return _text(scenario, seed, question, layers)


Layers = list[tuple[Noise, Stream]]


def worth(seed: int, shown: Mapping[str, str], first_bias: float = 0.0) -> dict[str, float]:
    """Return alias -> planted quality; `first_bias` is what the candidate shown first gains."""
    found = {alias: quality(seed, text) for alias, text in shown.items()}
    if first_bias and found:
        found[next(iter(found))] += first_bias
    return found


def order(seed: int, shown: Mapping[str, str], first_bias: float = 0.0) -> list[str]:
    """Return the noise-free ranking of the shown candidates, best first.

    Equal texts have equal quality; they then keep the order of their aliases.
    """
    value = worth(seed, shown, first_bias)
    return sorted(value, key=lambda alias: (-value[alias], alias))


def label_logit(scenario: Scenario, seed: int, question: Question) -> float:
    """Return the noise-free logit of the positive label, the mapping bias included."""
    b = scenario.bias + scenario.bias_sd * latent(seed, question.text, "bias")
    if len(question.shown) == 2:
        plus, minus = order_of_labels(question)
        z = quality(seed, question.shown[plus]) - quality(seed, question.shown[minus])
    else:
        z = scenario.spread * LOGIT_SD * quality(seed, question.text)
    return z + b if question.forward else z - b


def order_of_labels(question: Question) -> tuple[str, str]:
    """Return the positive and the negative label."""
    first, second = question.options
    return (first, second) if question.positive == first else (second, first)


def _label(scenario: Scenario, seed: int, question: Question, layers: Layers) -> Answer:
    z = label_logit(scenario, seed, question)
    z += math.fsum(noise.z_sd * draws.normal() for noise, draws in layers if noise.z_sd)
    plus, minus = order_of_labels(question)
    shares = {plus: _log_expit(z), minus: _log_expit(-z)}
    found = [(label, math.log(MASS) + share) for label, share in shares.items()]
    found.sort(key=lambda pair: -pair[1])
    rest = math.log((1 - MASS) / len(_OTHERS))
    others = [(token, rest) for token in _OTHERS if token not in shares]
    ranked = sorted([*found, *others], key=lambda pair: -pair[1])
    return Answer(found[0][0], tuple(ranked))


def _log_expit(z: float) -> float:
    return -math.log1p(math.exp(-z)) if z > -700 else z


def _ranking(scenario: Scenario, seed: int, question: Question, layers: Layers) -> Answer:
    ranked = order(seed, question.shown, scenario.first_bias)
    for noise, draws in layers:
        if draws.uniform() < noise.swap:
            place = draws.index(len(ranked) - 1)
            ranked[place], ranked[place + 1] = ranked[place + 1], ranked[place]
    return Answer(json.dumps({question.property_ or "ranking": ranked}))


def _verdict(scenario: Scenario, seed: int, question: Question, layers: Layers) -> Answer:
    best, second = _categories(scenario, seed, question)
    for noise, draws in layers:
        if draws.uniform() < noise.flip:
            best, second = second, best
    return Answer(_wrapped(question, best))


def _categories(scenario: Scenario, seed: int, question: Question) -> tuple[str, str]:
    """Return the noise-free category and its runner-up."""
    ties = [option for option in question.options if option.lower() in TIES]
    if len(question.shown) < 2:
        places = [option for option in question.options if option not in ties] or list(ties)
        share = normal_share(quality(seed, question.text))
        place = min(int((1 - share) * len(places)), len(places) - 1)
        return places[place], places[place + 1 if place + 1 < len(places) else place - 1]
    value = worth(seed, question.shown, scenario.first_bias)
    first, second = sorted(value, key=lambda alias: (-value[alias], alias))[:2]
    tied = bool(ties) and value[first] - value[second] < TIE_BAND
    return (ties[0], first) if tied else (first, second)


def _score(seed: int, question: Question, layers: Layers) -> Answer:
    step = score_step(question)
    value = base_score(seed, question)
    for noise, draws in layers:
        u = draws.uniform()
        if u < noise.step:
            value += step if u < noise.step / 2 else -step
    value = min(max(value, question.low), question.high)
    text = f"{value:.2f}" if question.decimals else f"{value:.0f}"
    return Answer(_wrapped(question, float(text) if question.decimals else int(text), text))


def score_step(question: Question) -> float:
    """Return the step by which noise moves a score: 1, or a twentieth of a decimal scale."""
    return (question.high - question.low) / 20 if question.decimals else 1.0


def base_score(seed: int, question: Question) -> float:
    """Return the noise-free score, on the scale's grid and, where there is room, a step inside."""
    step = score_step(question)
    low, high = question.low + step, question.high - step
    if low > high:
        low, high = question.low, question.high
    steps = round((high - low) / step)
    share = normal_share(quality(seed, question.text))
    return low + step * min(int(share * (steps + 1)), steps)


def _wrapped(question: Question, value: str | float, text: str | None = None) -> str:
    if question.property_ is not None:
        return json.dumps({question.property_: value})
    return str(value) if text is None else text


_WORDS = ("clear", "sound", "brief", "vague", "careful", "partial", "exact", "loose")


def _text(scenario: Scenario, seed: int, question: Question, layers: Layers) -> Answer:
    draws = Stream(seed, "text", question.text)
    words = [_WORDS[draws.index(len(_WORDS))] for _ in range(6)]
    for noise, layer in layers:
        if layer.uniform() < noise.flip:
            words.reverse()
    return Answer(f"SIMULATED {scenario.name}: the answer is {', '.join(words)}.")
