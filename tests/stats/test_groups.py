"""Ranking within small groups, by hand."""

import numpy as np
import pytest

from judgeaudit.stats.groups import (
    pairwise_concordance,
)

GROUPS = np.repeat([0, 1, 2], 4)
FIRST = np.array([1.0, 2, 3, 4, 1, 2, 3, 4, 5, 5, 5, 5])
SECOND = np.array([1.0, 2, 4, 3, 1, 2, 3, 4, 1, 2, 3, 4])


def test_concordance_by_hand():
    """Group 0: 5 of 6 pairs. Group 1: 6 of 6. Group 2: tied in one pass, 1/2 each."""
    found = pairwise_concordance(FIRST, SECOND, GROUPS)

    assert found.share.value == pytest.approx((5 / 6 + 1 + 1 / 2) / 3)
    assert (found.informative_pairs, found.pairs, found.groups_without) == (18, 18, 0)


def test_pairs_closer_than_the_least_gap_are_not_informative():
    """With a gap of 2 group 0 has 1-3, 1-4, 2-4 and, from the second pass, 2-3: all in order."""
    found = pairwise_concordance(FIRST[:4], SECOND[:4], GROUPS[:4], least_gap=2)

    assert (found.informative_pairs, found.share.value) == (4, 1)
