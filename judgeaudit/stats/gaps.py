"""Empty cells: how many, and where they cluster: in runs, in items, in some kind of item.

An average over what came back speaks of all items only if what is missing is like the rest.

Rules of this module:

* By run: share of empty cells in each run; a chi-square test that all runs have one share.
* By item: the variance of the number of empty cells an item, against what it would be if each
  run's empty cells fell on items at random (permutation within runs).
* By kind of item: whether items with an empty cell have another mean score than those without, as
  a difference in SDs of the item means (permutation over items). Categories count as 0/1 each.
* Tables of more than 20,000 cells take the normal approximations of the last two tests.
* Three tests: Holm over them. `where` names those at or below .05 after that.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

from judgeaudit.stats.multiplicity import holm

Floats = NDArray[np.float64]
PERMUTATIONS = 999
LARGEST_PERMUTED = 20_000


@dataclass(frozen=True, slots=True)
class Gaps:
    """The pattern of empty cells.

    Attributes
    ----------
    empty, cells : int
        Empty cells and all cells.
    by_run : array, shape (k,)
        Share of empty cells in each run.
    items_touched, items_all_empty : int
        Items with an empty cell, and items without any reading.
    run_p, item_p, kind_p : float
        P values (unadjusted) of the three tests; nan where a test has nothing to compare.
    kind_difference : float
        Mean score of items with an empty cell less that of the others, in SDs of the item means.
    where : tuple of str
        Of "runs", "items", "kind of item", those where empty cells cluster.
    """

    empty: int
    cells: int
    by_run: Floats
    items_touched: int
    items_all_empty: int
    run_p: float
    item_p: float
    kind_p: float
    kind_difference: float
    where: tuple[str, ...]


def gaps(
    present: NDArray[np.bool_],
    values: Floats,
    *,
    rng: np.random.Generator,
    permutations: int = PERMUTATIONS,
) -> Gaps:
    """Return where the empty cells of a table lie.

    Parameters
    ----------
    present : array of bool, shape (n items, k runs)
        Whether the cell has a valid reading.
    values : array, shape (n,) or (n, q)
        What tells kinds of items apart: the item's mean score, or the share of each category in
        its readings; nan for an item without a reading.
    rng : numpy Generator
        Draws the permutations.
    permutations : int
        Number of permutations.

    Returns
    -------
    Gaps
    """
    missing = ~present
    n, k = present.shape
    run_p = _by_run(missing)
    item_p = _by_item(missing, rng, permutations)
    difference, kind_p = _by_kind(np.asarray(missing.any(axis=1)), values, rng, permutations)
    tests = {"runs": run_p, "items": item_p, "kind of item": kind_p}
    defined = {name: p for name, p in tests.items() if not np.isnan(p)}
    adjusted = holm(list(defined.values())) if defined else np.array([])
    return Gaps(
        int(missing.sum()),
        n * k,
        missing.mean(axis=0),
        int(missing.any(axis=1).sum()),
        int(missing.all(axis=1).sum()),
        run_p,
        item_p,
        kind_p,
        difference,
        tuple(name for name, p in zip(defined, adjusted, strict=True) if p <= 0.05),
    )


def _by_run(missing: NDArray[np.bool_]) -> float:
    n, k = missing.shape
    share = float(missing.mean())
    if k < 2 or share in (0, 1):
        return float("nan")
    counts = missing.sum(axis=0)
    statistic = float(((counts - n * share) ** 2).sum()) / (n * share * (1 - share))
    return float(special.chdtrc(k - 1, statistic))


def _by_item(missing: NDArray[np.bool_], rng: np.random.Generator, permutations: int) -> float:
    if missing.shape[1] < 2 or not missing.any() or missing.all():
        return float("nan")
    seen = int((missing.sum(axis=1) ** 2).sum())
    if missing.size > LARGEST_PERMUTED:
        return _overlap_p(missing, seen)
    hits = sum(
        int((rng.permuted(missing, axis=0).sum(axis=1) ** 2).sum()) >= seen
        for _ in range(permutations)
    )
    return (hits + 1) / (permutations + 1)


def _overlap_p(missing: NDArray[np.bool_], seen: int) -> float:
    """Upper p value of the sum of squares: cells shared by two runs are hypergeometric."""
    n = missing.shape[0]
    counts = missing.sum(axis=0).astype(np.float64)
    j, k = np.triu_indices(counts.size, 1)
    mean = counts[j] * counts[k] / n
    variance = mean * (n - counts[j]) * (n - counts[k]) / (n * (n - 1))
    spread = 2 * np.sqrt(variance.sum())
    if spread == 0:
        return float("nan")
    return float(special.ndtr(-(seen - counts.sum() - 2 * mean.sum()) / spread))


def _by_kind(
    touched: NDArray[np.bool_], values: Floats, rng: np.random.Generator, permutations: int
) -> tuple[float, float]:
    table = values[:, None] if values.ndim == 1 else values
    kept = ~np.isnan(table).any(axis=1)
    table, touched = table[kept], touched[kept]
    spread = table.std(axis=0, ddof=1) if table.shape[0] > 1 else np.zeros(table.shape[1])
    if touched.all() or not touched.any() or not (spread > 0).any():
        return float("nan"), float("nan")
    scaled = table[:, spread > 0] / spread[spread > 0]

    def apart(which: NDArray[np.bool_]) -> Floats:
        return np.asarray(scaled[which].mean(axis=0) - scaled[~which].mean(axis=0))

    seen = apart(touched)
    largest = float(np.abs(seen).max())
    if touched.size > LARGEST_PERMUTED:
        inside, n = int(touched.sum()), touched.size
        z = largest / np.sqrt(1 / inside + 1 / (n - inside))
        p = min(1.0, 2 * seen.size * float(special.ndtr(-z)))  # Bonferroni over categories
        return float(seen[np.abs(seen).argmax()]), p
    hits = sum(
        float(np.abs(apart(rng.permuted(touched))).max()) >= largest * (1 - 1e-9)
        for _ in range(permutations)
    )
    return float(seen[np.abs(seen).argmax()]), (hits + 1) / (permutations + 1)
