"""REML for items x runs with empty cells: restricted maximum likelihood of three variances.

The item effects are integrated out in closed form, so that one evaluation costs k^3 for k runs,
whatever the number of items: items with equally many readings enter by their sums alone. Checked
against lme4 (tests/reference/facets.R).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import optimize

Floats = NDArray[np.float64]
_LEAST, _MOST = -18.0, 18.0  # logs of the ratios of variances that are searched


@dataclass(frozen=True, slots=True)
class _Sums:
    """Sums over the items that have `size` readings.

    `items` counts them; `crossed` (sizes, k, k) sums m m', `totals` (sizes, k) m t and `squares`
    (sizes,) t^2 for an item's indicator m of its runs and its total t.
    """

    size: Floats
    items: Floats
    crossed: Floats
    totals: Floats
    squares: Floats
    counts: Floats
    by_run: Floats
    whole: float

    @classmethod
    def of(cls, y: Floats) -> "_Sums":
        there = (~np.isnan(y)).astype(float)
        values = np.where(there > 0, np.nan_to_num(y), 0.0)
        size, total = there.sum(axis=1), values.sum(axis=1)
        sizes = np.unique(size)
        groups = [size == s for s in sizes]
        return cls(
            sizes,
            np.array([float(g.sum()) for g in groups]),
            np.array([there[g].T @ there[g] for g in groups]),
            np.array([there[g].T @ total[g] for g in groups]),
            np.array([float(total[g] @ total[g]) for g in groups]),
            there.sum(axis=0),
            values.sum(axis=0),
            float((values**2).sum()),
        )


def fit_reml(y: Floats) -> tuple[float, float, float]:
    """Return the variances between items, between runs, and of the residual.

    Parameters
    ----------
    y : array, shape (n items, k runs)
        Scores, nan for an empty cell; every row and column has a reading.

    Returns
    -------
    (item, run, residual), each at least 0, in squared scale units.

    References
    ----------
    Patterson & Thompson (1971), Biometrika 58, 545-554.
    """
    centre = float(np.nanmean(y))
    sums = _Sums.of(y - centre)
    start = np.array([0.0, -2.0])
    found = min(
        (_search(sums, start + shift) for shift in (0.0, -4.0)), key=lambda result: result[0]
    )
    item, run = np.exp(found[1])
    residual = _profile(sums, item, run)[1]
    return float(item * residual), float(run * residual), residual


def _search(sums: _Sums, start: Floats) -> tuple[float, Floats]:
    def deviance(logs: Floats) -> float:
        item, run = np.exp(np.clip(logs, _LEAST, _MOST))
        return _profile(sums, float(item), float(run))[0]

    rough = optimize.minimize(deviance, start, method="L-BFGS-B", bounds=[(_LEAST, _MOST)] * 2)
    best = optimize.minimize(deviance, rough.x, method="Nelder-Mead", tol=1e-10)
    return float(best.fun), np.clip(best.x, _LEAST, _MOST)


def _profile(sums: _Sums, item: float, run: float) -> tuple[float, float]:
    """Return minus twice the restricted log likelihood, up to a constant, and the residual.

    `item` and `run` are variances in units of the residual's.
    """
    shrink = item / (1 + item * sums.size)
    inner = np.diag(sums.counts) - np.einsum("s,sij->ij", shrink, sums.crossed)
    right = sums.by_run - shrink @ sums.totals
    square = sums.whole - float(shrink @ sums.squares)
    ones = inner.sum(axis=1)
    # Runs are integrated out next: V^-1 = W - W Z (I / run + Z'WZ)^-1 Z'W.
    k = inner.shape[0]
    core = np.eye(k) + run * inner
    solved = np.linalg.solve(core, np.column_stack([run * ones, run * right]))
    xx = float(ones.sum() - ones @ solved[:, 0])
    xy = float(right.sum() - ones @ solved[:, 1])
    yy = square - float(right @ solved[:, 1])
    freedom = float(sums.counts.sum()) - 1
    residual = max(yy - xy**2 / xx, 1e-300) / freedom
    logs = float(sums.items @ np.log1p(item * sums.size)) + float(np.linalg.slogdet(core)[1])
    return logs + np.log(xx) + freedom * np.log(residual), residual
