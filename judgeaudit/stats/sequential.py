"""A flip gate that may look after every item, by two Beta-mixture e-processes.

Each re-asked item gives x = 1 if its two answers disagree. Two nulls are bet against:

* "the flip rate is at least T": E_pass mixes the likelihood ratio L(theta)/L(T) evenly
  over theta in [0, T). Once it reaches 1/alpha the gate passes.
* "the flip rate is below T" (at most T): E_fail mixes evenly over (T, 1]. Once it
  reaches 1/alpha the gate fails.

By Ville's inequality each wrong decision has chance <= alpha however often one looks,
**if each item is fresh and its order is random**: a fixed order re-used on every run
tests only its first items. The order is drawn anew per run (by the caller, from a
digest), and a rerun on the same commit continues the same state.

An invalid reply counts as a flip for passing and is left out for failing, so that
silence can neither pass nor fail a judge. What was decided stays decided.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from judgeaudit.errors import InputError

Floats = NDArray[np.float64]
Outcome = Literal["pass", "fail", "inconclusive"]


def _check(threshold: float, alpha: float) -> None:
    if not (0 < threshold < 1 and 0 < alpha < 1):
        raise InputError(
            "flip gate",
            "threshold, alpha",
            f"{threshold!r}, {alpha!r}",
            "give both between 0 and 1",
        )


def log_e_pass(flips: ArrayLike, n: ArrayLike, threshold: float) -> Floats:
    """Log of the evidence, elementwise, that the flip rate is below `threshold`.

    int_0^T theta^s (1 - theta)^(n - s) dtheta / (T · T^s (1 - T)^(n - s)), in logs by the
    incomplete beta function; 0 at n = 0.

    Parameters
    ----------
    flips, n : array, any shape
        Flips among n re-asked items.
    threshold : float
        The gate's flip rate T, in (0, 1).

    Returns
    -------
    array of the common shape.
    """
    s, f = _split(flips, n)
    lower = special.betainc(s + 1, f + 1, threshold)
    return _log_ratio(s, f, threshold, np.asarray(lower, float), threshold)


def log_e_fail(flips: ArrayLike, n: ArrayLike, threshold: float) -> Floats:
    """Log of the evidence, elementwise, that the flip rate is above `threshold`.

    Parameters
    ----------
    flips, n : array, any shape
        Flips among n re-asked items.
    threshold : float
        The gate's flip rate T, in (0, 1).

    Returns
    -------
    array of the common shape.
    """
    s, f = _split(flips, n)
    upper = special.betaincc(s + 1, f + 1, threshold)
    return _log_ratio(s, f, threshold, np.asarray(upper, float), 1 - threshold)


def _split(flips: ArrayLike, n: ArrayLike) -> tuple[Floats, Floats]:
    s, total = np.asarray(flips, float), np.asarray(n, float)
    if np.any(s < 0) or np.any(s > total):
        raise InputError("flip gate", "counts", f"{flips!r} of {n!r}", "give 0 <= flips <= n")
    return s, total - s


def _log_ratio(s: Floats, f: Floats, threshold: float, mass: Floats, width: float) -> Floats:
    # A mass that underflows to 0 is evidence of e^-700 at most: -inf is its honest log.
    with np.errstate(divide="ignore"):
        log_mass = np.log(mass)
    at_threshold = s * math.log(threshold) + f * math.log1p(-threshold)
    return np.asarray(special.betaln(s + 1, f + 1) + log_mass - math.log(width) - at_threshold)


@dataclass(frozen=True, slots=True)
class FlipGate:
    """State of one sequential flip gate; four counts and the decision say all of it.

    `items` counts re-asked items with a valid reply, `invalid` those without. Store it
    and go on later: the process continues, it does not begin again.
    """

    threshold: float
    alpha: float = 0.05
    items: int = 0
    flips: int = 0
    invalid: int = 0
    decision: Literal["pass", "fail"] | None = None

    def __post_init__(self) -> None:
        """Refuse a threshold or alpha outside (0, 1)."""
        _check(self.threshold, self.alpha)

    @property
    def log_e_pass(self) -> float:
        """Log evidence for passing, each invalid reply counted as a flip."""
        flips, n = self.flips + self.invalid, self.items + self.invalid
        return float(log_e_pass(flips, n, self.threshold))

    @property
    def log_e_fail(self) -> float:
        """Log evidence for failing, invalid replies left out."""
        return float(log_e_fail(self.flips, self.items, self.threshold))

    def update(self, flipped: bool | int | None) -> FlipGate:
        """Return the state after one more item: 1 flipped, 0 did not, None invalid.

        After a decision nothing changes any more.
        """
        if self.decision is not None:
            return self
        if flipped is None:
            after = replace(self, invalid=self.invalid + 1)
        else:
            after = replace(self, items=self.items + 1, flips=self.flips + int(bool(flipped)))
        bar = -math.log(self.alpha)
        if after.log_e_pass >= bar:
            return replace(after, decision="pass")
        if after.log_e_fail >= bar:
            return replace(after, decision="fail")
        return after

    def run(self, flipped: Iterable[bool | int | None]) -> FlipGate:
        """Update with each item in turn and stop reading at a decision."""
        state = self
        for value in flipped:
            if state.decision is not None:
                break
            state = state.update(value)
        return state


@dataclass(frozen=True, slots=True)
class Stops:
    """Where simulated or stored runs of a gate stopped.

    `outcome` is +1 pass, -1 fail, 0 none by the cap; `items` is how many were asked.
    """

    outcome: NDArray[np.int_]
    items: NDArray[np.int_]

    def rate(self, outcome: Outcome) -> float:
        """Share of the runs that ended so."""
        code = {"pass": 1, "fail": -1, "inconclusive": 0}[outcome]
        return float(np.mean(self.outcome == code))

    @property
    def mean_items(self) -> float:
        """Mean number of re-asked items a run."""
        return float(self.items.mean())


def first_crossings(passes: NDArray[np.bool_], fails: NDArray[np.bool_]) -> Stops:
    """Where each run (row) first passes or fails; the cap is the number of columns.

    Parameters
    ----------
    passes, fails : array of bool, shape (runs, items)
        Whether the run would pass, or fail, after each item.

    Returns
    -------
    Stops
    """
    cap = passes.shape[1]
    at_pass = np.where(passes.any(axis=1), passes.argmax(axis=1), cap)
    at_fail = np.where(fails.any(axis=1), fails.argmax(axis=1), cap)
    outcome = np.where(at_pass < at_fail, 1, np.where(at_fail < at_pass, -1, 0))
    return Stops(outcome, np.minimum(np.minimum(at_pass, at_fail) + 1, cap))


@lru_cache(maxsize=32)
def flip_boundaries(
    threshold: float, alpha: float = 0.05, cap: int = 400
) -> tuple[NDArray[np.int_], NDArray[np.int_]]:
    """Most flips that pass and fewest that fail after n = 0..cap items.

    Both evidences are monotone in the flips, so the gate is two rows of whole numbers:
    -1 where no count passes, cap + 1 where none fails.

    Parameters
    ----------
    threshold : float
        The gate's flip rate T, in (0, 1).
    alpha : float
        Chance of a wrong decision on each side.
    cap : int
        Most items.

    Returns
    -------
    Two arrays of int, shape (cap + 1,).
    """
    _check(threshold, alpha)
    s, n = np.arange(cap + 1), np.arange(cap + 1)[:, None]
    possible, held = s <= n, np.minimum(s, n)
    bar = -math.log(alpha)
    passes = possible & (log_e_pass(held, np.broadcast_to(n, held.shape), threshold) >= bar)
    fails = possible & (log_e_fail(held, np.broadcast_to(n, held.shape), threshold) >= bar)
    fewest = np.where(fails.any(axis=1), fails.argmax(axis=1), cap + 1)
    return passes.sum(axis=1) - 1, fewest


def stop_flip_gates(flips: ArrayLike, threshold: float, alpha: float = 0.05) -> Stops:
    """Run many flip gates at once on a runs x items array of 1, 0 and NaN (invalid).

    The same rule as `FlipGate`, vectorised through `flip_boundaries`.

    Parameters
    ----------
    flips : array, shape (runs, items)
        1 flipped, 0 did not, nan could not be read.
    threshold : float
        The gate's flip rate T, in (0, 1).
    alpha : float
        Chance of a wrong decision on each side.

    Returns
    -------
    Stops
    """
    x = np.asarray(flips, float)
    most, fewest = flip_boundaries(threshold, alpha, x.shape[1])
    invalid = np.isnan(x)
    strict = np.where(invalid, 1.0, x).cumsum(axis=1)
    lenient = np.where(invalid, 0.0, x).cumsum(axis=1)
    return first_crossings(strict <= most[1:], lenient >= fewest[(~invalid).cumsum(axis=1)])
