"""Which columns are compared: counted by hand on two days of two windows with two repeats."""

import pytest

from judgeaudit.analysis.grid import column_pairs, layout


@pytest.fixture
def times(build):
    """One item; windows d1w1, d1w2, d2w1, d4w1 with repeats 0 and 1: eight columns."""
    windows = [(1, "d1w1"), (1, "d1w2"), (2, "d2w1"), (4, "d4w1")]
    rows = [
        {"item": "a", "day": day, "window": window, "repeat": k, "number": 1.0}
        for day, window in windows
        for k in (0, 1)
    ]
    return layout(build.table(rows)).columns


@pytest.mark.parametrize(
    ("over", "pairs"),
    [
        ("all", 28),  # 8 * 7 / 2
        ("same_window", 4),  # one pair of repeats in each of four windows
        ("windows", 24),  # 28 less the 4 within a window
        ("windows_same_day", 4),  # d1w1 with d1w2: 2 * 2
        ("next_day", 8),  # two windows of day 1 with d2w1: 2 * (2 * 2)
        ("other_day", 20),  # day 1-2: 8, day 1-4: 8, day 2-4: 4
        ("conditions", 0),
    ],
)
def test_pairs_of_columns(times, over, pairs):
    assert len(column_pairs(times, over)) == pairs


@pytest.fixture
def conditions(build):
    """One item, quiet and loaded, two windows of one day, two repeats: eight columns."""
    rows = [
        {"item": "a", "condition": c, "window": w, "repeat": k, "number": 1.0}
        for c in ("quiet", "loaded")
        for w in ("w1", "w2")
        for k in (0, 1)
    ]
    return layout(build.table(rows)).columns


@pytest.mark.parametrize(
    ("over", "pairs"),
    [
        ("all", 12),  # 4 * 3 / 2 within each of two conditions, none across
        ("same_window", 4),
        ("windows", 8),
        ("conditions", 4),  # the same window and repeat in the other condition
    ],
)
def test_conditions_are_compared_by_their_own_comparison_alone(conditions, over, pairs):
    assert len(column_pairs(conditions, over)) == pairs


def test_two_orders_are_compared_at_the_same_moment(build):
    """Two arms, two windows, two repeats: four moments, each with one pair; 16 pairs of any."""
    rows = [
        {"item": "a", "arm": arm, "window": w, "repeat": k, "category": "A"}
        for arm in ("ab", "ba")
        for w in ("w1", "w2")
        for k in (0, 1)
    ]
    grid = layout(build.table(rows), arms_in_columns=True)

    assert grid.index.shape == (1, 8)
    assert len(column_pairs(grid.columns, "orders")) == 4


def test_a_cell_is_planned_valid_or_neither(build):
    """Item a: valid, unparsed; item b: valid, never planned."""
    grid = layout(build.verdicts(a="A?", b="B"))

    assert grid.planned.tolist() == [[True, True], [True, False]]
    assert grid.valid.tolist() == [[True, False], [True, False]]
