"""Informative pairs: chosen by other readings than those that are judged."""

import numpy as np
import pandas as pd
import pytest

from judgeaudit.analysis.catalogue import compute
from judgeaudit.analysis.noise.informative import gap_report
from judgeaudit.analysis.question import Question
from judgeaudit.readings.table import checked


def read(**points):
    """`read(a=(.1, .2))` is point a of the only group, read twice in one window."""
    rows = [
        {"item": name, "group": "g", "task": "g", "status": "ok", "number": v, "repeat": k}
        for name, values in points.items()
        for k, v in enumerate(values)
    ]
    return checked(pd.DataFrame(rows))


def concordance(table, delta):
    question = Question("same_window", params={"delta": delta})
    (found,) = compute("informative_concordance", table, question)
    return found


def test_a_pair_is_chosen_by_the_readings_that_are_not_judged():
    """Gaps of a-b in three readings: .5, .5, -.1. Each pair of readings is chosen by the third.

    Readings 1, 2 (third gap -.1, delta .3): out. 1, 3 (second .5): discordant. 2, 3: discordant.
    """
    found = concordance(read(a=(0.9, 0.9, 0.4), b=(0.4, 0.4, 0.5)), 0.3)

    assert found.value == 0
    assert found.n["pairs"] == 2
    assert found.details["share_below_delta"] == pytest.approx(1 / 3)


@pytest.mark.slow
def test_choosing_and_judging_by_the_same_reading_would_flatter():
    """A judge without any order (pure noise) keeps half of its informative pairs, not more."""
    rng = np.random.default_rng(1)
    frames = []
    for g in range(300):
        table = read(**{name: tuple(rng.normal(size=4)) for name in "abcd"})
        frames.append(
            table.assign(item=table["item"] + str(g), group=str(g), task=str(g), call_id=None)
        )
    found = concordance(checked(pd.concat(frames, ignore_index=True)), 1.0)

    assert found.value == pytest.approx(0.5, abs=0.03)
    assert found.low < 0.5 < found.high


def test_two_readings_cannot_choose_and_judge():
    assert "third reading" in concordance(read(a=(0.1, 0.2), b=(0.3, 0.4)), 0.1).undefined


def test_a_group_without_an_informative_pair_is_counted():
    found = concordance(read(a=(0.1, 0.1, 0.1), b=(0.1, 0.1, 0.1)), 0.05)

    assert found.undefined == "no pair is informative"
    assert found.excluded["group_without_informative_pair"] == 1


def test_without_a_frozen_delta_nothing_is_estimated():
    (found,) = compute(
        "informative_concordance", read(a=(0.1,) * 3, b=(0.3,) * 3), Question("same_window")
    )

    assert "params.delta" in found.undefined


def test_the_report_tells_ties_gaps_and_the_share_below_delta():
    """a and b are tied once; gaps a-c and b-c change by .1, a-b by .1."""
    table = read(a=(0.1, 0.2), b=(0.1, 0.1), c=(0.9, 0.9))
    found = gap_report(table, Question("same_window"))

    assert found["groups_with_ties"] == 1
    assert found["delta"] == pytest.approx(0.1)
    assert found["pairs"] == 3
    assert found["share_below_delta"] == pytest.approx(1 / 3)
    assert found["repeat_deltas"]["max"] == pytest.approx(0.1)


def test_nothing_read_twice_has_no_report():
    assert gap_report(read(a=(0.1,), b=(0.2,)), Question("same_window")) == {}
