"""Same day against other day, on constructed windows with known agreement."""

from fractions import Fraction

import numpy as np
import pytest

from judgeaudit.analysis.catalogue import compute
from judgeaudit.analysis.question import Question
from judgeaudit.analysis.time.daysplit import relabel
from judgeaudit.errors import InputError

THESE = Question("all", target="these probes")


def study(build, answers, tasks=25):
    """Ten windows of two days: `answers(item, day, window)` is the category read there."""
    return build.table(
        {
            "item": f"p{i:02d}",
            "task": f"t{i % tasks}",
            "day": day,
            "window": f"d{day}w{w}",
            "category": answers(i, day, w),
        }
        for day in (1, 2)
        for w in range(5)
        for i in range(100)
    )


def day_shift(moved):
    """`moved` of 100 probes answer otherwise on day 2; item p99 answers anew in each window."""

    def answers(i, day, w):
        if i == 99:
            return f"{day}-{w}"
        return "B" if day == 2 and i < moved else "A"

    return answers


def test_d_is_the_median_within_less_the_median_between_exactly(build):
    """Within a day 99 of 100 agree in every pair; between days 99 - 16 = 83: d = 16/100."""
    these, like_these = compute("day_difference", study(build, day_shift(16)), THESE)

    assert these.exact == like_these.exact == Fraction(16, 100)
    assert these.details["within"] == 0.99
    assert these.details["between"] == 0.83
    assert (these.n["pairs_within"], these.n["pairs_between"]) == (20, 25)
    assert (these.cluster, these.target) == ("window", "these probes")
    assert (like_these.cluster, like_these.target) == ("task and window", "probes like these")


def test_all_252_balanced_relabellings_of_ten_windows_are_seen(build):
    """Swapping none or one window of each day keeps both medians: 2 (1 + 5 * 5) = 52 of 252."""
    these, _ = compute("day_difference", study(build, day_shift(16)), THESE)

    assert these.details["relabellings"] == 252
    assert these.details["relabelling_exact"]
    assert these.details["relabelling_as_large"] == pytest.approx(52 / 252)
    assert these.details["relabelling_largest"] == 0.16


def test_windows_that_all_agree_alike_leave_no_room_between_windows(build):
    """Every within pair is .99 and every between pair .83: no resample of windows moves d."""
    these, like_these = compute("day_difference", study(build, day_shift(16)), THESE)

    assert (these.low, these.high) == pytest.approx((0.16, 0.16))
    assert like_these.low < 0.16 < like_these.high


def test_without_a_day_effect_d_stays_in_the_band(build, rng):
    """Each probe of 100 flips with chance .1 in each window, whatever the day."""
    flips = rng.random((100, 2, 5)) < 0.1

    found = study(build, lambda i, day, w: "B" if flips[i, day - 1, w] else "A")
    these, _ = compute("day_difference", found, THESE)

    assert these.low <= 0 <= these.high
    assert these.details["relabelling_as_large"] > 0.05
    assert 0 < these.details["share_in_band"] <= 1


def test_the_task_bootstrap_is_wider_where_tasks_move_together(build):
    """Four of 25 tasks move as a whole."""
    found = study(build, lambda i, day, w: "B" if day == 2 and i % 25 < 4 else "A")

    these, like_these = compute("day_difference", found, THESE)

    assert like_these.high - like_these.low > 0.1
    assert these.high - these.low == pytest.approx(0)


def test_the_spread_names_the_least_stable_day(build):
    """Day 1 agrees fully; on day 2 every window has 10 answers of its own: .9."""

    def answers(i, day, w):
        return f"w{w}" if day == 2 and i < 10 else "A"

    (spread,) = compute("day_spread", study(build, answers), THESE)

    assert spread.exact == Fraction(1, 10)
    assert spread.details["least_stable_day"] == 2
    assert spread.details["day_medians"] == {"1": 1.0, "2": 0.9}


def test_what_chance_does_to_the_spread_stands_beside_it(build):
    """case S14: one constant noise of .1 over five days; dealt at random, windows spread as much.

    With a day of its own (day 2 agrees in .9, day 1 in 1) only deals that keep the days reach .1:
    2 of 252, and 50 more that move one window of each keep both medians.
    """
    flips = np.random.default_rng(3).random((100, 5, 5)) < 0.1
    steady = build.table(
        {
            "item": f"p{i}",
            "task": f"t{i}",
            "day": day,
            "window": f"d{day}w{w}",
            "category": "B" if flips[i, day - 1, w] else "A",
        }
        for day in range(1, 6)
        for w in range(5)
        for i in range(100)
    )
    (quiet,) = compute("day_spread", steady, THESE)
    (moved,) = compute(
        "day_spread",
        study(build, lambda i, day, w: f"w{w}" if day == 2 and i < 10 else "A"),
        THESE,
    )

    assert quiet.details["chance_as_large"] > 0.05
    assert quiet.details["chance_above_band"] > 0.5
    assert "by chance alone" in quiet.caveats[1]
    assert moved.details["chance_as_large"] <= 52 / 252 + 0.03


def test_the_asked_target_comes_first(build):
    first, *_ = compute("day_within", study(build, day_shift(0)), Question("all"))

    assert first.target == "probes like these"


def test_invalid_readings_disagree_where_the_denominator_is_planned(build):
    """One of the 100 probes never parses: 98 of 99 valid agree, 98 of 100 planned."""
    found = study(build, lambda i, day, w: None if i == 0 else day_shift(0)(i, day, w))

    valid, *_ = compute("day_within", found, THESE)
    planned, *_ = compute(
        "day_within", found, Question("all", target="these probes", denominator="planned")
    )

    assert valid.exact == Fraction(98, 99)
    assert planned.exact == Fraction(98, 100)


def test_beyond_the_limit_relabellings_are_seeded_draws():
    """Five days of five windows have 25!/(5!)^5 = 6.2e14 relabellings."""
    rng = np.random.default_rng(1)
    agreement = rng.uniform(0.7, 0.9, (25, 25))
    agreement = (agreement + agreement.T) / 2

    found = [
        relabel(agreement, np.repeat(np.arange(5), 5), rng=np.random.default_rng(7))
        for _ in range(2)
    ]

    assert found[0].differences.size == 10_000
    assert not found[0].exact
    assert np.array_equal(found[0].differences, found[1].differences)


def test_conditions_are_never_mixed(build):
    rows = [
        {"item": "i", "condition": c, "window": w, "category": "A"}
        for c in ("quiet", "loaded")
        for w in ("1", "2")
    ]

    with pytest.raises(InputError, match=r"several conditions \(loaded, quiet\)"):
        compute("day_within", build.table(rows), THESE)
