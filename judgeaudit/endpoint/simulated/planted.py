"""What a scenario plants, as the numbers that an analysis must recover.

Rankings: layers of noise exchange adjacent places of a common order, so the chance of each
resulting order is a finite sum, and agreement of two replies follows exactly. With one layer of
chance f on n candidates: full (1 - f)^2 + f^2 / (n - 1); top-1 (1 - q)^2 + q^2, q = f / (n - 1);
pairwise 1 - [2f(1 - f) + 2f^2 (n - 2) / (n - 1)] / C(n, 2).
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from judgeaudit.endpoint.simulated.scenarios import Noise, Scenario

Order = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Agreement:
    """Expected agreement of two rankings of one item, at three granularities."""

    full: float
    top1: float
    pairwise: float


def ranking_agreement(
    scenario: Scenario, n: int, *, same_day: bool = True, loaded: bool = False
) -> Agreement:
    """Return the expected agreement of two replies to one ranking body of `n` candidates.

    `loaded`: both were sent while others were in flight. Order bias changes no agreement.
    """
    layers = [scenario.call.swap] + ([scenario.loaded.swap] if loaded else [])
    # Within a day both replies share what the day did, and places are all that noise acts on.
    orders = order_chances(n, layers if same_day else [scenario.day.swap, *layers])
    full = top1 = distance = 0.0
    for left, p in orders.items():
        for right, q in orders.items():
            full += p * q * (left == right)
            top1 += p * q * (left[0] == right[0])
            distance += p * q * kendall(left, right)
    return Agreement(full, top1, 1 - distance / math.comb(n, 2))


def order_chances(n: int, swaps: Sequence[float]) -> dict[Order, float]:
    """Return the chance of each order after layers that exchange one adjacent pair each."""
    chances: dict[Order, float] = {tuple(range(n)): 1.0}
    for swap in swaps:
        after: dict[Order, float] = defaultdict(float)
        for order, p in chances.items():
            after[order] += p * (1 - swap)
            for place in range(n - 1):
                moved = list(order)
                moved[place], moved[place + 1] = moved[place + 1], moved[place]
                after[tuple(moved)] += p * swap / (n - 1)
        chances = {order: p for order, p in after.items() if p}
    return chances


def kendall(left: Order, right: Order) -> int:
    """Return the number of pairs that two orders of the same things put differently."""
    place = {value: index for index, value in enumerate(right)}
    return sum(place[a] > place[b] for a, b in combinations(left, 2))


def flip_chance(*layers: Noise) -> float:
    """Return the chance that a verdict differs from its noise-free one after these layers."""
    chance = 0.0
    for layer in layers:
        chance = chance * (1 - layer.flip) + (1 - chance) * layer.flip
    return chance


def verdict_agreement(scenario: Scenario, *, same_day: bool = True, loaded: bool = False) -> float:
    """Return the expected agreement of two verdicts on one body: (1 - f)^2 + f^2."""
    layers = [scenario.call] + ([scenario.loaded] if loaded else [])
    f = flip_chance(*(layers if same_day else [scenario.day, *layers]))
    return (1 - f) ** 2 + f**2


def score_sd(scenario: Scenario) -> float:
    """Return the within-item standard deviation of a score on one day, in steps of its scale."""
    return math.sqrt(scenario.call.step)


def memory_luck(scenario: Scenario) -> dict[str, float]:
    """Return P(worse tool) by outcome and memory, and CARRY, for an agent that reads its log.

    `F`: the better tool failed, `S`: it succeeded; memory `F`: the lesson of that failure, any
    other memory acts alike. Keys `FF`, `other`, `carry`.
    """
    base = scenario.base if scenario.agent == "superstitious" else 0.0
    carry = scenario.carry if scenario.agent == "superstitious" else 0.0
    if scenario.agent == "random":
        base = 0.5
    return {"FF": base + carry, "other": base, "carry": carry}
