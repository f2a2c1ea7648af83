"""Decision worlds: the guarantee, the counterbalance, and words that agree with the counts."""

import re
from collections import Counter
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, stats

from judgeaudit.battery import build_battery, lint
from judgeaudit.battery.domains import DOMAINS, NAMES
from judgeaudit.battery.posterior import Record, posteriors, probability_better
from judgeaudit.battery.worlds import world_items
from judgeaudit.errors import InputError
from judgeaudit.instrument.readout import Prompt, build, problems_for
from judgeaudit.model import Candidate, Item


def test_the_posterior_of_one_success_against_one_failure():
    """Beta(2, 1) against Beta(1, 2): the integral of 2x (1 - (1 - x)^2) over [0, 1] is 5/6."""
    assert probability_better(Record(1, 1), Record(0, 1)) == Fraction(5, 6)


def test_the_fields_worked_case():
    """FIELD, section 7: 32/40 against 20/40 gives .9974, .9955 and .9966."""
    found = posteriors(Record(32, 40), Record(20, 40))

    assert round(float(found["before"]), 4) == 0.9974
    assert round(float(found["better_failed"]), 4) == 0.9955
    assert round(float(found["worse_succeeded"]), 4) == 0.9966


@settings(max_examples=15)
@given(*[st.integers(1, 30).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))] * 2)
def test_the_posterior_is_the_integral_it_claims_to_be(one, other):
    """Against numerical integration by scipy, and P + (1 - P) = 1 exactly."""
    a, b = Record(*one), Record(*other)
    left = stats.beta(a.successes + 1, a.runs - a.successes + 1)
    right = stats.beta(b.successes + 1, b.runs - b.successes + 1)
    expected, _ = integrate.quad(lambda x: left.pdf(x) * right.cdf(x), 0, 1, limit=200)

    assert float(probability_better(a, b)) == pytest.approx(expected, abs=1e-7)
    assert probability_better(a, b) + probability_better(b, a) == 1


def test_256_worlds_are_counterbalanced_and_sound():
    battery = build_battery("worlds", 256, 20)

    assert lint(battery.items) == []
    assert set(battery.report["better_tool"].values()) == {64}
    assert battery.report["domains"] == 16
    assert min(battery.report["rejected"].values()) >= 0
    assert float(battery.report["least_posterior"]) >= 0.95
    per_domain = Counter(
        (i.meta["domain"], i.meta["better_first"], i.meta["better_alphabetical"])
        for i in battery.items
    )
    assert set(per_domain.values()) == {4}
    pairs = Counter(tuple(sorted((i.meta["better"], i.meta["worse"]))) for i in battery.items)
    assert max(pairs.values()) == 1


def test_rejections_are_counted_by_reason():
    """With 12 runs a tool most draws leave the decision open; the report says how many."""
    few, many = (build_battery("worlds", 4, 1, runs=runs).report["rejected"] for runs in (16, 80))

    assert few["an_outcome_would_matter"] > many["an_outcome_would_matter"]


def test_words_agree_with_the_counts():
    for item in build_battery("worlds", 32, 3).items:
        rows = re.findall(r"\| (\w+) \| (\d+) \| (\d+) \| (\d+) \|", item.fields["log"])
        assert [row[0] for row in rows] == [item.fields["tool_1"], item.fields["tool_2"]]
        assert [row[0] for row in rows] == [c.text for c in item.candidates]
        for name, runs, succeeded, failed in rows:
            role = "better" if name == item.meta["better"] else "worse"
            assert [int(succeeded), int(runs)] == item.meta[f"{role}_record"]
            assert int(succeeded) + int(failed) == int(runs) == 40
        domain = next(d for d in DOMAINS if d.name == item.meta["domain"])
        assert item.fields["outcome_better_failed"].endswith(f"It failed: {domain.failure}.")
        assert item.meta["worse"] in item.fields["outcome_worse_succeeded"]
        assert item.gold == "better"


def test_counts_are_near_their_expectation():
    """Rates run from .75 to .85 and .45 to .55 in steps of .05; within 2 of 40 runs of one."""
    for item in build_battery("worlds", 64, 4).items:
        assert 28 <= item.meta["better_record"][0] <= 36
        assert 16 <= item.meta["worse_record"][0] <= 24


def test_names_are_neutral_and_never_part_of_another_or_of_a_setting():
    words = " ".join(f"{d.setting} {d.success} {d.failure}" for d in DOMAINS).lower()

    assert len(DOMAINS) >= 12
    assert len({name[0] for name in NAMES}) == len(NAMES)
    assert not [n for n in NAMES if n.lower() in words]
    assert not [n for n in NAMES for other in NAMES if n != other and n.lower() in other.lower()]


def test_costs_are_equal_or_favour_the_better_tool():
    equal = build_battery("worlds", 8, 1, costs="equal").items
    cheaper = build_battery("worlds", 8, 1, costs="better_cheaper").items

    assert all(i.meta["costs"][0] == i.meta["costs"][1] for i in equal)
    assert all(i.meta["costs"][0] < i.meta["costs"][1] for i in cheaper)
    assert all("cost of a run" in i.fields["log"] for i in equal)
    assert lint([*equal]) == lint([*cheaper]) == []


def test_runs_that_cannot_settle_the_decision_are_refused():
    with pytest.raises(InputError, match="2 runs a tool cannot settle which is better"):
        build_battery("worlds", 1, 1, runs=2)


@pytest.mark.parametrize("threshold", ["0.9", "1", "x", 0.5])
def test_a_threshold_below_the_guarantee_is_refused(threshold):
    with pytest.raises(InputError, match=r'a decimal from "0\.95" to below 1'):
        build_battery("worlds", 1, 1, threshold=threshold)


def test_a_world_in_which_an_outcome_should_matter_is_found():
    """20/40 against 18/40: nobody should be sure which is better."""
    item = build_battery("worlds", 1, 1).items[0]
    meta = {**item.meta, "better_record": [20, 40], "worse_record": [18, 40]}
    findings = lint([replace(item, meta=meta)])

    assert {f.rule for f in findings if f.severity == "error"} == {"decision-irrelevance", "world"}
    assert "(before)" in str(findings[0])


def test_a_log_that_tells_other_counts_is_found():
    item = build_battery("worlds", 1, 1).items[0]
    (finding, other) = lint([replace(item, fields={**item.fields, "log": "| none |"})])

    assert (finding.rule, other.rule) == ("world", "world")
    assert "the log does not show the better tool's counts" in finding.message


def test_the_choice_readout_can_ask_every_world():
    readout = build("choice", Prompt(None, "{setting}{log}{outcome_better_failed}{tools}"), {})

    items = build_battery("worlds", 16, 1).items
    assert [problem for item in items for problem in problems_for(readout, item)] == []


def own_world(number, better_first=True, **meta):
    """A person's own world: 90 of 100 against 50 of 100, in words of their own."""
    tools = [Candidate("better", "Kelvin"), Candidate("worse", "Rankine")]
    log = "Kelvin worked 90 of 100 times, Rankine 50 of 100 times."
    records = {"better_record": [90, 100], "worse_record": [50, 100]}
    return Item(
        f"own{number}", f"own{number}", f"own{number}", {"log": log},
        tuple(tools if better_first else tools[::-1]), "better", {**records, **meta},
    )  # fmt: skip


def rules(*items):
    return [(f.severity, f.rule) for f in lint(items) if f.rule in WORLD_RULES]


WORLD_RULES = {"world", "decision-irrelevance", "order"}


def test_a_persons_own_world_is_held_to_the_guarantee_by_its_records():
    """60 of 100 against 50 of 100: P is about .92, below .95; the log tells these counts."""
    weak = own_world(1, better_record=[60, 100])
    weak = replace(weak, fields={"log": "Kelvin worked 60 of 100 times, Rankine 50 of 100 times."})

    assert rules(own_world(1)) == []
    assert ("error", "decision-irrelevance") in rules(weak)


def test_a_persons_own_log_must_show_the_counts_that_were_checked():
    assert ("error", "world") in rules(replace(own_world(1), fields={"log": "Kelvin is better."}))


def test_worlds_without_records_are_told_once_and_not_refused():
    bare = [replace(own_world(n, n % 2 == 0), meta={}) for n in range(6)]
    (found,) = [f for f in lint(bare) if f.rule == "world"]

    assert (found.severity, "6 worlds have no counts" in found.message) == ("warning", True)


def test_what_a_case_shows_beyond_the_log_is_held_to_the_guarantee_too():
    """20 more failures of the better tool: 90 of 120 against 50 of 100 is settled, 60 is not."""
    three = own_world(1, cases={"outcomes": {"better": [0, 20]}})
    many = own_world(1, cases={"outcomes": {"better": [0, 60]}})

    assert rules(three) == []
    assert rules(many) == [("error", "decision-irrelevance")]
    assert rules(own_world(1, cases={"x": {"better": "many"}})) == [("error", "world")]


@pytest.mark.parametrize(
    ("order", "told"),
    [
        ([True] * 4, True),
        ([False] * 4, True),
        ([True] * 3 + [False], False),
        ([True] * 3, False),
    ],
)
def test_the_better_tool_in_one_place_in_all_worlds_is_told(order, told):
    items = [own_world(n, first) for n, first in enumerate(order)]

    assert (("warning", "order") in rules(*items)) is told


def test_more_adds_fields_whose_counts_hold_the_guarantee():
    """more = 3: doses of 2 and 3 in four cases, 3 later runs; lint holds all eleven to .95."""
    (world, *_) = world_items(4, 3, more=3).items
    better = world.fields["better_tool"]

    assert len(world.meta["cases"]) == 11
    assert world.meta["cases"]["outcomes_better_failed_3"] == {"better": [0, 3]}
    assert f"{better} was used. It failed each time" in world.fields["outcomes_better_failed_3"]
    assert world.fields["later_2"].startswith(f"Since then {better} was used for 2 more runs")
    assert rules(*world_items(8, 3, more=3).items) == []
    assert 0.95 < world.meta["prior"] < 1


def test_without_more_a_world_is_what_it_was():
    assert "cases" not in world_items(1, 3).items[0].meta
    with pytest.raises(InputError, match="more from 0 to 10"):
        world_items(1, 3, more=11)
