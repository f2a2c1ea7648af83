"""The fixed gate that is weighed is the one that is executed; its instruments and their search."""

import numpy as np
import pandas as pd
import pytest

from judgeaudit.analysis.catalogue import compute
from judgeaudit.design.base import read_toml
from judgeaudit.design.document import Registration
from judgeaudit.readings.table import checked
from judgeaudit.stats.operating import Chances
from judgeaudit.verdict.oc.fixed import FixedRule, rule_of, smallest_units
from judgeaudit.verdict.oc.laid import laid_out
from judgeaudit.verdict.oc.simulated import Simulated, shortcomings
from judgeaudit.verdict.oc.worlds import LEVELS, SCORES, Where, flip_instruments, readings
from judgeaudit.verdict.registered import question_of
from judgeaudit.verdict.verdicts import decide

CODES = {"pass": 1, "fail": -1, "inconclusive": 0, "undefined": 2}
BASE = """
[study]
id = "s"
title = "A study"
authors = ["N. N."]
claim = "verdict"
[[endpoints]]
id = "judge"
api = "openai.chat"
base_url = "embedded:stable"
model = "m"
[schedule]
seed = 1
cap = 1000
repeats = {repeats}
windows_per_day = {windows}
[unit]
cluster = "{cluster}"
[[gates]]
id = "g"
"""
FLIPS = 'statistic = "flip_rate"\nover = "same_window"\nat_most = 0.10\n'


def registered(gate=FLIPS, repeats=2, windows=1, cluster="item"):
    text = BASE.format(repeats=repeats, windows=windows, cluster=cluster) + gate
    return Registration.model_validate(read_toml("registration.toml", text.encode()))


def planned(items, repeats=2, windows=1, tasks=None):
    rows = [
        {"endpoint": "judge", "item": f"q{n}", "task": f"t{n if tasks is None else n % tasks}",
         "repeat": k, "window": f"d1w{w}", "day": 1, "status": "invalid", "reason": "no_reply"}
        for n in range(items)
        for w in range(windows)
        for k in range(repeats)
    ]  # fmt: skip
    return checked(pd.DataFrame(rows))


def rule(gate=FLIPS, items=60, repeats=2, windows=1, cluster="item", tasks=None):
    found = registered(gate, repeats, windows, cluster)
    laid = laid_out(found.gates[0], found, planned(items, repeats, windows, tasks))
    return rule_of(found.gates[0], laid, 1), found


def table_of(plan, usual, valid):
    """The plan with readings: the usual answer, or one that no other reading gives."""
    found, n = plan.copy(), len(plan)
    own = [f"other{n}" for n in range(n)]
    found["category"] = np.where(usual.ravel(), "usual", own)
    found["status"] = np.where(valid.ravel(), "ok", "invalid")
    found["category"] = found["category"].where(valid.ravel(), None)
    found["reason"] = np.where(valid.ravel(), None, "unparsed")
    return found


@pytest.mark.parametrize(
    ("gate", "repeats", "windows", "cluster", "tasks", "missing"),
    [
        (FLIPS, 2, 1, "item", None, 0.0),
        (FLIPS, 3, 2, "item", None, 0.1),
        (FLIPS.replace("same_window", "windows"), 2, 2, "item", None, 0.01),
        (FLIPS + 'decide = "point"\n', 2, 1, "item", None, 0.1),
        (FLIPS + 'invalid = "disagree"\n', 2, 1, "item", None, 0.05),
        (FLIPS, 2, 1, "task", 12, 0.0),
        (FLIPS.replace("0.10", "0.30"), 2, 1, "task", 7, 0.0),
        (FLIPS.replace("0.10", "0.30") + 'decide = "point"\n', 2, 1, "task", 4, 0.0),
        (FLIPS.replace("at_most = 0.10", "band = [0.05, 0.30]"), 2, 1, "item", None, 0.0),
        ('statistic = "category_exact"\nat_least = 0.9\n', 3, 1, "task", 15, 0.1),
    ],
)
def test_what_is_weighed_is_what_is_executed(rng, gate, repeats, windows, cluster, tasks, missing):
    """Twenty runs of several instruments: the arrays' and the table's verdicts are the same."""
    assert len(outcomes_of(rng, gate, repeats, windows, cluster, tasks, missing)) >= 2


def test_fewer_than_six_tasks_decide_nothing_by_a_bound(rng):
    """Five tasks give no interval, so that neither may pass or fail; six do."""
    wide = FLIPS.replace("0.10", "0.30")

    assert outcomes_of(rng, wide, 2, 1, "task", 5, 0.0) == {0}
    assert 1 in outcomes_of(rng, wide, 2, 1, "task", 6, 0.0)


def outcomes_of(rng, gate, repeats, windows, cluster, tasks, missing):
    """Return the outcomes of twenty runs; the arrays' and the table's are the same."""
    weighed, found = rule(gate, 60, repeats, windows, cluster, tasks)
    plan = planned(60, repeats, windows, tasks)
    outcomes = set()
    for number in range(20):
        name = list(flip_instruments(weighed.where))[number % 4]
        rate = (0.0, 0.03, 0.1, 0.3)[number // 4 % 4]
        usual = readings(name, rng, 1, weighed.where, rate, repeats * windows)
        valid = rng.random(usual.shape) >= missing

        said = weighed.decided(weighed.alike(usual, valid), weighed.compared(valid))[0]

        question = question_of(found.gates[0], found)
        filled = table_of(plan, usual[0], valid[0])
        executed = decide(found.gates[0], compute(found.gates[0].statistic, filled, question))
        assert CODES[executed.outcome.value] == said
        outcomes.add(said)
    return outcomes


@pytest.mark.parametrize(
    ("gate", "column"),
    [
        ('statistic = "spearman"\nover = "same_window"\nat_least = 0.8\n', 0.9),
        ('statistic = "icc"\nover = "all"\nat_least = 0.8\n', 0.9),
        ('statistic = "noise"\nover = "all"\nat_most = 1.0\n', 0.8),
        ('statistic = "repeatability_coefficient"\nover = "all"\nat_most = 2.0\n', 0.6),
    ],
)
def test_scores_are_weighed_as_they_are_executed(rng, gate, column):
    weighed, found = rule(gate, 40)
    plan, outcomes = planned(40), set()
    for size in (0.3, 1.0, 3.0):
        for _ in range(4):
            truth = rng.normal(size=(40, 1))
            scores = truth + rng.normal(size=(40, 2)) * size * (1 - column)

            said = weighed.decide_scores(scores)

            filled = plan.assign(number=scores.ravel(), status="ok", reason=None)
            question = question_of(found.gates[0], found)
            executed = decide(found.gates[0], compute(found.gates[0].statistic, filled, question))
            assert CODES[executed.outcome.value] == said
            outcomes.add(said)
    assert outcomes


def test_the_even_cell_is_the_binomial():
    """60 items asked twice, at most .10 by the bound at .05: passes with 0 or 1 flip of 60.

    P(X <= 1 | 60, .02) = .98^60 + 60 .02 .98^59 = .2976 + .3644 = .6619; the bound of 2 flips in
    60 is .1012.
    """
    weighed, _ = rule()

    cell = weighed.weigh("even", 0.02)

    assert cell.chances.passes == pytest.approx(0.662, abs=0.035)
    assert cell.calls == 120


@pytest.mark.parametrize("name", list(LEVELS))
def test_every_instrument_has_the_rate_that_it_is_named_for(rng, name):
    """Mean chance over 4,000 runs within 4 errors of .10; by run its SD is the largest, .10."""
    found = LEVELS[name](rng, 4000, Where(60, 20, np.arange(60) // 6), 0.10)

    assert found.mean() == pytest.approx(0.10, abs=4 * 0.10 / np.sqrt(4000))


def test_tasks_are_an_instrument_only_where_a_task_holds_several_items():
    assert "tasks" not in flip_instruments(Where(10, 5, np.arange(10)))
    assert "tasks" in flip_instruments(Where(10, 5, np.arange(10) // 2))


def test_readings_of_a_noisy_item_differ_with_its_chance(rng):
    """Usual with sqrt(1 - .19) = .9 each: two readings differ unless both are usual, .19."""
    usual = readings("even", rng, 200, Where(100, 20), 0.19, 2)

    assert 1 - (usual[..., 0] & usual[..., 1]).mean() == pytest.approx(0.19, abs=0.012)


def test_bursts_are_told_as_a_shortcoming_and_noise_by_run_is_not():
    """At the threshold bursts of 20 items pass far above alpha; by run is the slots' own."""
    weighed, _ = rule(items=160)

    cells = {"threshold": [weighed.weigh(name, 0.10) for name in weighed.instruments]}

    assert {c.instrument for c in cells["threshold"]} == {"even", "few items", "bursts", "by run"}
    [told] = shortcomings(cells, 0.05)
    assert told.startswith("bursts: an instrument of 0.1 (threshold) passes with chance")
    by = {c.instrument: c.chances.passes for c in cells["threshold"]}
    assert by["even"] <= 0.07
    assert by["bursts"] > 0.2
    assert by["by run"] == pytest.approx(0.5, abs=0.04)


def test_a_point_gate_promises_nothing_at_its_threshold():
    bad, even = Chances(0.5, 0.5), Chances(0.04, 0.96)
    cells = [Simulated("even", 0.1, even, 1, 900), Simulated("bursts", 0.1, bad, 1, 900)]

    assert shortcomings({"threshold": cells}, 0.05, by_point=True) == []
    assert len(shortcomings({"threshold": cells}, 0.05)) == 1
    assert shortcomings({"healthy": cells}, 0.05) == []  # the even one fails: nothing more is told


def test_tasks_as_units_hold_where_noise_lies_in_whole_tasks():
    """40 tasks of 4 items: with the task as the unit at most alpha and 3 errors, with the item
    more than twice of it."""
    by_task, _ = rule(items=160, cluster="task", tasks=40)
    by_item, _ = rule(items=160, cluster="item", tasks=40)

    assert by_task.weigh("tasks", 0.10).chances.passes <= 0.05 + 3 * 0.005
    assert by_item.weigh("tasks", 0.10).chances.passes > 0.12


def test_the_search_finds_the_size_at_which_the_executed_gate_passes():
    """.05 at .10 by the bound: the exact binomial asks 203 items for .8."""
    weighed, _ = rule()

    units = smallest_units(weighed, 0.05, None, wanted=0.8)

    assert 185 <= units <= 215
    assert weighed.at(units).weigh("even", 0.05).chances.passes >= 0.77
    assert weighed.at(100).weigh("even", 0.05).chances.passes < 0.7
    assert smallest_units(weighed, 0.10, None, most=400) is None


def test_more_units_repeat_the_plan_with_tasks_of_their_own():
    weighed, _ = rule(items=6, cluster="task", tasks=3)

    laid = weighed.at(7).laid

    assert laid.count == 7
    assert laid.planned.shape == (14, 2)
    assert np.unique(laid.tasks).size == 7


def test_pairs_of_candidates_are_drawn_each_by_itself(rng):
    """45 pairs of ten candidates on 100 items: the even mean's SD is sqrt(.0099/4500) = .00148."""
    gate = 'statistic = "ranking_pairwise"\nover = "same_window"\nat_least = 0.98\n'
    found = registered(gate.replace("same_window", "same_window"))
    laid = laid_out(found.gates[0], found, planned(100), candidates=10)
    weighed = rule_of(found.gates[0], laid, 1)

    drawn = weighed._drawn(rng, "even", 0.01, 500) / 45

    assert drawn.mean(axis=1).std() == pytest.approx(0.00148, rel=0.15)
    few = weighed.weigh("few items", 0.99).chances.passes
    assert weighed.weigh("even", 0.99).chances.passes > 0.99
    assert few < 0.5  # two items of a hundred carry it: too few to show .98


def test_a_statistic_without_instruments_has_no_rule():
    found = registered('statistic = "day_spread"\nover = "all"\nat_most = 0.1\ndecide = "point"\n')

    assert rule_of(found.gates[0], None, 1) is None
    laid = laid_out(found.gates[0], found, planned(10))
    assert rule_of(found.gates[0], laid, 1) is None


@pytest.mark.parametrize("name", list(SCORES))
def test_scores_of_three_columns_have_one_correlation(rng, name):
    """Mid-rank Spearman of each pair of columns near .8, 40,000 items."""
    from scipy.stats import spearmanr

    scores = SCORES[name](rng, 1, Where(40_000, 20), 0.8, 3)[0]

    for a, b in ((0, 1), (0, 2), (1, 2)):
        assert spearmanr(scores[:, a], scores[:, b])[0] == pytest.approx(0.8, abs=0.015)


def test_a_cell_tells_three_errors():
    """p = .5 of 900 runs: 3 * sqrt(.25/900) = .05."""
    assert Simulated("even", 0.1, Chances(0.5, 0.5), 1.0, 900).error == pytest.approx(0.05)
    assert isinstance(rule()[0], FixedRule)
