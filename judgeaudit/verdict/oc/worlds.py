"""Instruments of one and the same true value that differ in where their noise lies: pure draws.

A gate's chances depend on more than the mean. `even` is the instrument of the textbook, each item
alike; the others are what judges do:

* `few items`: the noise lies in as few items as can carry it, the others never change;
* `bursts`: it lies in whole blocks, the others are quiet;
* `by run`: half of all runs have all of it, the other half none;
* `ties`: scores on five levels, more than half of them on the highest.

Flips are 1 where an item's two answers differ. An item with two answers at even chances flips with
chance .5, so that a rate of .10 needs a fifth of the items, or of the blocks. For Spearman the
true value is the population's mid-rank correlation between the two scores of an item.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, special

Floats = NDArray[np.float64]
MOST_NOISY = 0.5
"""How often an item flips whose two answers have even chances."""

CUTS = (-2.0, -1.5, -0.9, -0.1)
"""Where a normal score is cut into five levels: 54 % lie on the highest."""


def even(rng: np.random.Generator, runs: int, cap: int, block: int, rate: float) -> Floats:
    """Return flips (runs, cap), each item with the same chance."""
    return (rng.random((runs, cap)) < rate).astype(float)


def few_items(rng: np.random.Generator, runs: int, cap: int, block: int, rate: float) -> Floats:
    """Return flips of a battery whose noisy items lie anywhere in a random order."""
    noisy = max(rate, MOST_NOISY)
    count = round(cap * rate / noisy)
    places = rng.permuted(np.tile(np.arange(cap) < count, (runs, 1)), axis=1)
    # The number of noisy items is whole; their chance makes up for the rest.
    chance = rate * cap / count if count else 0.0
    return (places & (rng.random((runs, cap)) < min(1.0, chance))).astype(float)


def bursts(rng: np.random.Generator, runs: int, cap: int, block: int, rate: float) -> Floats:
    """Return flips that come in blocks, each noisy or quiet by itself."""
    noisy = max(rate, MOST_NOISY)
    blocks = rng.random((runs, math.ceil(cap / block))) < rate / noisy
    inside = np.repeat(blocks, block, axis=1)[:, :cap]
    return (inside & (rng.random((runs, cap)) < noisy)).astype(float)


def by_run(rng: np.random.Generator, runs: int, cap: int, block: int, rate: float) -> Floats:
    """Return flips of a judge that is noisy in half of its runs."""
    whole = rng.random((runs, 1)) < 0.5
    return (whole & (rng.random((runs, cap)) < min(1.0, 2 * rate))).astype(float)


def continuous(rng: np.random.Generator, runs: int, cap: int, block: int, rho: float) -> Floats:
    """Return scores (runs, cap, 2) without ties, every item alike."""
    return _correlated(rng, runs, cap, 2 * math.sin(math.pi * rho / 6))


def few_scores(rng: np.random.Generator, runs: int, cap: int, block: int, rho: float) -> Floats:
    """Return scores of which a share 1 - rho is drawn anew, the others repeat exactly."""
    scores = np.repeat(rng.normal(size=(runs, cap, 1)), 2, axis=2)
    anew = rng.random((runs, cap)) >= max(0.0, rho)
    scores[..., 1] = np.where(anew, rng.normal(size=(runs, cap)), scores[..., 1])
    return scores


def tied(rng: np.random.Generator, runs: int, cap: int, block: int, rho: float) -> Floats:
    """Return scores on five levels, most of them on the highest."""
    return np.searchsorted(CUTS, _correlated(rng, runs, cap, latent(rho))).astype(float)


def _correlated(rng: np.random.Generator, runs: int, cap: int, r: float) -> Floats:
    common = rng.normal(size=(runs, cap, 1)) * math.sqrt(max(0.0, r))
    own = rng.normal(size=(runs, cap, 2)) * math.sqrt(1 - max(0.0, r))
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


Draw = Callable[[np.random.Generator, int, int, int, float], Floats]
FLIPS: Mapping[str, Draw] = {
    "even": even,
    "few items": few_items,
    "bursts": bursts,
    "by run": by_run,
}
SCORES: Mapping[str, Draw] = {"even": continuous, "few items": few_scores, "ties": tied}
