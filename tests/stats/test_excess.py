"""Excess disagreement: the identity, its unbiasedness, and what it refuses."""

from itertools import product

import numpy as np
import pytest

from judgeaudit.stats.excess import (
    NOT_SEPARABLE,
    asked_later,
    excess_disagreement,
    signed_parts,
)
from judgeaudit.stats.interval import Undefined


def test_across_within_and_excess_by_hand():
    """AA against AB: across 2/4, within (0 + 1)/2, excess 0. AA against BB: 1, 0, excess 1."""
    found = excess_disagreement(np.array([[0, 0], [0, 0]]), np.array([[0, 1], [1, 1]]), 2)

    assert found.across.value == pytest.approx(0.75)
    assert found.within.value == pytest.approx(0.25)
    assert found.excess.value == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("p", "q", "excess"), [((0.5, 0.3, 0.2), (0.2, 0.3, 0.5), 0.09), ((0.9, 0.1), (0.6, 0.4), 0.09)]
)
def test_expectation_is_half_the_squared_distance_exactly(p, q, excess):
    """Summed over all outcomes of two calls each: 1/2 sum (p - q)^2; binary: (.9 - .6)^2."""
    total = 0.0
    for a, b, c, d in product(range(len(p)), repeat=4):
        chance = p[a] * p[b] * q[c] * q[d]
        total += (
            chance
            * excess_disagreement(np.array([[a, b]]), np.array([[c, d]]), len(p)).excess.value
        )

    assert total == pytest.approx(excess, abs=1e-12)


def test_two_pseudo_items_widen_the_interval_of_an_excess_that_is_mostly_zero():
    """Nineteen items without excess and one with 1: mean .05, squares .95; the two add 1/2."""
    first, second = np.zeros((20, 2), int), np.zeros((20, 2), int)
    second[0] = 1

    found = excess_disagreement(first, second, 2).excess

    assert found.value == pytest.approx(0.05)
    assert found.se == pytest.approx(np.sqrt((0.95 + 0.5) / (20 * 19)))
    assert found.method == "t over items, two pseudo-items"


def test_no_excess_anywhere_still_has_an_interval_of_some_width():
    same = np.zeros((20, 2), int)
    found = excess_disagreement(same, same, 2).excess.interval()

    assert found.high == pytest.approx(2.093024 * np.sqrt(0.5 / 380), rel=1e-6)  # t(19)


def test_one_call_an_order_is_refused():
    one, two = np.zeros((30, 1), int), np.ones((30, 3), int)

    assert excess_disagreement(one, one, 2) == Undefined(NOT_SEPARABLE)
    assert excess_disagreement(one, two, 2) == Undefined(NOT_SEPARABLE)


def test_items_without_two_calls_in_both_are_counted():
    first = np.array([[0, 0], [0, -1]])
    second = np.array([[0, 1], [1, 1]])

    found = excess_disagreement(first, second, 2)

    assert (found.items, found.single) == (1, 1)


def test_signed_parts_by_hand():
    """P(A) is 1 in one order, 1/2 in the other: content 3/4 - 1/2, position 1/4."""
    found = signed_parts(np.array([[0, 0]]), np.array([[0, 1]]))

    assert found.content.value == pytest.approx(0.25)
    assert found.position.value == pytest.approx(0.25)


def test_opposite_position_parts_cancel_in_the_mean_and_not_in_the_excess():
    """One item always takes the first place, the other always the second."""
    forward, backward = np.array([[0, 0], [1, 1]]), np.array([[1, 1], [0, 0]])

    assert signed_parts(forward, backward).position.value == pytest.approx(0)
    assert excess_disagreement(forward, backward, 2).excess.value == pytest.approx(1)


def test_a_later_answer_that_differs_more_than_later_ones_do():
    """Four calls: y/yy 0, y/nn +1, y/yn (0 + 1)/2 - 1 = -1/2, y/n- left out: mean 1/6, no
    interval below ten calls."""
    first = np.array([0, 0, 0, 0])
    again = np.array([[0, 0], [1, 1], [0, 1], [1, -1]])

    found = asked_later(first, again)

    assert found.value == pytest.approx(1 / 6)
    assert found.n == 3
    assert found.no_interval


def test_a_judge_that_never_changes_gets_an_interval_from_two_pseudo_items():
    """20 calls without any difference: se = sqrt(.5 / (20 * 19)) = .03627, t(19) = 2.093."""
    found = asked_later(np.zeros(20, dtype=int), np.zeros((20, 2), dtype=int))

    interval = found.interval()
    assert (interval.low, interval.high) == pytest.approx((-0.07592, 0.07592), abs=1e-4)


def test_without_three_answers_nothing_is_told():
    assert "no call" in asked_later(np.array([0]), np.array([[0, -1]])).reason
