"""What a judge's noise does to the consumer: decisions that differ between two passes.

Consumers and their forward functions (instability in, share of decisions out):

* reward sign: the sign of a group-relative advantage; `advantage_sign_flip`,
  `binary_advantage` for pass/fail rewards;
* best of n: `best_of_n`;
* pass/fail filter: `pass_marks.py`;
* leaderboard order: `leaderboard`.

`requirements.py` turns them round. All of this is precision: a perfectly repeatable
judge can be wrong, and no function here can tell.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgeaudit.errors import InputError
from judgeaudit.stats.interval import Undefined

Floats = NDArray[np.float64]


def _within(name: str, value: float, low: float, high: float) -> None:
    if not low <= value <= high:
        raise InputError("decision", name, f"{value!r}", f"give a value from {low:g} to {high:g}")


def advantage_sign_flip(rho: float, *, against_truth: bool = False) -> float:
    """Chance that a group-centred advantage changes its sign between two judge passes.

    arccos(rho)/pi at within-group reliability rho; against the noise-free sign
    arccos(sqrt rho)/pi. Exact for normal scores and any group size, because centring is
    common to signal and noise.

    Parameters
    ----------
    rho : float
        Reliability of scores within a group, in [0, 1].
    against_truth : bool
        Against the sign without noise, instead of a second pass.

    Returns
    -------
    float in [0, 1/2].
    """
    _within("reliability", rho, 0.0, 1.0)
    return math.acos(math.sqrt(rho) if against_truth else rho) / math.pi


def binary_advantage(
    flip: float,
    *,
    rng: np.random.Generator,
    group: int = 8,
    success: tuple[float, float] = (0.5, 0.5),
    runs: int = 20_000,
) -> tuple[float, float]:
    """Simulate pass/fail rewards that are each inverted with chance `flip`.

    True success chances are Beta(`success`), one a group. Returns the share of advantage
    signs (-, 0, +) that differ between two passes, and the share of truly uniform groups
    that receive a spurious gradient in one pass.

    Parameters
    ----------
    flip : float
        Chance that one reward is inverted, in [0, 1].
    rng : numpy Generator
        Draws the groups.
    group : int
        Candidates in a group.
    success : (float, float)
        Parameters of the beta distribution of true success chances.
    runs : int
        Number of simulated groups.

    Returns
    -------
    (signs that differ, uniform groups with a spurious gradient), shares in [0, 1].
    """
    _within("flip", flip, 0.0, 0.5)
    chance = rng.beta(*success, size=(runs, 1))
    truth = rng.random((runs, group)) < chance
    passes = [truth ^ (rng.random((runs, group)) < flip) for _ in range(2)]
    signs = [np.sign(p * group - p.sum(axis=1, keepdims=True)) for p in passes]
    uniform = np.ptp(truth.astype(int), axis=1) == 0
    mixed = np.ptp(passes[0].astype(int), axis=1) > 0
    spurious = float(np.mean(mixed[uniform])) if uniform.any() else math.nan
    return float(np.mean(signs[0] != signs[1])), spurious


def _pick_shares(scores: Floats) -> Floats:
    """Share of the pick that each candidate gets in each pass, ties split evenly (axis 1)."""
    best = scores == scores.max(axis=1, keepdims=True)
    return np.asarray(best / best.sum(axis=1, keepdims=True))


@dataclass(frozen=True, slots=True)
class BestOfN:
    """How often two passes pick differently, and what the noisy pick costs in score units.

    The cost against the candidate that is best in expectation is not identified by
    finitely many passes; on average it lies between `regret_low` and `regret_high`.
    """

    changes: float
    regret_low: float
    regret_high: float
    by_prompt: Floats


def best_of_n(scores: ArrayLike) -> BestOfN | Undefined:
    """Pick changes and regret from prompts x candidates x passes of scores.

    Changes: the U-statistic over pairs of passes of 1 - sum_c share_j(c) share_k(c), ties
    sharing the pick evenly. Regret is cross-fitted, no pass values its own pick: the mean of
    the held-out passes at the pick, against the largest mean over all passes (too large, so
    `regret_high`) and against the held-out value of what the other passes would pick (too
    small, so `regret_low`; 0 with fewer than 3 passes).

    Parameters
    ----------
    scores : array, shape (prompts, candidates, passes)
        Scores in scale units; no nan.

    Returns
    -------
    BestOfN, or Undefined with the reason.
    """
    y = np.asarray(scores, float)
    if y.ndim != 3 or np.isnan(y).any():
        raise InputError("best of n", "", f"shape {y.shape}", "give prompts x candidates x passes")
    passes = y.shape[2]
    if passes < 2:
        return Undefined("needs >= 2 passes")
    shares = _pick_shares(y)
    same = (shares.sum(axis=2) ** 2).sum(axis=1) - (shares**2).sum(axis=(1, 2))
    changes = np.asarray(1 - same / (passes * (passes - 1)))
    held_out = (y.sum(axis=2, keepdims=True) - y) / (passes - 1)
    value = float((shares * held_out).sum(axis=1).mean())
    high = float(y.mean(axis=2).max(axis=1).mean()) - value
    return BestOfN(float(changes.mean()), _regret_low(y, shares), high, changes)


def _regret_low(y: Floats, shares: Floats) -> float:
    """Mean over pick j and value k of what pass k sees lost against the pick of the rest."""
    passes = y.shape[2]
    if passes < 3:
        return 0.0
    total, lost = y.sum(axis=2), []
    for j in range(passes):
        for k in range(passes):
            if j != k:
                rest = (total - y[:, :, j] - y[:, :, k]) / (passes - 2)
                reference = _pick_shares(rest[:, :, None])[:, :, 0]
                lost.append(((reference - shares[:, :, j]) * y[:, :, k]).sum(axis=1).mean())
    return float(np.mean(lost))


@dataclass(frozen=True, slots=True)
class Leaderboard:
    """What two passes do to the order of systems.

    `top_changes` is the chance that another system leads, `tau` the mean Kendall tau-b
    between passes, `pair_flips` the chance that a pair of systems changes order (a tie in
    one pass counts half), systems x systems.
    """

    top_changes: float
    tau: float
    pair_flips: Floats


def leaderboard(
    scores: ArrayLike, *, rng: np.random.Generator, draws: int = 2000
) -> Leaderboard | Undefined:
    """Resample passes of a leaderboard from systems x items x repeats of scores.

    Items stay fixed; each pass takes one repeat of each system and item at random, two
    *different* repeats for the two passes, so that none agrees with itself.

    Parameters
    ----------
    scores : array, shape (systems, items, repeats)
        Scores in scale units, nan for missing.
    rng : numpy Generator
        Draws the passes.
    draws : int
        Number of pairs of passes.

    Returns
    -------
    Leaderboard, or Undefined with the reason.
    """
    y = np.asarray(scores, float)
    if y.ndim != 3 or np.isnan(y).any():
        raise InputError("leaderboard", "", f"shape {y.shape}", "give systems x items x repeats")
    systems, items, repeats = y.shape
    if repeats < 2 or systems < 2:
        return Undefined("needs >= 2 systems and >= 2 repeats")
    means = np.empty((2, draws, systems))
    for draw in range(draws):
        first = rng.integers(repeats, size=(systems, items))
        second = (first + rng.integers(1, repeats, size=first.shape)) % repeats
        for which, pick in enumerate((first, second)):
            means[which, draw] = np.take_along_axis(y, pick[:, :, None], 2)[:, :, 0].mean(axis=1)
    # Means of the same scores in another order of addition must tie exactly.
    return _compare(np.round(means, 12))


def _compare(means: Floats) -> Leaderboard:
    signs = np.sign(means[:, :, :, None] - means[:, :, None, :])
    product = signs[0] * signs[1]
    discord = (1 - product) / 2
    top = [_pick_shares(m[:, :, None])[:, :, 0] for m in means]
    untied = np.sqrt((signs[0] ** 2).sum(axis=(1, 2)) * (signs[1] ** 2).sum(axis=(1, 2)))
    with np.errstate(invalid="ignore"):
        tau = product.sum(axis=(1, 2)) / untied
    flips = discord.mean(axis=0)
    np.fill_diagonal(flips, 0.0)
    agree = float((top[0] * top[1]).sum(axis=1).mean())
    return Leaderboard(1 - agree, float(np.nanmean(tau)) if untied.any() else math.nan, flips)
