"""Instruments of one and the same true value that differ in where their noise lies: pure draws.

A gate's chances depend on more than the mean. `even` is the instrument of the textbook, each item
alike; the others are what judges do:

* `few items`: the noise lies in as few items as can carry it, the others never change;
* `bursts`: it lies in whole blocks, the others are quiet;
* `tasks`: it lies in whole tasks, where tasks hold several items;
* `by run`: half of all runs have all of it, the other half none;
* `ties`: scores on five levels, more than half of them on the highest.

Flips are 1 where an item's two answers differ. An item with two answers at even chances flips with
chance .5, so that a rate of .10 needs a fifth of the items, or of the blocks. For Spearman the
true value is the population's mid-rank correlation between the two scores of an item.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, special

Floats = NDArray[np.float64]
Rng = np.random.Generator
MOST_NOISY = 0.5
"""How often an item flips whose two answers have even chances."""

FEW = 0.2
"""The share of the items that carries all noise of scores with few noisy items."""

CUTS = (-2.0, -1.5, -0.9, -0.1)
"""Where a normal score is cut into five levels: 54 % lie on the highest."""


@dataclass(frozen=True, slots=True, eq=False)
class Where:
    """Where noise can lie: how many items, how many stand in a block, the task of each."""

    items: int
    block: int
    tasks: NDArray[np.int_] | None = None

    @property
    def nested(self) -> bool:
        """Whether some task holds several items."""
        return self.tasks is not None and np.unique(self.tasks).size < self.items


def even(rng: Rng, runs: int, where: Where, rate: float) -> Floats:
    """Return the chance of a flip (runs, items): each item has the same."""
    return np.full((runs, where.items), rate)


def few_items(rng: Rng, runs: int, where: Where, rate: float) -> Floats:
    """Return chances of a battery whose noisy items lie anywhere in a random order."""
    cap, noisy = where.items, max(rate, MOST_NOISY)
    count = round(cap * rate / noisy)
    places = rng.permuted(np.tile(np.arange(cap) < count, (runs, 1)), axis=1)
    # The number of noisy items is whole; their chance makes up for the rest.
    chance = min(1.0, rate * cap / count) if count else 0.0
    return np.where(places, chance, 0.0)


def bursts(rng: Rng, runs: int, where: Where, rate: float) -> Floats:
    """Return chances of noise that comes in stretches of items, each noisy or quiet by itself."""
    block = where.block
    return _in_whole(rng, runs, np.arange(where.items) // block, rate)


def by_task(rng: Rng, runs: int, where: Where, rate: float) -> Floats:
    """Return chances of noise that comes in whole tasks."""
    assert where.tasks is not None
    return _in_whole(rng, runs, np.unique(where.tasks, return_inverse=True)[1], rate)


def _in_whole(rng: Rng, runs: int, codes: NDArray[np.int_], rate: float) -> Floats:
    noisy = max(rate, MOST_NOISY)
    chosen = rng.random((runs, int(codes.max()) + 1)) < rate / noisy
    return np.where(chosen[:, codes], noisy, 0.0)


def by_run(rng: Rng, runs: int, where: Where, rate: float) -> Floats:
    """Return chances of a judge that is noisy in half of its runs."""
    whole = rng.random((runs, 1)) < 0.5
    return np.repeat(np.where(whole, min(1.0, 2 * rate), 0.0), where.items, axis=1)


def flips(name: str, rng: Rng, runs: int, where: Where, rate: float) -> Floats:
    """Return flips (runs, items), 1 where an item's two answers differ, of a named instrument."""
    chances = LEVELS[name](rng, runs, where, rate)
    return np.asarray(rng.random(chances.shape) < chances, float)


def readings(
    name: str, rng: Rng, runs: int, where: Where, rate: float, columns: int
) -> NDArray[np.bool_]:
    """Return whether each reading (runs, items, columns) is its item's usual one.

    Any other is one of its own, so that two readings of an item differ with the item's chance f
    where each is the usual one with chance sqrt(1 - f).
    """
    usual = np.sqrt(1 - LEVELS[name](rng, runs, where, rate))
    return np.asarray(rng.random((*usual.shape, columns)) < usual[..., None])


def continuous(rng: Rng, runs: int, where: Where, rho: float, columns: int = 2) -> Floats:
    """Return scores (runs, items, columns) without ties, every item alike."""
    return _correlated(rng, runs, where.items, 2 * math.sin(math.pi * rho / 6), columns)


def few_scores(rng: Rng, runs: int, where: Where, rho: float, columns: int = 2) -> Floats:
    """Return scores of which a share 1 - rho is drawn anew, the others repeat exactly."""
    cap = where.items
    scores = np.repeat(rng.normal(size=(runs, cap, 1)), columns, axis=2)
    anew = rng.random((runs, cap)) >= max(0.0, rho)
    for column in range(1, columns):
        drawn = rng.normal(size=(runs, cap))
        scores[..., column] = np.where(anew, drawn, scores[..., column])
    return scores


def tied(rng: Rng, runs: int, where: Where, rho: float, columns: int = 2) -> Floats:
    """Return scores on five levels, most of them on the highest."""
    found = _correlated(rng, runs, where.items, latent(rho), columns)
    return np.searchsorted(CUTS, found).astype(float)


def reliable(rng: Rng, runs: int, where: Where, icc: float, columns: int = 2) -> Floats:
    """Return normal scores of one ICC, every item alike."""
    return _correlated(rng, runs, where.items, icc, columns)


def few_unreliable(rng: Rng, runs: int, where: Where, icc: float, columns: int = 2) -> Floats:
    """Return normal scores of one ICC whose noise lies in a fifth of the items."""
    common = rng.normal(size=(runs, where.items, 1)) * math.sqrt(max(0.0, icc))
    return common + _noise_in_few(rng, runs, where, math.sqrt(1 - max(0.0, icc)), columns)


def noisy(rng: Rng, runs: int, where: Where, sd: float, columns: int = 2) -> Floats:
    """Return scores with one within-item SD, every item alike."""
    common = rng.normal(size=(runs, where.items, 1)) * 10 * sd
    return np.asarray(common + rng.normal(size=(runs, where.items, columns)) * sd)


def few_noisy(rng: Rng, runs: int, where: Where, sd: float, columns: int = 2) -> Floats:
    """Return scores whose noise lies in a fifth of the items, its mean square that of `sd`."""
    common = rng.normal(size=(runs, where.items, 1)) * 10 * sd
    return common + _noise_in_few(rng, runs, where, sd, columns)


def _noise_in_few(rng: Rng, runs: int, where: Where, sd: float, columns: int) -> Floats:
    some = rng.random((runs, where.items, 1)) < FEW
    own = rng.normal(size=(runs, where.items, columns))
    return np.asarray(np.where(some, own * sd / math.sqrt(FEW), 0.0))


def _correlated(rng: Rng, runs: int, cap: int, r: float, columns: int) -> Floats:
    common = rng.normal(size=(runs, cap, 1)) * math.sqrt(max(0.0, r))
    own = rng.normal(size=(runs, cap, columns)) * math.sqrt(1 - max(0.0, r))
    return np.asarray(common + own)


@lru_cache(maxsize=64)
def latent(rho: float) -> float:
    """Return the normal correlation whose five levels have mid-rank Spearman `rho`."""
    return float(optimize.brentq(lambda r: level_spearman(r) - rho, 1e-6, 1 - 1e-6, xtol=1e-8))


def level_spearman(r: float) -> float:
    """Return the mid-rank Spearman of two scores on the levels of `CUTS`, normal correlation r."""
    x, w = np.polynomial.hermite_e.hermegauss(201)
    ends = np.concatenate([[-np.inf], CUTS, [np.inf]])
    upper = special.ndtr((ends - math.sqrt(r) * x[:, None]) / math.sqrt(1 - r))
    share = np.diff(upper, axis=1)
    cells = np.einsum("n,ni,nj->ij", w / w.sum(), share, share)
    marginal = cells.sum(axis=0)
    rank = np.cumsum(marginal) - marginal / 2 - 0.5
    return float(rank @ cells @ rank / (rank**2 @ marginal))


Level = Callable[[Rng, int, Where, float], Floats]
Draw = Callable[..., Floats]
LEVELS: Mapping[str, Level] = {
    "even": even,
    "few items": few_items,
    "bursts": bursts,
    "tasks": by_task,
    "by run": by_run,
}
SCORES: Mapping[str, Draw] = {"even": continuous, "few items": few_scores, "ties": tied}
ICCS: Mapping[str, Draw] = {"even": reliable, "few items": few_unreliable}
SDS: Mapping[str, Draw] = {"even": noisy, "few items": few_noisy}


def flip_instruments(where: Where) -> tuple[str, ...]:
    """Return the names of the instruments that flip; tasks only where some hold several items."""
    return tuple(name for name in LEVELS if name != "tasks" or where.nested)
