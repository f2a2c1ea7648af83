"""G-study and D-study against the worked examples of Brennan (2001) and against lme4."""

import json
from pathlib import Path

import numpy as np
import pytest

from judgeaudit.errors import InputError
from judgeaudit.stats.gstudy import component_interval, curve, d_study, drop_one, g_study
from judgeaudit.stats.interval import Undefined

LME4 = json.loads((Path(__file__).parents[1] / "reference" / "facets.json").read_text())["judges"]


def digits(rows):
    """Return a table from rows of digits, one a person."""
    return np.array([[float(digit) for digit in row] for row in rows.split()])


# Brennan (2001), Generalizability Theory: synthetic data sets 1, 3 and 4.
ITEMS = digits(
    "101000000000 111001000000 111110000000 110110010000 111110100000 "
    "111011100000 111111100000 111101111100 111111111110 111111111111"
)
OCCASIONS = digits(
    "26752555 45676757 55465455 59865776 43564564 44476478 26652775 34456664 05455553 68766886"
).reshape(10, 2, 4)
RATERS = digits(
    "565553456733 937775557752 343353356516 755331435335 929777372753 "
    "343533634512 737775575554 585775543211 998866655811 444335655711"
).reshape(10, 3, 4)


def named(study, values):
    return {study.name(e): v for e, v in values.items()}


def test_persons_by_items():
    """Data set 1: variances .0574, .0754, .1269; E rho^2 .844 and Phi .773."""
    study = g_study(ITEMS, ["item"], objects="person")
    reached = d_study(study)

    assert named(study, study.variances) == pytest.approx(
        {"person": 0.0574, "item": 0.0754, "person x item": 0.1269}, abs=5e-5
    )
    assert named(study, study.squares) == pytest.approx(
        {"person": 0.8157, "item": 0.8811, "person x item": 0.1269}, abs=5e-5
    )
    assert round(reached.relative.value, 3) == 0.844
    assert round(reached.absolute.value, 3) == 0.773


def test_persons_by_items_by_occasions():
    """Data set 3, all crossed, all random; 4 items on 2 occasions reach .64 and .55."""
    study = g_study(OCCASIONS, ["o", "i"], objects="p")
    reached = d_study(study)

    assert named(study, study.variances) == pytest.approx(
        {
            "p": 0.5528,
            "o": 0.0074,
            "i": 0.4417,
            "p x o": 0.1009,
            "p x i": 0.5750,
            "o x i": 0.1565,
            "p x o x i": 0.9352,
        },
        abs=5e-5,
    )
    assert round(reached.relative.value, 2) == 0.64
    assert round(reached.absolute.value, 2) == 0.55


def test_raters_nested_in_tasks():
    """Data set 4, p x (r:t): three tasks of four raters each reach .55 and .46."""
    study = g_study(RATERS, ["t", "r"], objects="p", nested={"r": "t"})
    reached = d_study(study)

    assert named(study, study.variances) == pytest.approx(
        {"p": 0.4731, "t": 0.3252, "p x t": 0.5596, "r:t": 0.6475, "p x r:t": 2.3802}, abs=5e-5
    )
    assert named(study, study.degrees) == {"p": 9, "t": 2, "p x t": 18, "r:t": 9, "p x r:t": 81}
    assert round(reached.relative.value, 2) == 0.55
    assert round(reached.absolute.value, 2) == 0.46


def test_three_way_variances_equal_those_of_lme4():
    a, b, r = LME4["shape"]
    y = np.array(LME4["y"]).reshape(r, b, a).transpose(2, 1, 0)
    study = g_study(y, ["judge", "run"])
    known = LME4["reml"]

    assert named(study, study.variances) == pytest.approx(
        {
            "item": known["item"],
            "judge": known["judge"],
            "run": known["run"],
            "item x judge": known["item:judge"],
            "item x run": known["item:run"],
            "judge x run": known["judge:run"],
            "item x judge x run": known["Residual"],
        },
        abs=1e-4,
    )


def test_a_design_by_hand():
    """.5528 against 6 items on 3 occasions: .1009/3 + .575/6 + .9352/18, and the facets' own."""
    study = g_study(OCCASIONS, ["o", "i"], objects="p")
    reached = d_study(study, {"o": 3, "i": 6})
    relative = 0.1009259 / 3 + 0.575 / 6 + 0.9351852 / 18
    extra = 0.0074074 / 3 + 0.4416667 / 6 + 0.1564815 / 18

    assert reached.relative_error == pytest.approx(relative, abs=1e-6)
    assert reached.absolute_error == pytest.approx(relative + extra, abs=1e-6)
    assert reached.relative.value == pytest.approx(0.5527778 / (0.5527778 + relative), abs=1e-6)


def test_a_fixed_facet_belongs_to_the_score():
    """Items fixed at four: the score's variance is .5528 + .5750/4; items alone are no error."""
    study = g_study(OCCASIONS, ["o", "i"], objects="p")
    reached = d_study(study, fixed=["i"])

    assert reached.universe == pytest.approx(0.5527778 + 0.575 / 4, abs=1e-6)
    assert reached.relative_error == pytest.approx(0.1009259 / 2 + 0.9351852 / 8, abs=1e-6)
    extra = reached.absolute_error - reached.relative_error
    assert extra == pytest.approx(0.0074074 / 2 + 0.1564815 / 8, abs=1e-6)


@pytest.mark.parametrize("place", [0, 4, 9])
def test_what_is_left_out_is_what_a_smaller_table_gives(place):
    study = g_study(RATERS, ["t", "r"], objects="p", nested={"r": "t"})
    rest = g_study(np.delete(RATERS, place, axis=0), ["t", "r"], objects="p", nested={"r": "t"})

    assert study.deleted[place] == pytest.approx(list(rest.variances.values()))


def test_whole_tasks_are_left_out():
    tasks = np.array([0, 0, 1, 1, 2, 2, 3, 3, 4, 4])
    study = g_study(OCCASIONS, ["o", "i"], objects="p", tasks=tasks)
    rest = g_study(OCCASIONS[2:], ["o", "i"], objects="p")

    assert study.deleted.shape == (5, 7)
    assert study.deleted[0] == pytest.approx(list(rest.variances.values()))


def test_intervals_are_for_what_objects_can_tell():
    study = g_study(OCCASIONS, ["o", "i"], objects="p")
    own = component_interval(study, frozenset({"p", "i"}))

    assert own.low < 0.575 < own.high
    assert isinstance(component_interval(study, frozenset({"i"})), Undefined)
    assert d_study(study).relative.interval().low < 0.64 < d_study(study).relative.interval().high


def test_the_curve_rises_with_each_occasion():
    reached = curve(g_study(OCCASIONS, ["o", "i"], objects="p"), "o", [1, 2, 5])

    assert [d.sizes["o"] for d in reached] == [1, 2, 5]
    assert reached[0].absolute.value < reached[1].absolute.value < reached[2].absolute.value


def test_the_judge_to_drop_is_the_one_that_orders_items_otherwise():
    """Judges 0 and 1 agree up to noise, judge 2 scores at random."""
    rng = np.random.default_rng(5)
    theta = rng.normal(size=(80, 1, 1))
    y = theta + 0.2 * rng.normal(size=(80, 3, 2))
    y[:, 2] = rng.normal(size=(80, 2))
    reach = drop_one(y, ["judge", "run"], "judge", lambda d: d.relative.value)

    assert int(np.argmax(reach)) == 2


@pytest.mark.parametrize(
    ("table", "why"),
    [
        (np.full((5, 3), 2.0), "constant"),
        (np.where(np.eye(5, 3) > 0, np.nan, 1.0), "empty cells"),
        (np.ones((5, 1)), "two levels"),
    ],
)
def test_what_has_no_variances_says_why(table, why):
    assert why in g_study(table, ["judge"]).reason


def test_unknown_facets_are_refused():
    study = g_study(OCCASIONS, ["o", "i"])
    with pytest.raises(InputError, match="D-study"):
        d_study(study, {"judge": 2})
    with pytest.raises(InputError, match="name every axis"):
        g_study(OCCASIONS, ["o"])
