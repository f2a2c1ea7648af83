"""Ranking within small groups, by hand."""

import numpy as np
import pytest

from judgeaudit.stats.groups import (
    attainable,
    clustered_share,
    group_spearman,
    kendall_distance,
    pairwise_concordance,
    separations,
)
from judgeaudit.stats.interval import Undefined

GROUPS = np.repeat([0, 1, 2], 4)
FIRST = np.array([1.0, 2, 3, 4, 1, 2, 3, 4, 5, 5, 5, 5])
SECOND = np.array([1.0, 2, 4, 3, 1, 2, 3, 4, 1, 2, 3, 4])


def test_median_over_defined_groups_with_bounds_for_the_constant_one():
    """Groups: .8, 1, undefined. Median .9; with -1 it is .8, with +1 it is 1."""
    found = group_spearman(FIRST, SECOND, GROUPS)

    assert found.values[:2] == pytest.approx([0.8, 1.0])
    assert found.median == pytest.approx(0.9)
    assert (found.median_if_low, found.median_if_high) == pytest.approx((0.8, 1.0))
    assert found.undefined == 1


def test_share_compares_after_rounding():
    """1 2 4 3 against 1 2 3 4 computes as .7999999999999999 and counts as .8."""
    found = group_spearman(FIRST, SECOND, GROUPS)

    assert found.share_at_least(0.8).value == 1
    assert found.share_at_least(0.81).value == 0.5


def test_four_untied_candidates_have_eleven_values():
    assert attainable(4) == pytest.approx(np.linspace(-1, 1, 11))


def test_concordance_by_hand():
    """Group 0: 5 of 6 pairs. Group 1: 6 of 6. Group 2: tied in one pass, 1/2 each."""
    found = pairwise_concordance(FIRST, SECOND, GROUPS)

    assert found.share.value == pytest.approx((5 / 6 + 1 + 1 / 2) / 3)
    assert (found.informative_pairs, found.pairs, found.groups_without) == (18, 18, 0)


def test_pairs_closer_than_the_least_gap_are_not_informative():
    """With a gap of 2 group 0 has 1-3, 1-4, 2-4 and, from the second pass, 2-3: all in order."""
    found = pairwise_concordance(FIRST[:4], SECOND[:4], GROUPS[:4], least_gap=2)

    assert (found.informative_pairs, found.share.value) == (4, 1)


def test_groups_that_share_a_task_are_one_unit():
    found = group_spearman(
        np.tile(FIRST[:4], 8), np.tile(SECOND[:4], 8), np.repeat(np.arange(8), 4)
    )

    assert found.share_at_least(0.9, clusters=np.repeat([0, 1], 4)).units == 2


def test_separation_needs_a_strictly_higher_score():
    """Correct 3, 3 in two passes; slips (2, 3) and (1, 4): separated 1 0 and 1 0."""
    outcomes = separations(np.array([[3.0, 3.0]]), np.array([[[2.0, 3.0], [1.0, 4.0]]]))

    assert outcomes.tolist() == [[1, 0], [1, 0]]
    assert clustered_share(outcomes).value == 0.5


def test_passes_of_a_judgment_add_nothing_when_they_agree(rng):
    once = (rng.random((200, 1)) < 0.8) * 1.0

    alone, four = clustered_share(once), clustered_share(np.repeat(once, 4, axis=1))

    assert four.effective_n == pytest.approx(alone.effective_n)


def test_kendall_distance_counts_reversed_pairs():
    """1 2 4 3 reverses one pair, 4 3 2 1 all six."""
    first = np.array([[1.0, 2, 3, 4]] * 2)

    assert kendall_distance(first, np.array([[1.0, 2, 4, 3], [4, 3, 2, 1]])).tolist() == [1, 6]


def test_no_order_anywhere_is_undefined():
    flat = np.ones(4)

    assert isinstance(group_spearman(flat, SECOND[:4], GROUPS[:4]), Undefined)
    assert isinstance(pairwise_concordance(flat, flat, GROUPS[:4]), Undefined)
