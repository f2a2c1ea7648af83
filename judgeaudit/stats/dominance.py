"""Sums over "the items above item i", the building block of delete-one rank statistics.

For a column x let h(x_l; x_i) be 1 if x_l > x_i, 1/2 if they tie and 0 below; an item is half
above itself. Deleting item i lowers the mid-rank of each other item l by h(x_l; x_i), so every
delete-one Spearman or Kendall coefficient is a closed form in the two sums given here.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def dense_codes(column: Floats) -> Ints:
    """Return codes 0, 1, ... that order a column, equal for equal values.

    Parameters
    ----------
    column : array, shape (n,)
        Values without nan.

    Returns
    -------
    array of int, shape (n,).
    """
    return np.unique(column, return_inverse=True)[1].reshape(column.shape).astype(np.int64)


def distinct(values: NDArray[Any]) -> NDArray[Any]:
    """Return the different values, sorted; nan is not looked for.

    What `numpy.unique` gives, without `numpy.ma`, which it imports to look for masks.

    Parameters
    ----------
    values : array of any shape
        Values without nan.

    Returns
    -------
    array, shape (number of different values,), increasing.
    """
    ordered = np.sort(values, axis=None)
    first = np.ones(ordered.size, dtype=bool)
    first[1:] = ordered[1:] != ordered[:-1]
    return np.asarray(ordered[first])


def median(values: NDArray[Any]) -> float:
    """Return the median of at least one value without nan; `numpy.median` imports `numpy.ma`.

    Parameters
    ----------
    values : array of any shape
        At least one value, no nan.

    Returns
    -------
    float
    """
    ordered = np.sort(values, axis=None)
    return float(ordered[(ordered.size - 1) // 2] / 2 + ordered[ordered.size // 2] / 2)


def mid_ranks(codes: Ints) -> Floats:
    """Return the rank of each value from its dense code, from 1; ties share their mean rank.

    What `scipy.stats.rankdata` gives, without importing `scipy.stats`, which takes a second.

    Parameters
    ----------
    codes : array of int, shape (n,)
        As `dense_codes` gives them.

    Returns
    -------
    array, shape (n,), from 1 to n.
    """
    counts = np.bincount(codes)
    return np.asarray((np.cumsum(counts) - (counts - 1) / 2)[codes])


def upper_sums(codes: Ints, values: Floats) -> Floats:
    """Return for each item i the sum over l of h(x_l; x_i) values_l.

    `codes` (n,) are dense codes of x; `values` is (n,) or (n, columns). Cost
    O(n columns) after one sort.

    Parameters
    ----------
    codes : array of int, shape (n,)
        As `dense_codes` gives them.
    values : array, shape (n,) or (n, columns)
        What is summed.

    Returns
    -------
    array of the shape of `values`.
    """
    order = np.argsort(codes, kind="stable")
    starts = np.searchsorted(codes[order], np.arange(codes.max() + 1))
    groups = np.add.reduceat(values[order], starts, axis=0)
    above = np.flip(np.cumsum(np.flip(groups, axis=0), axis=0), axis=0)
    return np.asarray((above - groups / 2)[codes])


def joint_dominance(x: Ints, y: Ints) -> Floats:
    """Return for each item i the sum over l of h(x_l; x_i) h(y_l; y_i).

    `x` and `y` are dense codes. Few levels: from the table of both. Many: the
    sum equals the mean over the orders with ties broken first to last and last
    to first, and each such order is counted in O(n log n).

    Parameters
    ----------
    x, y : array of int, shape (n,)
        As `dense_codes` gives them.

    Returns
    -------
    array, shape (n,).
    """
    levels_x, levels_y = int(x.max()) + 1, int(y.max()) + 1
    if few_levels(x.size, levels_x, levels_y):
        return _from_table(x, y, levels_x, levels_y)
    orders_x, orders_y = _orders(x, levels_x), _orders(y, levels_y)
    total = np.zeros(x.size)
    for first in orders_x:
        for second in orders_y:
            total += _strict_dominance(first, second)
    return total / (len(orders_x) * len(orders_y)) + 0.25


def few_levels(n: int, levels_x: int, levels_y: int) -> bool:
    """Return whether the table of two columns is cheaper than sorting n items.

    Parameters
    ----------
    n : int
        Number of items.
    levels_x, levels_y : int
        Number of different values in each column.

    Returns
    -------
    bool
    """
    return levels_x * levels_y <= 8 * n + 4096


def _from_table(x: Ints, y: Ints, levels_x: int, levels_y: int) -> Floats:
    table = np.bincount(x * levels_y + y, minlength=levels_x * levels_y)
    above = np.zeros((levels_x + 1, levels_y + 1))
    above[:-1, :-1] = table.reshape(levels_x, levels_y)[::-1, ::-1].cumsum(0).cumsum(1)[::-1, ::-1]
    half = (above[:-1, :-1] + above[1:, :-1] + above[:-1, 1:] + above[1:, 1:]) / 4
    return np.asarray(half.ravel()[x * levels_y + y])


def _orders(codes: Ints, levels: int) -> list[Ints]:
    """Ranks 0..n-1 with ties broken forwards, and backwards too if there are ties."""
    n = codes.size
    forwards = np.empty(n, np.int64)
    forwards[np.argsort(codes, kind="stable")] = np.arange(n)
    if levels == n:
        return [forwards]
    backwards = np.empty(n, np.int64)
    backwards[n - 1 - np.argsort(codes[::-1], kind="stable")] = np.arange(n)
    return [forwards, backwards]


def _strict_dominance(x: Ints, y: Ints) -> Floats:
    """Count for each item the items above it in both permutations, O(n log n).

    The items, listed from the top of y down, are split by the bits of x from the
    highest: among items that agree so far, each with bit 1 is above in x of each
    with bit 0, and above in y if it stands earlier in the list.
    """
    n = x.size
    bits = max(1, (n - 1).bit_length())
    listed = np.arange(1 << bits)  # ranks from n up are padding, below everything in y
    listed[:n][n - 1 - y] = x
    counts = np.zeros(1 << bits, np.int64)
    for bit in range(bits - 1, -1, -1):
        half = 1 << bit
        is_high = (listed >> bit) & 1
        at_low, at_high = np.flatnonzero(is_high == 0), np.flatnonzero(is_high)
        low, high = listed[at_low], listed[at_high]
        before = (at_low & (2 * half - 1)).reshape(-1, half) - np.arange(half)
        counts[low] += before.ravel()
        listed = np.hstack([low.reshape(-1, half), high.reshape(-1, half)]).ravel()
    return counts[x].astype(np.float64)
