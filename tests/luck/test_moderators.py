"""Moderators, balance of lessons, and loss by cell and factor, by hand on small tables."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from judgeaudit.analysis.catalogue import NAMES, compute
from judgeaudit.analysis.luck.declared import CellSpec, Contrast, Design, signed
from judgeaudit.analysis.luck.moderators import levels_of, welch
from judgeaudit.analysis.question import Question
from judgeaudit.errors import InputError
from judgeaudit.readings.table import checked
from judgeaudit.stats.interval import Undefined

DESIGN = Design(
    cells={"F": CellSpec({"lesson": "F"}), "U": CellSpec({"lesson": "U"})},
    contrasts=(Contrast("harm", "all", signed(("F", 1), ("U", -1))),),
    factors={"lesson": {"F": "", "U": ""}},
)
ALL = Question(over="all", design=DESIGN)


def with_meta(table, **columns):
    """The table with meta columns, one letter or value a world."""
    for name, values in columns.items():
        by_world = {f"w{n}": value for n, value in enumerate(values)}
        table[f"meta.{name}"] = table["item"].map(by_world)
    return table


def test_a_contrast_within_the_levels_of_the_tools_order(luck):
    """Harm only where the worse tool is first (worlds 5 to 8): 3/4 there, 0 elsewhere."""
    table = luck.table(a={"F": "bbbbwwwb", "U": "bbbbbbbb"})
    found = compute("luck_moderators", with_meta(table, better_first=[True] * 4 + [False] * 4), ALL)
    told = {e.scope: e.value for e in found}

    assert told["harm, all, better_first=False"] == 3 / 4
    assert told["harm, all, better_first=True"] == 0
    difference = next(e for e in found if e.analysis == "luck_moderators_difference")
    assert difference.value == -3 / 4
    assert difference.scope.endswith("True less False")


def test_welchs_interval_is_scipys():
    one, other = np.array([1.0, 0, 1, 1, 0, 1]), np.array([0.0, 0, 1, 0])
    expected = stats.ttest_ind(one, other, equal_var=False).confidence_interval(0.95)

    assert welch(one, other, 0.95)[1:] == pytest.approx((expected.low, expected.high))
    assert isinstance(welch(np.zeros(4), np.zeros(4), 0.95), Undefined)


def test_numbers_of_many_values_are_cut_at_their_median():
    labels = levels_of(pd.Series([0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7]))

    assert list(labels) == ["at most 0.4"] * 4 + ["above 0.4"] * 3
    assert list(levels_of(pd.Series([1, 2, 1]))) == ["1", "2", "1"]


def test_a_setting_in_which_alone_luck_is_carried_is_found(luck):
    table = luck.table(a={"F": "wwwwbbbbbbbb", "U": "b" * 12})
    found = compute("luck_moderators", with_meta(table, domain=list("xxxxyyyyzzzz")), ALL)

    assert {e.scope.partition("domain=")[2]: e.value for e in found} == {"x": 1, "y": 0, "z": 0}


def test_a_moderator_that_no_world_has_is_refused(luck):
    question = Question(over="all", design=DESIGN, params={"by": "colour"})
    with pytest.raises(InputError, match="no meta key 'colour'"):
        compute("luck_moderators", luck.table(a={"F": "wb", "U": "bb"}), question)


def test_settings_as_clusters_are_the_unit(luck):
    """Means by setting 1, 0, 0 of unequal size: 1/3, and not 4/12; t(2) over three means."""
    table = luck.table(a={"F": "wwbbbbbbbbbb", "U": "b" * 12})
    table = with_meta(table, domain=list("xxyyyyyzzzzz"))
    question = Question(over="all", design=DESIGN, params={"cluster": "domain"})
    found = compute("luck_harm", table, question)[0]

    assert found.value == pytest.approx(1 / 3)
    assert found.cluster == "domain"
    assert found.exact is None
    assert any("3 clusters" in caveat for caveat in found.caveats)
    plain = compute("luck_harm", table, ALL)[0]
    assert plain.value == pytest.approx(2 / 12)
    assert any("these 3 settings" in caveat for caveat in plain.caveats)


def lessons(luck, first, second):
    """A table whose stage-1 lessons have these lengths in the cells one and two."""
    choices = luck.table(a={"F": "b" * len(first), "U": "b" * len(first)})
    rows = [
        {"endpoint": "a", "item": f"w{w}", "arm": arm, "stage": 1, "status": "ok", "text": "x" * n}
        for arm, lengths in (("one", first), ("two", second)) for w, n in enumerate(lengths)
    ]  # fmt: skip
    written = checked(pd.DataFrame(rows))
    return pd.concat([written, choices], ignore_index=True)


def test_lengths_of_lessons_are_told_by_cell_with_their_standardised_difference(luck):
    """Means 2 and 4, both variances 1: 2 standard deviations."""
    found = compute("luck_balance", lessons(luck, [1, 2, 3], [3, 4, 5]), ALL)

    assert [e.value for e in found] == pytest.approx([2.0, 4.0, 2.0])
    assert "not balanced" in found[2].caveats[0]


def test_equal_lengths_are_balanced(luck):
    found = compute("luck_balance", lessons(luck, [1, 2, 3], [3, 2, 1]), ALL)

    assert (found[2].value, found[2].caveats) == (0.0, ())


def test_losses_by_cell_and_by_factor(luck):
    """F lost worlds 1 to 7, U world 8: 7/20 and 1/20; U less F -6/20; p = 2 (1 + 8)/2^8."""
    table = luck.table(a={"F": "-" * 7 + "b" * 13, "U": "b" * 7 + "?" + "b" * 12})
    found = compute("luck_attrition", table, ALL)

    assert [(e.scope, e.value) for e in found] == [
        ("F", 7 / 20), ("U", 1 / 20), ("lesson: U less F", pytest.approx(-6 / 20)),
    ]  # fmt: skip
    assert (found[0].n["lessons"], found[1].n["lessons"]) == (7, 0)
    assert found[2].details["p"] == pytest.approx(18 / 256)
    assert (found[0].low, found[0].high) == pytest.approx(
        tuple(stats.beta.ppf([0.025, 0.975], [7, 8], [14, 13]))
    )


def test_a_loss_that_goes_with_the_lesson_is_told(luck):
    """Seven lost in F alone: p = 2/2^7 = .0156."""
    table = luck.table(a={"F": "-" * 7 + "b" * 13, "U": "b" * 20})

    assert "lost unequally" in compute("luck_attrition", table, ALL)[2].caveats[0]


@pytest.mark.parametrize("name", ["luck_moderators", "luck_balance"])
def test_what_describes_gates_nothing(name):
    assert NAMES[name].why_no_gate


def test_regret_weighs_each_world_by_its_gap(luck):
    """Worse in worlds 1 and 2 with gaps .4 and .2, of four: (.4 + .2)/4; nothing paired is left."""
    table = with_meta(luck.table(a={"F": "wwbb", "U": "bbbb"}), gap=[0.4, 0.2, 0.3, 0.3])
    question = Question(over="all", design=DESIGN, params={"scale": "gap"})
    found = compute("luck_harm", table, question)[0]

    assert found.value == pytest.approx(0.15)
    assert found.exact is None
    assert found.method.startswith("t over worlds")


def test_worst_cases_of_regret_are_weighed_too(luck):
    """World 1 lost its lesson: 0 to .4/4 beside the .2/4 of world 2."""
    table = with_meta(luck.table(a={"F": "-wbb", "U": "bbbb"}), gap=[0.4, 0.2, 0.3, 0.3])
    question = Question(over="all", design=DESIGN, params={"scale": "gap"})

    assert compute("luck_harm", table, question)[0].worst == pytest.approx((0.05, 0.15))


def test_a_scale_that_is_no_number_is_refused(luck):
    table = with_meta(luck.table(a={"F": "wb", "U": "bb"}), gap=["much", "little"])
    question = Question(over="all", design=DESIGN, params={"scale": "gap"})
    with pytest.raises(InputError, match="not a number"):
        compute("luck_harm", table, question)
