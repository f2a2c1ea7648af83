"""What the order of presentation, or the label mapping, does beyond the judge's own noise.

* `order_flip`: share of pairs of readings in two orders with different verdicts.
* `order_excess`: that share less the flips within an order, by the identity
  P(differ across) - mean P(differ within) = 1/2 sum_c (p_c - q_c)^2. It needs two readings in
  each order: with one call an order a position's share cannot be told from noise, and is refused.
* `order_position`: (p_AB - p_BA)/2, p the chance that the first candidate of the item is chosen;
  one call an order is enough, and opposite biases of items cancel.
"""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd

from judgeaudit.analysis.build import category_use, context
from judgeaudit.analysis.estimate import Estimate
from judgeaudit.analysis.grid import Grid, Ints, layout
from judgeaudit.analysis.pairing import exact_comparer, pair_counts, row_clusters, share
from judgeaudit.analysis.proven import never
from judgeaudit.analysis.question import Question
from judgeaudit.statistic import ORDERS, WHOLE, Coverage, Statistic, choice, words
from judgeaudit.stats.excess import excess_disagreement, signed_parts
from judgeaudit.stats.interval import Undefined
from judgeaudit.stats.scaled import MIN_ITEMS

TWO_ORDERS = "needs the same items in two orders"


def order_flip(part: pd.DataFrame, question: Question) -> list[Estimate]:
    """Return the share of pairs of readings in two orders whose verdicts differ."""
    over = question.over_pairs("orders")
    grid = layout(part, arms_in_columns=True)
    said = context("order_flip", part, over, **category_use(part["category"]))
    counts = pair_counts(grid, exact_comparer(grid, part["category"]), over)
    return [share(counts.flipped(over.counts_invalid), said, over, row_clusters(grid, over))]


def order_excess(part: pd.DataFrame, question: Question) -> list[Estimate]:
    """Return what the order adds to disagreement; refused with one call an order."""
    said = context("order_excess", part, question, **category_use(part["category"]))
    grid, arms = _arms(part)
    if len(arms) != 2:
        return [said.none(TWO_ORDERS)]
    codes, levels = grid.codes(part["category"])
    first, second = (codes[:, columns] for columns in arms.values())
    found = excess_disagreement(first, second, max(2, len(levels)), row_clusters(grid, question))
    if isinstance(found, Undefined):
        return [said.none(found.reason)]
    n = {**said.n, "items": found.items}
    excluded = {**said.excluded, **({"single_reading": found.single} if found.single else {})}
    details = {
        **said.details,
        "across": found.across.value,
        "within": found.within.value,
        "arms": list(arms),
    }
    return [said.of(found.excess, n=n, excluded=excluded, details=details)]


def order_position(part: pd.DataFrame, question: Question) -> list[Estimate]:
    """Return the mean position part; above 0 the first arm favours the candidate it shows first.

    `params.chosen` names candidate A's category where all items share it ("A", "first"); without
    it, candidate A is each item's first category in sorted order.
    """
    said = context("order_position", part, question)
    grid, arms = _arms(part)
    if len(arms) != 2:
        return [said.none(TWO_ORDERS)]
    chosen = _chose_first(grid, question)
    first, second = (chosen[:, columns] for columns in arms.values())
    found = signed_parts(first, second, 1, row_clusters(grid, question))
    if isinstance(found, Undefined):
        return [said.none(found.reason)]
    details = {"content": found.content.value, "arms": list(arms)}
    return [said.of(found.position, n={**said.n, "items": found.items}, details=details)]


def _arms(part: pd.DataFrame) -> tuple[Grid, dict[str, Ints]]:
    """Return the grid with arms in columns, and each arm's columns."""
    grid = layout(part, arms_in_columns=True)
    arms = grid.columns["arm"]
    names = sorted(arms.unique(), key=lambda arm: int(np.flatnonzero(arms.eq(arm))[0]))
    return grid, {str(arm): np.flatnonzero(arms.eq(arm)) for arm in names}


def _chose_first(grid: Grid, question: Question) -> Ints:
    """Return 1 where candidate A was chosen, 0 where not, -1 without a valid reading."""
    categories = grid.part["category"].astype(object)
    named = question.params.get("chosen")
    if named is not None:
        is_first = categories.eq(str(named))
    else:
        is_first = categories.eq(
            categories.groupby(grid.part["item"], observed=True).transform("min")
        )
    cells = np.append(is_first.to_numpy(dtype=np.int64), -1)[grid.index]
    return np.where(grid.valid, cells, -1).astype(np.int64)


_order = partial(
    Statistic,
    reads=("category",),
    claims=words("verdict choice"),
    over=(*ORDERS, *WHOLE),
    unit="share",
    subject="precision",
    answers=(),
    example=None,
    per_pair=False,
    whole_table=False,
    floor=False,
    kappa=None,
    greatest=False,
    redesigns=frozenset(),
    why_no_gate="",
)

STATISTICS = (
    _order(
        name="order_flip",
        compute=order_flip,
        told=words("verdict"),
        kind="share",
        bounds=(0.0, 1.0),
        least_units=2,
        needs=words("arms"),
        better="low",
        label="verdict changes with the order",
        covered=None,
        defaults=words("verdict"),
        params=(),
    ),
    _order(
        name="order_excess",
        compute=order_excess,
        told=words("verdict"),
        kind="plain",
        # With two readings an order: both orders alike and each order's two unlike.
        bounds=(-0.5, 1.0),
        least_units=MIN_ITEMS,
        needs=words("arms repeats"),
        better="low",
        label="what the order adds beyond noise",
        covered=Coverage("excess", never),
        defaults=frozenset(),
        params=(),
    ),
    _order(
        name="order_position",
        compute=order_position,
        told=frozenset(),
        kind="plain",
        bounds=(-0.5, 0.5),
        least_units=MIN_ITEMS,
        needs=words("arms"),
        better="",
        label="what the place shown first adds",
        covered=None,
        defaults=frozenset(),
        params=(choice("chosen", "candidate A's category, where all items share it"),),
    ),
)
