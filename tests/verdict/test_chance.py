"""A rule's null: readings dealt anew over the windows, beside what the rule named."""

import numpy as np
import pandas as pd
import pytest

from judgeaudit.analysis.estimate import Estimate
from judgeaudit.analysis.question import Question
from judgeaudit.design.criteria import Band, Rule
from judgeaudit.readings.table import checked
from judgeaudit.verdict.chance import Chance, chance_of, dealt, speaks_of_time
from judgeaudit.verdict.naming import by_point
from judgeaudit.verdict.rules import name_outcome

SPREAD = Rule(
    id="spread", statistic="day_spread",
    bands=[Band(name="days_differ", above="0.03"), Band(name="days_alike", at_least="0")],
)  # fmt: skip
SIGN = Rule(
    id="sign", statistic="day_difference",
    bands=[Band(name="floor", below="0.03", absolute=True), Band(name="more", at_least="0.03")],
)  # fmt: skip


def days(rng, count, items=100, rate=0.15, windows=3):
    """One constant noise: the rate of the less usual answer is the same on every day."""
    rows = [
        {"endpoint": "judge", "item": f"q{n}", "window": f"d{d}w{w}", "day": d, "status": "ok",
         "category": "ab"[int(rng.random() < rate)]}
        for d in range(1, count + 1) for w in range(windows) for n in range(items)
    ]  # fmt: skip
    return checked(pd.DataFrame(rows))


def test_a_spread_over_three_points_comes_by_chance_in_most_five_day_studies(rng):
    """Issue 12: a judge with one constant noise: fires in 95 % of five-day studies."""
    found = chance_of(SPREAD, days(rng, 5, items=60, windows=2), Question(over="all"), 12)

    assert found.shares["judge"]["days_differ"] > 0.8
    assert sum(found.shares["judge"].values()) == pytest.approx(1)


def test_two_days_fire_less_often_than_five(rng):
    two = chance_of(SPREAD, days(rng, 2, windows=2), Question(over="all"), 20).shares["judge"]

    assert 0.1 < two["days_differ"] < 0.8


def test_a_day_that_is_another_judge_is_no_chance(rng):
    """Half of the second day's answers are turned: dealt anew the days are alike again."""
    table = days(rng, 2, rate=0.0)
    second = table["day"].eq(2) & table["window"].str.endswith("1")
    table.loc[second, "category"] = "b"

    found = chance_of(SPREAD, table, Question(over="all"), 8)

    assert found.deals == 8
    assert found.shares["judge"]["days_differ"] < 1


def test_dealing_keeps_each_item_and_its_readings(rng):
    table = days(rng, 2, items=20, rate=0.4)

    new = dealt(table, rng)

    keys = ["item", "category"]
    assert new.groupby(keys, observed=True).size().equals(table.groupby(keys, observed=True).size())
    assert new["window"].tolist() == table["window"].tolist()
    assert (new["category"] != table["category"]).any()


def test_dealing_moves_a_missing_reading_whole(rng):
    table = days(rng, 2, items=5)
    table.loc[0, ["status", "category", "reason"]] = ["invalid", None, "unparsed"]

    new = dealt(table, np.random.default_rng(3))

    lost = new[new["status"].eq("invalid")]
    assert len(lost) == 1
    assert lost["item"].tolist() == ["q0"]
    assert lost["reason"].tolist() == ["unparsed"]


def test_what_does_not_speak_of_time_has_no_null(rng):
    rule = Rule(id="r", statistic="flip_rate", over="same_window", bands=[Band(name="any")])

    assert not speaks_of_time(rule)
    assert chance_of(rule, days(rng, 1), Question(over="same_window")) is None
    named = name_outcome(rule, [Estimate("flip_rate", 0.1, "judge")])
    assert any("no name by chance" in text for text in named.does_not_say)
    assert named.to_dict()["by_chance"] is None


@pytest.mark.parametrize(
    ("value", "low", "high", "told"),
    [
        (0.01, -0.02, 0.02, ""),
        (0.01, -0.02, 0.05, "also reaches more"),
        (0.05, -0.01, 0.09, "also reaches floor"),
        (0.05, -0.05, 0.09, "also reaches unnamed and floor"),
        (0.01, None, None, "there is no interval"),
    ],
)
def test_a_reading_that_a_point_decided_says_so(value, low, high, told):
    estimate = Estimate("day_difference", value, "judge", low=low, high=high, level=0.95)
    named = name_outcome(SIGN, [estimate])

    said = by_point(SIGN, dict(named.names)["judge"], estimate)

    assert told in said
    assert bool(said) == bool(told)
    assert (said in named.says) if said else "The point" not in named.says


def test_the_null_stands_beside_the_outcome():
    chance = Chance({"judge": {"days_alike": 0.05, "days_differ": 0.95}}, 49)

    named = name_outcome(SPREAD, [Estimate("day_spread", 0.05, "judge")], chance=chance)

    assert "days_differ in 95%, days_alike in 5%" in named.says
    assert named.to_dict()["by_chance"]["names"]["judge"]["days_differ"] == 0.95
