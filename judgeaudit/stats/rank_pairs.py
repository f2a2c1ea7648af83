"""Mid-rank Spearman averaged over pairs of columns, with influence and delete-one values.

Rules of this module:

* A column's mid-ranks are centred; two columns correlate as the population Spearman with F the
  mid-distribution function does. Nothing is corrected for ties or for n.
* All pairs share their columns, so that the mean over pairs costs one pass a column: the mean of
  z_j z_k over pairs equals the mean of z_j times the sum of its partners' z.
* Delete-one values are exact: deleting item i lowers the other mid-ranks by h(x_l; x_i).
* Input is complete and no column is constant; `ranks` sees to both.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from judgeaudit.stats.dominance import (
    dense_codes,
    few_levels,
    joint_dominance,
    mid_ranks,
    upper_sums,
)

Floats = NDArray[np.float64]
Pairs = list[tuple[int, int]]


@dataclass(frozen=True, slots=True)
class RankedColumns:
    """Columns (n, columns) as centred mid-ranks, standardised ranks, and dense codes."""

    centred: Floats
    standard: Floats
    codes: list[NDArray[np.int64]]

    @classmethod
    def of(cls, columns: Floats) -> "RankedColumns":
        """Rank each column; ties share the mean of their ranks."""
        codes = [dense_codes(columns[:, j]) for j in range(columns.shape[1])]
        ranks = np.stack([mid_ranks(code) for code in codes], axis=1)
        centred = ranks - (columns.shape[0] + 1) / 2
        standard = centred / np.sqrt((centred**2).mean(axis=0))
        return cls(centred, standard, codes)


def partner_sums(standard: Floats, pairs: Pairs) -> Floats:
    """Return for each column the sum of the standardised columns it is paired with.

    Parameters
    ----------
    standard : array, shape (n, m)
        Standardised columns.
    pairs : list of (int, int)
        Pairs of columns.

    Returns
    -------
    array, shape (n, m).
    """
    linked = np.zeros((standard.shape[1], standard.shape[1]))
    for j, k in pairs:
        linked[j, k] += 1
        linked[k, j] += 1
    return np.asarray(standard @ linked)


def mean_correlation(ranked: RankedColumns, pairs: Pairs) -> float:
    """Return the mean over `pairs` of the mid-rank Spearman.

    Parameters
    ----------
    ranked : RankedColumns
        Ranked columns of n items.
    pairs : list of (int, int)
        Pairs of columns.

    Returns
    -------
    float in [-1, 1].
    """
    partners = partner_sums(ranked.standard, pairs)
    n = ranked.standard.shape[0]
    return float(np.vdot(ranked.standard, partners) / (2 * n * len(pairs)))


def influence_values(ranked: RankedColumns, pairs: Pairs) -> Floats:
    """Return the influence value of each item on the mean correlation.

    IF = (IF_N / sqrt(Dx Dy)) - rho/2 (IF_Dx / Dx + IF_Dy / Dy), averaged over
    pairs, with IF_N = ab + Tx + Ty - 3N, Tx(x) = E[h(X; x) b] and
    IF_D / D = z^2 + 2 E[h(X; x) z] / sqrt(D) - 3; a, b the mid-distribution - 1/2.

    Parameters
    ----------
    ranked : RankedColumns
        Ranked columns of n items.
    pairs : list of (int, int)
        Pairs of columns.

    Returns
    -------
    array, shape (n,).

    References
    ----------
    Hampel (1974), JASA 69, 383-393.
    """
    z, n = ranked.standard, ranked.standard.shape[0]
    partners = partner_sums(z, pairs)
    scale = np.sqrt((ranked.centred**2).mean(axis=0)) / n
    total = np.zeros(n)
    for j, codes in enumerate(ranked.codes):
        sums = upper_sums(codes, np.column_stack([partners[:, j], z[:, j]])) / (n * scale[j])
        shared = float(z[:, j] @ partners[:, j]) / n
        spread = z[:, j] ** 2 + 2 * sums[:, 1] - 3
        total += z[:, j] * partners[:, j] / 2 + sums[:, 0] - 1.5 * shared - shared * spread / 2
    return total / len(pairs)


def deleted_values(ranked: RankedColumns, pairs: Pairs) -> Floats:
    """Return the mean correlation without item i, for each i; nan where a column is then constant.

    Without item i the ranks of the others, less their mean n/2, are
    A_l - h(x_l; x_i) with A_l = R_l - n/2, so that the cross product is
    S - A_i B_i - sum A_l h(y) - sum h(x) B_l + sum h(x) h(y) over l other than i.

    Parameters
    ----------
    ranked : RankedColumns
        Ranked columns of n items.
    pairs : list of (int, int)
        Pairs of columns.

    Returns
    -------
    array, shape (n,).
    """
    a = np.ascontiguousarray(ranked.centred.T) + 0.5
    lowered = [np.ascontiguousarray(upper_sums(codes, a.T).T) - a / 2 for codes in ranked.codes]
    spread = np.stack([_deleted_spread(codes) for codes in ranked.codes])
    with np.errstate(divide="ignore"):
        weight = 1 / np.sqrt(spread)
    total = np.zeros(a.shape[1])
    with np.errstate(invalid="ignore"):
        for j, k in pairs:
            product = joint_dominance(ranked.codes[j], ranked.codes[k])
            # einsum: a threaded BLAS spins on the other cores for so short a sum.
            product += float(np.einsum("i,i->", a[j], a[k])) - 0.25
            product -= a[j] * a[k]
            product -= lowered[k][j]
            product -= lowered[j][k]
            product *= weight[j]
            product *= weight[k]
            total += product
    total[(spread == 0).any(axis=0)] = np.nan
    return total / len(pairs)


def _deleted_spread(codes: NDArray[np.int64]) -> Floats:
    """Sum of squared centred mid-ranks without item i: ((n-1)^3 - sum of t^3) / 12."""
    n = codes.size
    sizes = np.bincount(codes).astype(np.float64)
    cubes = float((sizes**3).sum())
    own = sizes[codes]
    return np.asarray(((n - 1.0) ** 3 - cubes + own**3 - (own - 1) ** 3) / 12)


def deletion_cost(ranked: RankedColumns, pairs: Pairs) -> float:
    """Return the n log n steps that `deleted_values` needs beyond cheap tables.

    Parameters
    ----------
    ranked : RankedColumns
        Ranked columns of n items.
    pairs : list of (int, int)
        Pairs of columns.

    Returns
    -------
    float
    """
    n = ranked.centred.shape[0]
    levels = [int(codes.max()) + 1 for codes in ranked.codes]
    sorted_pairs = sum(not few_levels(n, levels[j], levels[k]) for j, k in pairs)
    return float(sorted_pairs * n * np.log2(n))
