"""The noise of a run's mean, from runs that lie in sessions (windows, days).

Two runs of one session share that session's state; two runs of different sessions do not. So the
variance of a run's mean is estimated for one comparison at a time, and its name says for which.

Rules of this module:

* No sessions: the variance of the k run means, k - 1 degrees of freedom.
* Between sessions, with S >= 5: S_b^2 + (1 - 1/r) S_w^2, where S_b^2 is the variance of the
  session means, S_w^2 the variance of runs within sessions and r the runs a session; degrees of
  freedom by Satterthwaite (1946).
* Between sessions, with 2 <= S < 5: one run drawn from each session, S - 1 degrees of freedom.
  The session means would understate it: they average runs that a single run does not.
* Within a session: S_w^2, with the sum of (runs - 1) over sessions as degrees of freedom.
* One run, or one session for a claim between sessions: undefined, in words.
"""

import numpy as np
from numpy.typing import NDArray

from judgeaudit.stats.facets import RunModel
from judgeaudit.stats.interval import Undefined
from judgeaudit.stats.resolution import Calibration

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
POOLED_FROM_SESSIONS = 5


def between_runs(model: RunModel, readings: float = 1.0) -> Calibration:
    """Return the noise of a run's mean from all runs, taken as exchangeable.

    Parameters
    ----------
    model : RunModel
        Items x runs; each cell the mean of `readings` readings.
    readings : float
        Readings an item in each run.

    Returns
    -------
    Calibration with k - 1 degrees of freedom.
    """
    total = float(model.means.var(ddof=1))
    return _calibration(model, total, model.runs - 1, model.runs, "two runs", readings)


def _calibration(
    model: RunModel, total: float, df: float, runs: int, name: str, readings: float = 1.0
) -> Calibration:
    # A cell's residual is that of a mean of `readings`; a calibration speaks of one reading.
    one = model.residual * readings
    n = round(model.per_run)
    return Calibration(total, one, n, readings, df, model.residual_df, runs, name)


def within_sessions(
    model: RunModel, sessions: Codes, name: str = "session"
) -> Calibration | Undefined:
    """Return the noise of a run's mean for two runs of one session.

    Parameters
    ----------
    model : RunModel
        Items x runs.
    sessions : array of int, shape (k,)
        The session of each run.
    name : str
        What a session is called: "session", "window", "day".

    Returns
    -------
    Calibration, or Undefined if no session holds two runs.
    """
    df, squares = _within(model.means, sessions)
    if df == 0:
        return Undefined(f"no {name} holds two runs")
    return _calibration(model, squares / df, df, df + 1, f"two runs of one {name}")


def between_sessions(
    model: RunModel, sessions: Codes, rng: np.random.Generator, name: str = "session"
) -> Calibration | Undefined:
    """Return the noise of a run's mean for two runs of different sessions.

    Parameters
    ----------
    model : RunModel
        Items x runs.
    sessions : array of int, shape (k,)
        The session of each run.
    rng : numpy Generator
        Draws one run from each session where there are fewer than five.
    name : str
        What a session is called.

    Returns
    -------
    Calibration, or Undefined with one session.
    """
    _, codes = np.unique(sessions, return_inverse=True)
    count = int(codes.max()) + 1
    comparison = f"two runs of different {name}s"
    if count < 2:
        return Undefined(f"one {name}: nothing tells how {name}s differ")
    if count < POOLED_FROM_SESSIONS:
        drawn = np.array([rng.choice(model.means[codes == s]) for s in range(count)])
        return _calibration(model, float(drawn.var(ddof=1)), count - 1, count, comparison)
    total, df = _pooled(model.means, codes)
    return _calibration(model, total, df, count, comparison)


def _pooled(means: Floats, codes: Codes) -> tuple[float, float]:
    """Variance of one run's mean over sessions, and its degrees of freedom."""
    sizes = np.bincount(codes)
    of_sessions = np.bincount(codes, weights=means) / sizes
    between = float(of_sessions.var(ddof=1))
    inside, squares = _within(means, codes)
    if inside == 0:
        return between, sizes.size - 1
    share = 1 - float((1 / sizes).mean())
    within = share * squares / inside
    df = (between + within) ** 2 / (between**2 / (sizes.size - 1) + within**2 / inside)
    return between + within, df


def _within(means: Floats, sessions: Codes) -> tuple[int, float]:
    """Degrees of freedom and sum of squares of run means within their sessions."""
    _, codes = np.unique(sessions, return_inverse=True)
    sizes = np.bincount(codes)
    centre = np.bincount(codes, weights=means) / sizes
    return int((sizes - 1).sum()), float(((means - centre[codes]) ** 2).sum())
