"""Cells of the memory-luck study: names, roles, counts of what was answered."""

import numpy as np
import pandas as pd
import pytest

from judgeaudit.analysis.luck.answers import answers_of, kind_of
from judgeaudit.analysis.luck.named import Stratum, design_of_names, parse_cell
from judgeaudit.errors import InputError
from judgeaudit.model import Reason


@pytest.mark.parametrize(
    "name",
    [
        "unlucky.FF", "unlucky.SU", "lucky.SS.dep", "unlucky.FF.note-w", "unlucky.FF.dep.both-c",
        "lucky.FN", "unlucky.FD.again", "unlucky.SN.probe", "unlucky.FF.both",
    ],
)  # fmt: skip
def test_a_name_is_read_and_written_alike(name):
    assert parse_cell(name).name == name


def test_the_order_of_variants_and_a_readouts_arm_do_not_matter():
    assert parse_cell("unlucky.FF.again.note-w.dep:ab") == parse_cell("unlucky.FF.dep.note-w.again")


@pytest.mark.parametrize("name", ["-", "lesson-F", "unlucky", "unlucky.F", "lucky.failure.x"])
def test_names_of_other_designs_are_no_cells(name):
    assert parse_cell(name) is None


@pytest.mark.parametrize(
    "name", ["unlucky.FX", "lucky.XF", "unlucky.FF.nope", "unlucky.FF.dep.dep", "unlucky.FF.note-x"]
)
def test_a_misspelt_cell_is_refused_with_its_name(name):
    with pytest.raises(InputError, match=name):
        parse_cell(name)


def test_roles_are_mirrored_where_the_worse_tool_was_used():
    """Chance made the failure of the better tool and the success of the worse one."""
    unlucky, lucky = Stratum("unlucky"), Stratum("lucky", dependent=True)

    assert [unlucky.cell(r) for r in ("LL", "LO", "OU")] == [
        "unlucky.FF", "unlucky.FS", "unlucky.SU",
    ]  # fmt: skip
    assert [lucky.cell(r) for r in ("LL", "LO", "OU")] == [
        "lucky.SS.dep", "lucky.SF.dep", "lucky.FU.dep",
    ]  # fmt: skip


def test_counts_by_endpoint_cell_and_world(luck):
    """World 0: worse; 1: better; 2: no tool named; 3: no memory; 4: no reply."""
    answers = answers_of(luck.table(a={"unlucky.FF": "wb?-!"}, b={"unlucky.FF": "bbbbb"}))

    assert answers.cells == ("unlucky.FF",)
    assert answers.worse[0, 0].tolist() == [1, 0, 0, 0, 0]
    assert answers.valid[0, 0].tolist() == [1, 1, 0, 0, 0]
    assert answers.no_memory[0, 0].tolist() == [0, 0, 0, 1, 0]
    assert answers.lacking[0, 0].tolist() == [0, 0, 1, 0, 1]
    assert answers.kinds(0, [0]) == {"unparsed": 1, "no_memory": 1, "no_reply": 1}
    assert answers.kinds(1, [0]) == {}


def test_draws_of_a_cell_are_counted_together(luck):
    answers = answers_of(luck.table(a={"unlucky.FF": ["wb", "wb", "bb"]}))

    assert answers.worse[0, 0].tolist() == [2, 0]
    assert answers.planned.max() == 3


def test_only_the_last_stage_and_only_cells_are_read(luck):
    """Lessons of stage 1 and an arm of another design leave the counts alone."""
    table = luck.table(a={"unlucky.FF": "wb", "other": "ww"})
    lessons = table.assign(stage=1, arm="lesson-F", call_id=[f"l{i}" for i in table.index])
    lessons["draw"] = range(len(lessons))
    both = answers_of(pd.concat([lessons, table], ignore_index=True))

    assert both.cells == ("unlucky.FF",)
    assert np.array_equal(both.worse, answers_of(table).worse)


def test_a_choice_of_something_else_is_refused(luck):
    table = luck.table(a={"unlucky.FF": "wb"})
    table.loc[0, "category"] = "hammer"

    with pytest.raises(InputError, match="'hammer'; worlds have the candidates"):
        answers_of(table)


@pytest.mark.parametrize("reason", list(Reason))
def test_every_reason_is_one_of_the_three_kinds(reason):
    not_asked = {"no_memory"}
    not_answered = {
        "no_reply", "bad_body", "cap_reached", "window_closed", "unresolved", "stopped_by_rule",
    }  # fmt: skip
    expected = (
        "no_memory"
        if reason.value in not_asked
        else "undelivered"
        if reason.value in not_answered
        else "no_tool"
    )

    assert kind_of(reason.value) == expected


def test_contrasts_of_names_come_in_the_order_in_which_they_are_told():
    """`unlucky` decides, asked or not; others stand beside where all of their cells were asked."""
    roles = ("FF", "FU", "SS", "SU")
    names = [f"{case}.{role}" for case in ("lucky", "unlucky") for role in roles]
    names += [f"unlucky.{role}.dep" for role in roles] + ["unlucky.FF.note-w"]
    design = design_of_names(names)

    assert [c.scope for c in design.called("carry")] == ["unlucky", "unlucky.dep", "lucky"]
    assert [c.scope for c in design_of_names(["lucky.SS"]).called("carry")] == ["unlucky"]
    assert design.called("carry")[2].formula == (
        "p(lucky.SS) - p(lucky.SU) - p(lucky.FF) + p(lucky.FU)"
    )
