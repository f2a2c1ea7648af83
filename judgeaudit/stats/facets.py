"""Items x runs: how far items, runs and the rest move a score.

Model: score of item i in run j = mean + item_i + run_j + residual_ij, all random. A "run" is any
facet that is crossed with the items: a run of the whole list, a window, a day, an order, a judge.

Rules of this module:

* A complete table gives mean squares: MSR between items, MSC between runs, MSE the residual.
  Variances are MSE, (MSR - MSE)/k and (MSC - MSE)/n (Shrout & Fleiss 1979, table 1). A negative
  one is kept: it says that the data show no such part; coefficients read it as 0.
* A table with empty cells is fitted by REML (`reml.py`), which gives the same numbers where
  nothing is empty and no variance is negative. Its "mean squares" are those of a complete table
  with the same variances, k0 readings an item and n0 items a run (harmonic means).
* Items without any reading are left out and counted. Run means are means over the same items:
  with empty cells, least squares with one effect an item (an item that left early is no shift).
* Fewer than two runs or three items, or runs that share no items: undefined, with the reason.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from judgeaudit.stats.interval import Undefined

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class RunModel:
    """The fitted model of items x runs; variances are in squared scale units.

    Attributes
    ----------
    item, run, residual : float
        Variances between items, between runs, and of what is left.
    msr, msc, mse : float
        Mean squares between items, between runs, residual.
    means, counts : array, shape (k,)
        Mean of each run over the same items, and its number of readings.
    items, runs : int
        Items with a reading, and runs (k).
    per_item, per_run : float
        Readings an item and items a run: k and n, or harmonic means with empty cells.
    empty : int
        Cells without a reading, of items x runs.
    method : str
        "mean squares" or "REML".
    """

    item: float
    run: float
    residual: float
    msr: float
    msc: float
    mse: float
    means: Floats
    counts: NDArray[np.int64]
    items: int
    runs: int
    per_item: float
    per_run: float
    empty: int
    method: str

    @property
    def residual_df(self) -> float:
        """Degrees of freedom of the residual: cells - items - runs + 1."""
        return self.items * self.runs - self.empty - self.items - self.runs + 1


def run_model(scores: Floats) -> RunModel | Undefined:
    """Return the variances between items, between runs and of the residual.

    Parameters
    ----------
    scores : array, shape (n items, k runs)
        Scores in scale units; nan where there is no reading.

    Returns
    -------
    RunModel, or Undefined with the reason.

    References
    ----------
    Shrout & Fleiss (1979), Psychological Bulletin 86, 420-428; Searle, Casella & McCulloch (1992),
    Variance Components, chapter 6 (REML).
    """
    y, why = usable(scores)
    if why:
        return Undefined(why)
    if np.isnan(y).any():
        return _unbalanced(y)
    n, k = y.shape
    msr, msc, mse = (float(v) for v in mean_squares(y))
    return RunModel(
        (msr - mse) / k,
        (msc - mse) / n,
        mse,
        msr,
        msc,
        mse,
        y.mean(axis=0),
        np.full(k, n),
        n,
        k,
        k,
        n,
        0,
        "mean squares",
    )


def usable(scores: Floats) -> tuple[Floats, str]:
    """Return the rows and columns that have a reading, and a reason if no model can be fitted.

    Parameters
    ----------
    scores : array, shape (n items, k runs)
        Scores, nan where there is no reading.

    Returns
    -------
    (array without empty rows and columns, reason or "").
    """
    present = ~np.isnan(scores)
    y = scores[present.any(axis=1)][:, present.any(axis=0)]
    if y.shape[1] < 2:
        return y, "one run: nothing tells how runs differ"
    if y.shape[0] < 3:
        return y, "fewer than 3 items"
    if np.nanmin(y) == np.nanmax(y):
        return y, "constant"
    there = (~np.isnan(y)).astype(float)
    if there.sum() <= y.shape[0] + y.shape[1] - 1:
        return y, "no item was read in two runs often enough to tell the residual"
    if not _connected(there):
        return y, "some runs share no items"
    return y, ""


def _connected(there: Floats) -> bool:
    """Return whether every run can be reached from the first through shared items."""
    shared = there.T @ there > 0
    reached = shared[0]
    for _ in range(shared.shape[0]):
        reached = shared[reached].any(axis=0)
    return bool(reached.all())


def mean_squares(y: Floats) -> tuple[Floats, Floats, Floats]:
    """Return MSR, MSC and MSE of complete tables, shape (..., n items, k runs).

    Parameters
    ----------
    y : array, shape (..., n items, k runs)
        Complete tables of scores.

    Returns
    -------
    Three arrays, shape (...), in squared scale units.
    """
    n, k = y.shape[-2:]
    y = y - y.mean(axis=(-2, -1), keepdims=True)
    item, run = y.mean(axis=-1), y.mean(axis=-2)
    between_items = k * (item**2).sum(axis=-1)
    between_runs = n * (run**2).sum(axis=-1)
    rest = np.maximum((y**2).sum(axis=(-2, -1)) - between_items - between_runs, 0.0)
    return between_items / (n - 1), between_runs / (k - 1), rest / ((n - 1) * (k - 1))


def _unbalanced(y: Floats) -> RunModel:
    from judgeaudit.stats.reml import fit_reml  # an optimiser: a quarter of a second to import

    item, run, residual = fit_reml(y)
    there = ~np.isnan(y)
    n, k = y.shape
    k0 = n / float((1 / there.sum(axis=1)).sum())
    n0 = k / float((1 / there.sum(axis=0)).sum())
    return RunModel(
        item,
        run,
        residual,
        residual + k0 * item,
        residual + n0 * run,
        residual,
        run_means(y),
        there.sum(axis=0).astype(np.int64),
        n,
        k,
        k0,
        n0,
        int((~there).sum()),
        "REML",
    )


def run_means(y: Floats) -> Floats:
    """Return the mean of each run over the same items, by least squares with one effect an item.

    For a complete table these are the column means. Shape (n, k) with nan; result (k,).

    Parameters
    ----------
    y : array, shape (n items, k runs)
        Scores, nan where there is no reading.

    Returns
    -------
    array, shape (k,), in scale units.
    """
    there = (~np.isnan(y)).astype(float)
    filled = np.where(there > 0, np.nan_to_num(y), 0.0)
    counts = there.sum(axis=1, keepdims=True)
    centred = np.where(there > 0, filled - filled.sum(axis=1, keepdims=True) / counts, 0.0)
    normal = np.diag(there.sum(axis=0)) - there.T @ (there / counts)
    effects = np.linalg.pinv(normal, hermitian=True) @ centred.sum(axis=0)
    level = (filled - there * effects).sum() / there.sum()
    return np.asarray(effects + level)
