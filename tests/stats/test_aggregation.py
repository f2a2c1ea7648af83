"""Aggregation sizing: permutations by enumeration, the spectrum by its published summary."""

import itertools
from collections import Counter

import numpy as np
import pytest
from scipy import stats

from judgeaudit.errors import InputError
from judgeaudit.stats.aggregation import (
    aggregate,
    agreement,
    rankings_at,
    smallest_k,
)
from judgeaudit.stats.interval import Undefined

# 100 replays of ten candidates: 78 at 0, 11 at 1, eleven over 2-11 that sum to 53.
SPECTRUM = np.bincount([0] * 78 + [1] * 11 + [2, 3, 4, 4, 4, 5, 5, 5, 5, 5, 11], minlength=46)


def inversions(ranks):
    return sum(a > b for a, b in itertools.combinations(ranks, 2))


@pytest.mark.parametrize("distance", range(7))
def test_rankings_are_uniform_among_those_at_the_distance(distance):
    """All 24 rankings of four, by enumeration."""
    expected = [p for p in itertools.permutations(range(4)) if inversions(p) == distance]
    drawn = rankings_at(np.full(6000, distance), 4, rng=np.random.default_rng(distance))
    counts = Counter(map(tuple, drawn.tolist()))

    assert set(counts) == set(expected)
    if len(expected) > 1:
        assert stats.chisquare(list(counts.values())).pvalue > 1e-4


def test_rankings_keep_the_shape_of_the_distances():
    drawn = rankings_at(np.array([[0, 3], [10, 45]]), 10, rng=np.random.default_rng(1))

    assert drawn.shape == (2, 2, 10)
    assert [inversions(r) for r in drawn.reshape(-1, 10)] == [0, 3, 10, 45]
    with pytest.raises(InputError, match="C"):
        rankings_at([7], 4, rng=np.random.default_rng(1))


def test_borda_and_median_by_hand():
    """Ranks 012, 012, 201: means 2/3, 2/3, 5/3; medians 0, 1, 2. Ties go to the first."""
    calls = [[0, 1, 2], [0, 1, 2], [2, 0, 1]]

    assert aggregate(calls).tolist() == [0, 1, 2]
    assert aggregate(calls, "median").tolist() == [0, 1, 2]
    assert aggregate([[1, 0, 2], [0, 1, 2]]).tolist() == [0, 1, 2]


def test_a_judge_that_always_agrees_has_aggregates_that_agree():
    found = agreement([100, 0, 0], 3, 3, rng=np.random.default_rng(1), runs=100)

    assert (found.exact, found.top) == (1.0, 1.0)


def test_one_call_of_two_candidates_by_hand():
    """D = 1 always: each call is swapped with chance 1/2, so one pair agrees half the time."""
    found = agreement([0, 1], 2, 1, rng=np.random.default_rng(2), runs=8000)

    assert found.exact == pytest.approx(0.5, abs=0.02)


@pytest.mark.parametrize("surrogate", ["item", "call"])
def test_more_calls_agree_more_and_the_surrogate_is_named(surrogate):
    rng = np.random.default_rng(3)
    found = [agreement(SPECTRUM, 10, k, rng=rng, surrogate=surrogate) for k in (1, 5, 9)]
    exact = [a.exact for a in found]

    assert exact == sorted(exact)
    assert exact[0] == pytest.approx(0.78, abs=0.09)
    assert exact[2] > 0.94
    assert found[0].surrogate.startswith(surrogate)


def test_smallest_k_reaches_what_is_wanted_or_says_that_none_does():
    rng = np.random.default_rng(4)
    found = smallest_k(SPECTRUM, 10, 0.9, rng=rng, surrogate="call")

    assert found.exact >= 0.9
    assert found.k in (3, 5)
    assert isinstance(smallest_k([0, 1], 2, 0.99, rng=rng, most=3), Undefined)
