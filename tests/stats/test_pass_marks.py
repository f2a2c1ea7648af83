"""Pass marks: by hand, and alike for a scale and its mirror."""

import numpy as np
import pytest

from judgeaudit.stats.interval import Undefined
from judgeaudit.stats.pass_marks import at_mark, candidate_marks, mark_curve

# Item 0 moves between 0 and 1, item 1 between 1 and 3, item 2 stays at 3.
SCORES = np.array([[0.0, 1, 0], [1, 3, 3], [3, 3, 3]])


def test_flips_at_a_mark_by_hand():
    """At 2: item 1 has one fail and two passes, 2 unlike pairs of 3; the others none."""
    found = at_mark(SCORES, 2.0)

    assert found.flips.value == pytest.approx(2 / 9)
    assert found.passing == pytest.approx(5 / 9)


def test_a_mark_that_everything_passes_tells_nothing():
    assert at_mark(SCORES, 0.0).reason == "every reading passes at 0: the mark tells nothing"
    assert at_mark(SCORES, 3.5).reason.startswith("no reading passes")


def test_marks_lie_between_the_scores():
    assert candidate_marks(SCORES).tolist() == [0.5, 2.0]
    assert candidate_marks(np.arange(1_000.0)).size == 100


def test_the_worst_mark_of_a_mirrored_scale_is_the_mirrored_one(rng):
    y = np.clip(np.round(rng.normal(size=(80, 1)) + 0.7 * rng.normal(size=(80, 4))), 0, 4)
    one, other = mark_curve(y), mark_curve(4 - y)

    assert other.worst.flips.value == one.worst.flips.value
    assert other.worst.mark == pytest.approx(4 - one.worst.mark)
    assert [m.flips for m in other.marks] == pytest.approx([m.flips for m in reversed(one.marks)])
    assert [m.flips for m in one.marks] == pytest.approx(
        [at_mark(y, m.mark).flips.value for m in one.marks]
    )


def test_the_worst_marks_interval_pays_for_looking():
    """Two marks are tried, so the interval is that of level .975."""
    curve = mark_curve(np.tile(SCORES, (10, 1)))

    each = curve.worst.flips.interval(0.975)
    assert (curve.worst_interval.low, curve.worst_interval.high) == (each.low, each.high)
    assert curve.worst_interval.level == 0.95


def test_nothing_to_compare_is_said():
    assert isinstance(mark_curve(np.ones((4, 2))), Undefined)
    assert isinstance(mark_curve(np.array([[1.0], [2.0]])), Undefined)


def test_items_of_a_task_count_as_one():
    tasks = np.repeat(np.arange(10), 3)

    assert at_mark(np.tile(SCORES, (10, 1)), 2.0, tasks).flips.units == 10
