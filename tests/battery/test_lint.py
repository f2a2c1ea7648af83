"""The linter: each rule finds a battery made to break it, and nothing else."""

from dataclasses import replace

import pytest

from judgeaudit.battery import build_battery, lint
from judgeaudit.errors import InputError
from judgeaudit.model import Candidate, Item


def item(name, *flags, task=None, **changes):
    """An item with one candidate for each flag, correct or not."""
    candidates = tuple(Candidate(f"c{i}", f"{name} {i}", flag) for i, flag in enumerate(flags))
    return Item(name, name, task or name, candidates=candidates, **changes)


def rules(items):
    return [finding.rule for finding in lint(items)]


def test_a_sound_battery_has_no_findings():
    assert lint([item("a", True, False), item("b", False, True)]) == []


def test_accuracy_away_from_a_half_is_a_warning():
    """6 of 8 correct is .75, above .65; 5 of 8 is .625."""
    off = [item("a", True, True, True, False), item("b", True, True, True, False)]
    near = [item("a", True, True, True, False), item("b", True, True, False, False)]

    assert rules(off) == ["accuracy"]
    assert rules(near) == []


def test_too_few_mixed_tasks_are_a_warning():
    """Mixed is counted by task: a task of four label items of one candidate is mixed too."""
    pure = [item("a", True, True), item("b", False, False), item("c", True, False)]
    spread = [item(f"i{k}", k % 2 == 0, task="t") for k in range(4)]

    assert rules(pure) == ["mixed-tasks"]
    assert rules(spread) == []


def test_candidates_of_a_group_that_read_the_same_are_an_error():
    """CE's gate I-2R, also over the items of a group, as label readouts ask them."""
    one = build_battery("traces", 1, 1).items
    same = replace(one[1].candidates[0], text=one[0].candidates[0].text)
    twin = replace(one[1], candidates=(same,))

    (finding,) = [f for f in lint([one[0], twin, *one[2:]]) if f.rule == "I-2R"]

    assert str(finding) == "error: t000@25c2/c2: reads the same as t000@25c1/c1 [I-2R]"


def test_in_a_persons_own_rows_equal_texts_of_a_group_are_a_warning():
    rows = [replace(item(n, None), group="g", candidates=(Candidate("c", "x"),)) for n in "ab"]

    assert [(f.severity, f.rule) for f in lint(rows)] == [("warning", "I-2R"), ("warning", "gold")]


def test_missing_gold_is_counted():
    assert lint([item("a", None, None), item("b", True, False)])[0].message == (
        "1 of 2 items have no gold: no agreement with the truth"
    )


def test_ids_must_differ():
    assert "unique-ids" in rules([item("a", True, False), item("a", True, False)])


def test_thin_cells_of_constructed_errors_count_tasks_not_slips():
    (finding,) = lint(build_battery("slips", 5, 1, variants=8).items)

    assert finding.rule == "thin-cells"
    assert finding.severity == "warning"


def test_a_slip_without_its_size_is_an_error():
    whole = build_battery("slips", 1, 1, variants=1).items[0]
    bare = tuple(replace(c, meta={}) for c in whole.candidates)

    assert rules([replace(whole, candidates=bare)]) == ["error-size"] * 9


def test_a_world_without_counts_is_an_error():
    world = build_battery("worlds", 1, 1).items[0]
    bad = {**world.meta, "worse_record": [41, 40]}

    assert [f.message for f in lint([replace(world, meta=bad)])] == [
        "no counts of successes and runs"
    ]


def test_controls_are_left_out():
    control = item("c", True, True, meta={"control": "gold"})

    assert lint([item("a", True, False), control]) == []
    with pytest.raises(InputError, match="no items beside controls"):
        lint([control])
