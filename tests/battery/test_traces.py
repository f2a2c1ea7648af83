"""Traces: truth recomputed from the text alone, slips where they are said to be."""

import re
from collections import Counter
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judgeaudit.battery import build_battery, lint
from judgeaudit.battery.traces import correctness
from judgeaudit.errors import InputError
from judgeaudit.instrument.readout import Prompt, build, problems_for

NUMBER = r"-?\d+(?:/\d+)?"


def truth_of(question):
    """The sum, parsed from the question's words."""
    terms = re.findall(rf"([+-]?) ?({NUMBER})", question.removeprefix("Compute "))
    return sum(
        (Fraction(number) * (-1 if sign == "-" else 1) for sign, number in terms), Fraction(0)
    )


def wrong_steps(text):
    """Numbers of the lines whose arithmetic does not hold, parsed from the text."""
    wrong = []
    for line in text.split("\n"):
        step, left, sign, right, result = re.fullmatch(
            rf"Step (\d): ({NUMBER}) ([+-]) ({NUMBER}) = ({NUMBER})", line
        ).groups()
        change = Fraction(right) if sign == "+" else -Fraction(right)
        if Fraction(left) + change != Fraction(result):
            wrong.append(int(step))
    return wrong


@settings(max_examples=20)
@given(st.integers(0, 10**6))
def test_correct_means_that_the_last_total_is_the_sum(seed):
    for item in build_battery("rankings", 2, seed).items:
        for candidate in item.candidates:
            last = Fraction(candidate.text.rsplit(" ", 1)[1])
            assert candidate.correct is (last == truth_of(item.fields["question"]))
            assert 4 <= candidate.meta["steps"] <= 8


@settings(max_examples=20)
@given(st.integers(0, 10**6))
def test_a_wrong_trace_has_one_wrong_line_and_goes_on_from_it(seed):
    for item in build_battery("traces", 2, seed, prefixes=[100]).items:
        (candidate,) = item.candidates
        slip = candidate.meta["slip_step"]
        assert wrong_steps(candidate.text) == ([] if candidate.correct else [slip])


def test_a_prefix_is_the_first_lines_of_the_whole_rounded_up():
    """Of 5 steps 25 % are 2, 50 % are 3, 75 % are 4: never less than asked."""
    whole, shown = {}, {}
    for item in build_battery("traces", 6, 3).items:
        candidate, prefix = item.candidates[0], item.meta["prefix"]
        shown[item.task, candidate.id, prefix] = candidate.text.split("\n")
        if prefix == 100:
            whole[item.task, candidate.id] = candidate.text.split("\n")

    for (task, name, prefix), lines in shown.items():
        steps = whole[task, name]
        assert lines == steps[: -(-len(steps) * prefix // 100)]
    assert {len(lines) for lines in whole.values()} <= {4, 5, 6, 7, 8}


def test_items_are_nested_in_groups_of_one_prefix_and_in_tasks():
    battery = build_battery("traces", 3, 1)
    groups = Counter(item.group for item in battery.items)

    assert len(battery.items) == 3 * 4 * 4
    assert set(groups.values()) == {4}
    assert battery.items[0].id == "t000@25c1"
    assert {item.gold for item in battery.items} == {"0", "1"}
    assert {(i.gold == "1") is i.candidates[0].correct for i in battery.items} == {True}


@pytest.mark.parametrize("candidates", range(2, 13))
def test_every_task_is_mixed_and_half_are_correct_over_four_tasks(candidates):
    counts = [sum(correctness(5, task, candidates)) for task in range(8)]

    assert all(1 <= count <= candidates - 1 for count in counts)
    assert sum(counts) == 4 * candidates


@settings(max_examples=15)
@given(st.integers(0, 10**6), st.sampled_from(["traces", "rankings", "pairs", "scores"]))
def test_the_linter_finds_nothing_wrong_with_them(seed, kind):
    """Distinct as rendered at every prefix, accuracy .5, all tasks mixed, gold present."""
    assert lint(build_battery(kind, 4, seed).items) == []


def test_pairs_have_the_right_solution_first_in_every_second():
    battery = build_battery("pairs", 20, 9)

    first = [item.gold == "c1" for item in battery.items]
    assert [sum(first[i : i + 2]) for i in range(0, 20, 2)] == [1] * 10
    for item in battery.items:
        assert [c.id for c in item.candidates if c.correct] == [item.gold]


def test_a_mark_counts_the_steps_before_the_slip():
    """1 + floor(4 c / s): a slip in step 3 of 5 leaves c = 2, so 1 + floor(8/5) = 2."""
    seen = set()
    for item in build_battery("scores", 12, 2).items:
        wrong = wrong_steps(item.candidates[0].text)
        steps = item.candidates[0].text.count("\n") + 1
        before = wrong[0] - 1 if wrong else steps
        assert item.gold == str(1 + (4 * before) // steps)
        seen.add(item.gold)

    assert seen == {"1", "2", "3", "4", "5"}


@pytest.mark.parametrize(
    ("kind", "template", "options"),
    [
        (
            "label_pair",
            "{question}{candidate}{label_correct}{label_incorrect}",
            {"labels": {"correct": "A", "incorrect": "B"}},
        ),
        ("ranking", "{question}{candidates}", {}),
        ("verdict", "{candidate_1}{candidate_2}", {"categories": ["A", "B"], "orders": "both"}),
        ("score", "{candidate}{scale_low}", {"scale": {"low": 1, "high": 5}}),
    ],
)
def test_each_readout_can_ask_the_battery_made_for_it(kind, template, options):
    battery = {"label_pair": "traces", "ranking": "rankings", "verdict": "pairs", "score": "scores"}
    readout = build(kind, Prompt(None, template), options)
    items = build_battery(battery[kind], 3, 1).items

    assert [problem for item in items for problem in problems_for(readout, item)] == []
    assert readout.prompt_problems() == []


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"n": 0}, "n: 0 tasks"),
        ({"candidates": 13}, "candidates: 13; from 2 to 12"),
        ({"prefixes": [0]}, "percentages from 1 to 100"),
        ({"prefixes": []}, "percentages from 1 to 100"),
        ({"prefixes": [50, 50]}, "each percentage once"),
    ],
)
def test_sizes_that_cannot_be_are_refused(options, said):
    with pytest.raises(InputError) as caught:
        build_battery("traces", **{"n": 2, "seed": 1, **options})

    assert said in str(caught.value)
