"""How many calls to aggregate so that two aggregates give the same ranking.

The pilot tells the Kendall spectrum of a pair of calls on one item: how often they lie 0,
1, 2, ... neighbouring swaps apart. It does not tell the joint law of k calls; that is a
**surrogate**, which every result names:

* "item": an item has a D of its own from the spectrum, and each of its calls is
  Binomial(D, 1/2) swaps away (quiet items stay quiet, noisy ones noisy);
* "call": each call draws a D of its own.

A call d swaps away is uniform among the rankings with d inversions to the item's reference.
With k = 1 the surrogate should give back the pilot's exact-match share; `agreement` prints
it, so that the distance between surrogate and pilot is seen. Two random surrogates do not
bound the truth, and these numbers size a design; they are no result.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgeaudit.errors import InputError
from judgeaudit.stats.interval import Undefined

Floats = NDArray[np.float64]
Ints = NDArray[np.int_]
Surrogate = Literal["item", "call"]
Aggregator = Literal["borda", "median"]


@lru_cache(maxsize=8)
def _mahonian(candidates: int) -> Floats:
    """Count the rankings of 0..m candidates with each number of inversions, (m + 1) x (max + 1)."""
    most = math.comb(candidates, 2)
    table = np.zeros((candidates + 1, most + 1))
    table[0, 0] = 1.0
    for size in range(1, candidates + 1):
        for move in range(size):
            table[size, move:] += table[size - 1, : most + 1 - move]
    return table


def rankings_at(distances: ArrayLike, candidates: int, *, rng: np.random.Generator) -> Ints:
    """Draw rankings uniformly among those with the given inversions (.. x candidates of 0..m-1).

    Inversion tables are drawn from the last candidate down, each entry in proportion to the
    number of ways in which the rest can supply what is left (Mahonian numbers).

    Parameters
    ----------
    distances : array of int, any shape
        Numbers of pairs in the wrong order, each from 0 to m (m - 1)/2.
    candidates : int
        Number m of candidates.
    rng : numpy Generator
        Draws the rankings.

    Returns
    -------
    array of int, shape (..., m): ranks 0..m-1 of each candidate.
    """
    left = np.asarray(distances, int).ravel().copy()
    ways = _mahonian(candidates)
    if np.any(left < 0) or np.any(left >= ways.shape[1]):
        raise InputError("rankings", "distance", f"{distances!r}", "give 0 to C(m, 2)")
    orders = np.zeros((left.size, 0), int)
    moves = np.zeros((candidates, left.size), int)
    for size in range(candidates, 0, -1):
        rest = left[:, None] - np.arange(size)
        weight = np.where(rest >= 0, ways[size - 1][np.maximum(rest, 0)], 0.0).cumsum(axis=1)
        moves[size - 1] = (weight <= rng.random((left.size, 1)) * weight[:, -1:]).sum(axis=1)
        left -= moves[size - 1]
    # Candidate `size` enters so far from the end: it passes that many earlier ones.
    for size in range(candidates):
        orders = _insert(orders, size, size - moves[size])
    return np.argsort(orders, axis=1).reshape(*np.shape(distances), candidates)


def _insert(orders: Ints, value: int, at: Ints) -> Ints:
    grown = np.empty((orders.shape[0], value + 1), int)
    columns = np.arange(value + 1)
    earlier = np.take_along_axis(
        np.pad(orders, ((0, 0), (0, 1))), columns - (columns > at[:, None]), axis=1
    )
    grown[:] = np.where(columns == at[:, None], value, earlier)
    return grown


def aggregate(ranks: ArrayLike, aggregator: Aggregator = "borda") -> Ints:
    """Ranks 0..m-1 of the aggregate of calls (.. x calls x candidates of ranks).

    Borda orders by mean rank, "median" by median rank; ties go to the candidate that
    stands first in the list.

    Parameters
    ----------
    ranks : array, shape (..., calls, candidates)
        Rank of each candidate in each call, 0 is first.
    aggregator : "borda" or "median"
        How calls are combined.

    Returns
    -------
    array of int, shape (..., candidates): ranks 0..m-1.
    """
    r = np.asarray(ranks, float)
    score = r.sum(axis=-2) if aggregator == "borda" else np.median(r, axis=-2)
    return np.asarray(np.argsort(np.argsort(score, axis=-1, kind="stable"), axis=-1), int)


@dataclass(frozen=True, slots=True)
class Agreement:
    """Chance that two aggregates of k calls are the same ranking, under a named surrogate."""

    k: int
    exact: float
    top: float
    surrogate: str
    runs: int


def agreement(
    spectrum: ArrayLike,
    candidates: int,
    k: int,
    *,
    rng: np.random.Generator,
    surrogate: Surrogate = "item",
    aggregator: Aggregator = "borda",
    runs: int = 4000,
) -> Agreement:
    """Simulate two aggregates of `k` calls each from a pilot's Kendall spectrum.

    `spectrum` counts pairs of calls by distance 0, 1, ...; candidates are shuffled, so that
    breaking ties by list order favours no reference.

    Parameters
    ----------
    spectrum : array, shape (distances,)
        Number of pairs of calls at distance 0, 1, 2, ... in a pilot.
    candidates : int
        Number m of candidates in a ranking.
    k : int
        Calls in each aggregate.
    rng : numpy Generator
        Draws the calls.
    surrogate : "item" or "swap"
        How a call is made from the spectrum.
    aggregator : "borda" or "median"
        How calls are combined.
    runs : int
        Number of simulated pairs of aggregates.

    Returns
    -------
    Agreement: shares of pairs of aggregates that agree, as a whole, on the first, and by pair.
    """
    counts = np.asarray(spectrum, float)
    if counts.size > math.comb(candidates, 2) + 1 or counts.sum() <= 0 or k < 1:
        raise InputError("aggregation", "spectrum", f"{counts.size} distances", "check m, k")
    shape = (runs, 1, 1) if surrogate == "item" else (runs, 2, k)
    apart = rng.choice(counts.size, size=shape, p=counts / counts.sum())
    moved = rng.binomial(np.broadcast_to(apart, (runs, 2, k)), 0.5)
    ranks = rankings_at(moved, candidates, rng=rng)
    shuffle = np.argsort(rng.random((runs, 1, 1, candidates)), axis=-1)
    both = aggregate(np.take_along_axis(ranks, shuffle, axis=-1), aggregator)
    exact = float(np.mean((both[:, 0] == both[:, 1]).all(axis=-1)))
    top = float(np.mean(both[:, 0].argmin(axis=-1) == both[:, 1].argmin(axis=-1)))
    return Agreement(k, exact, top, f"{surrogate}: coin split of the pilot's swaps", runs)


def smallest_k(
    spectrum: ArrayLike,
    candidates: int,
    wanted: float,
    *,
    rng: np.random.Generator,
    surrogate: Surrogate = "item",
    aggregator: Aggregator = "borda",
    most: int = 25,
    runs: int = 4000,
) -> Agreement | Undefined:
    """Fewest calls (odd numbers) whose aggregates agree exactly with chance >= `wanted`.

    Parameters
    ----------
    spectrum, candidates, rng, surrogate, aggregator, runs : as in `agreement`.
    wanted : float
        Chance of exact agreement that is wanted, in (0, 1).
    most : int
        Largest number of calls that is tried.

    Returns
    -------
    Agreement at the fewest calls, or Undefined if none up to `most` is enough.
    """
    for k in range(1, most + 1, 2):
        found = agreement(
            spectrum, candidates, k, rng=rng, surrogate=surrogate, aggregator=aggregator, runs=runs
        )
        if found.exact >= wanted:
            return found
    return Undefined(f"no k up to {most} reaches {wanted:g} under this surrogate")


def calls_for_sd(sd: float, allowed: float) -> int:
    """Fewest calls whose mean has at most the allowed within-item SD: (s_w/allowed)².

    Parameters
    ----------
    sd : float
        Within-item SD of one call, in scale units.
    allowed : float
        SD that the mean may have, in the same units.

    Returns
    -------
    int, at least 1.
    """
    if allowed <= 0:
        raise InputError("aggregation", "allowed", f"{allowed!r}", "give an SD above 0")
    return max(1, math.ceil((sd / allowed) ** 2 - 1e-9))
