"""From a tolerated share of wrong or flipped decisions to the instability allowed.

The requirement of a study comes from its consumer, never from its pilot. Each function
here inverts one of `decisions.py`: given the share of decisions that may differ, it
returns the largest within-item SD or flip rate, or the smallest reliability, that keeps
within it. A tolerated share that any instability keeps (>= the worst case) gives an
infinite SD or the largest flip rate.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, special

from judgeaudit.errors import InputError
from judgeaudit.stats.decisions import binary_advantage

Floats = NDArray[np.float64]


def _check(tolerated: float) -> None:
    if not 0 < tolerated < 1:
        raise InputError(
            "requirement", "tolerated", f"{tolerated!r}", "give a share between 0 and 1"
        )


def reliability_required_by_sign(tolerated: float, *, against_truth: bool = False) -> float:
    """Smallest within-group reliability at which advantage signs flip no more than tolerated.

    cos(pi t), or cos²(pi t) against the noise-free sign; 0 from t = 1/2 on.

    Parameters
    ----------
    tolerated : float
        Largest share of signs that may differ.
    against_truth : bool
        Against the sign without noise, instead of a second pass.

    Returns
    -------
    float in [0, 1].
    """
    _check(tolerated)
    cosine = math.cos(math.pi * min(tolerated, 0.5))
    return cosine * cosine if against_truth else cosine


def sd_allowed_by_reliability(reliability: float, true_sd: float) -> float:
    """Largest within-item SD at a reliability: s_t sqrt(1/rho - 1).

    Parameters
    ----------
    reliability : float
        Reliability rho of one score, in [0, 1].
    true_sd : float
        SD s_t of true scores, in scale units.

    Returns
    -------
    float in scale units; infinite at 0.
    """
    if not 0 <= reliability <= 1 or true_sd < 0:
        raise InputError("requirement", "reliability", f"{reliability!r}", "give it in [0, 1]")
    return math.inf if reliability == 0 else true_sd * math.sqrt(1 / reliability - 1)


def sd_allowed_by_leaderboard(
    tolerated: float, gap: float, items: int, *, item_sd: float = 0.0
) -> float:
    """Largest within-item SD at which two systems `gap` apart flip no more than tolerated.

    Solves 2 P (1 - P) = t with P = Phi(d/tau), so tau = d/Phi^-1((1 + sqrt(1 - 2 t))/2), and
    tau² = (2 s_w² + item_sd²)/n. `item_sd` is the SD of true item differences when the
    next pass has new items, 0 for the same items; 0 is returned when that alone is too much.

    Parameters
    ----------
    tolerated : float
        Largest share of pairs of passes that may order the two systems otherwise.
    gap : float
        Difference d of their true means, in scale units.
    items : int
        Items n of the leaderboard.
    item_sd : float
        SD of true item differences, for passes with new items; 0 for the same items.

    Returns
    -------
    float in scale units.
    """
    _check(tolerated)
    if gap <= 0 or items < 1 or item_sd < 0:
        raise InputError("requirement", "gap, items", f"{gap!r}, {items!r}", "give both > 0")
    if tolerated >= 0.5:
        return math.inf
    tau = gap / float(special.ndtri((1 + math.sqrt(1 - 2 * tolerated)) / 2))
    return math.sqrt(max(0.0, (items * tau * tau - item_sd**2) / 2))


def flip_allowed_by_filter(tolerated: float, *, kind: str = "retest") -> float:
    """Largest retest flip rate of a pass/fail filter.

    "retest": verdicts that differ on a second judgment may be the tolerated share. "majority":
    verdicts that differ from the item's own majority may; since E min(p, 1 - p) <= flip in the
    worst case, the same number is safe there too, and up to twice as much may be harmless.

    Parameters
    ----------
    tolerated : float
        Largest share of verdicts that may differ.
    kind : "retest" or "majority"
        From what they may differ.

    Returns
    -------
    float in [0, 1].
    """
    _check(tolerated)
    if kind not in ("retest", "majority"):
        raise InputError("requirement", "kind", f"{kind!r}", "use retest or majority")
    return min(tolerated, 0.5)


def flip_allowed_by_binary_reward(
    tolerated: float, *, seed: int, group: int = 8, runs: int = 20_000
) -> float:
    """Largest chance of an inverted reward at which advantage signs flip no more than tolerated.

    `binary_advantage` with Beta(.5, .5) success chances, simulated with common random
    numbers from `seed`, so that the share is a function of the flip rate alone.

    Parameters
    ----------
    tolerated : float
        Largest share of advantage signs that may differ.
    seed : int
        Seed of the simulation.
    group : int
        Candidates in a group.
    runs : int
        Number of simulated groups.

    Returns
    -------
    float in [0, 1/2].
    """
    _check(tolerated)

    def excess(flip: float) -> float:
        rng = np.random.default_rng(seed)
        return binary_advantage(flip, rng=rng, group=group, runs=runs)[0] - tolerated

    if excess(0.5) <= 0:
        return 0.5
    return float(optimize.brentq(excess, 0.0, 0.5, xtol=1e-5))


def pick_change(ratio: float, candidates: int) -> float:
    """Chance that two passes pick another best of n normal candidates, s_w/s_t = `ratio`.

    Two passes with the same normal true values and fresh normal noise, by a simulation with
    a fixed seed (Monte Carlo error below .0025).

    Parameters
    ----------
    ratio : float
        Noise SD over the SD of true scores within a prompt.
    candidates : int
        Candidates n of a prompt.

    Returns
    -------
    float in [0, 1].
    """
    if candidates < 2 or ratio < 0:
        raise InputError("requirement", "candidates", f"{candidates!r}", "give at least 2")
    truth, one, two = _normal_draws(candidates)
    first, second = (truth + ratio * one).argmax(axis=1), (truth + ratio * two).argmax(axis=1)
    return float(np.mean(first != second))


@lru_cache(maxsize=4)
def _normal_draws(candidates: int) -> tuple[Floats, Floats, Floats]:
    draws = np.random.default_rng(candidates).normal(size=(3, 40_000, candidates))
    return draws[0], draws[1], draws[2]


def sd_allowed_by_pick(tolerated: float, candidates: int, true_sd: float) -> float:
    """Largest within-item SD at which best-of-n picks change no more than tolerated.

    Normal true values with SD `true_sd` among the candidates of a prompt; read off
    `pick_change`, whose Monte Carlo error is below .0025.

    Parameters
    ----------
    tolerated : float
        Largest share of picks that may change.
    candidates : int
        Candidates n of a prompt.
    true_sd : float
        SD of true scores within a prompt, in scale units.

    Returns
    -------
    float in scale units.
    """
    _check(tolerated)

    def excess(ratio: float) -> float:
        return pick_change(ratio, candidates) - tolerated

    if excess(1e3) <= 0:
        return math.inf
    return true_sd * float(optimize.brentq(excess, 0.0, 1e3, xtol=1e-4))
