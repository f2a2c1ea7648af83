"""Agreement over pairs: each count and denominator by hand on three items."""

import numpy as np
import pytest

from judgeaudit.analysis.catalogue import compute
from judgeaudit.analysis.grid import layout
from judgeaudit.analysis.pairing import (
    concordance_comparer,
    count_pairs,
    exact_comparer,
    worst_case,
)
from judgeaudit.analysis.question import Question

ALL = [(0, 1), (0, 2), (1, 2)]


@pytest.fixture
def counts(build):
    """Items a = A A B, b = A ? A, c = A A (asked twice only)."""
    grid = layout(build.verdicts(a="AAB", b="A?A", c="AA"))
    return count_pairs(grid, exact_comparer(grid, grid.part["category"]), ALL)


def test_pairs_are_planned_compared_and_alike(counts):
    """a: 3 pairs, 1 alike; b: 3 planned, only A-A has two valid readings; c: 1 pair."""
    assert counts.planned.tolist() == [3, 3, 1]
    assert counts.compared.tolist() == [3, 1, 1]
    assert counts.alike.tolist() == [1, 1, 1]


def test_the_denominator_follows_the_invalid_rule(counts):
    assert counts.denominators(counts_invalid=False).tolist() == [3, 1, 1]
    assert counts.denominators(counts_invalid=True).tolist() == [3, 3, 1]


def test_flips_follow_the_invalid_rule_too(counts):
    """a: 3 - 1 = 2. b: none of its 1 compared pair, 2 of its 3 planned ones. c: none."""
    assert counts.flipped(counts_invalid=False).alike.tolist() == [2, 0, 0]
    assert counts.flipped(counts_invalid=True).alike.tolist() == [2, 2, 0]


def test_two_of_seven_planned_pairs_are_missing(counts):
    assert counts.missing == pytest.approx(2 / 7)


def test_missing_pairs_leave_a_range(counts):
    """Shares with b's two pairs unlike: (1/3 + 1/3 + 1)/3 = 5/9; alike: (1/3 + 1 + 1)/3 = 7/9."""
    assert worst_case(counts) == pytest.approx((5 / 9, 7 / 9))


@pytest.mark.parametrize(
    ("invalid", "value", "comparisons"),
    [("exclude", 2 / 9, 5), ("disagree", 4 / 9, 7)],
)
def test_flip_rate_by_both_rules(build, invalid, value, comparisons):
    """Excluded: (2/3 + 0 + 0)/3. As disagreements: (2/3 + 2/3 + 0)/3."""
    question = Question(over="same_window", invalid=invalid)

    (found,) = compute("flip_rate", build.verdicts(a="AAB", b="A?A", c="AA"), question)

    assert found.value == pytest.approx(value)
    assert found.n["comparisons"] == comparisons
    assert found.n["planned_pairs"] == 7
    assert found.worst == pytest.approx((2 / 9, 4 / 9))
    assert found.missing == pytest.approx(2 / 7)


def test_rankings_are_compared_pair_by_pair(build):
    """a b c against b a c: 2 of 3 pairs concordant; against itself 3 of 3."""
    grid = layout(build.rankings([("abc", "bac"), ("abc", "abc")]))
    comparer = concordance_comparer(grid)

    assert comparer.of.tolist() == [3, 3]
    assert count_pairs(grid, comparer, [(0, 1)]).alike.tolist() == [2, 3]


def test_a_pair_of_candidates_that_a_ranking_lacks_agrees_with_nothing(build):
    """Two candidates beside three: 1 of the 3 pairs is in both, the others count as unlike."""
    grid = layout(build.rankings([("abc", "abc"), ("ab", "ab")]))
    found = count_pairs(grid, concordance_comparer(grid), [(0, 1)])

    assert found.of.tolist() == [3, 1]
    assert found.alike.tolist() == [3, 1]
    assert np.all(found.alike <= found.of)
