"""What was lost, and what it could have changed: counts, bounds by hand, gates that it turns.

A contrast harm = p(F) - p(U) of a declared design, four or more worlds. w worse, b better, ? a
reply that names no tool, - no lesson to ask with, ! no reply.
"""

import json
import math
from decimal import Decimal

import numpy as np
import pytest
from scipy import stats

from judgeaudit.analysis.catalogue import compute
from judgeaudit.analysis.luck.attrition import (
    bounds_of,
    imbens_manski_quantile,
    lost_unequally,
)
from judgeaudit.analysis.luck.declared import CellSpec, Contrast, Design, signed
from judgeaudit.analysis.question import Question
from judgeaudit.design.criteria import Gate
from judgeaudit.verdict import decide

DESIGN = Design(
    cells={"F": CellSpec({"lesson": "F"}), "U": CellSpec({"lesson": "U"})},
    contrasts=(Contrast("harm", "all", signed(("F", 1), ("U", -1))),),
    factors={"lesson": {"F": "", "U": ""}},
)
ALL = Question(over="all", design=DESIGN)


def first(luck, question=ALL, **endpoints):
    return compute("luck_harm", luck.table(**endpoints), question)[0]


def test_a_lesson_that_was_never_written_counts_as_missing(luck):
    """World 4 had no lesson in F: value (1 - 0)/3, of four worlds between 1/4 and 2/4."""
    found = first(luck, a={"F": "wbb-", "U": "bbbb"})

    assert str(found.exact) == "1/3"
    assert found.missing == 1 / 4
    assert found.worst == (1 / 4, 2 / 4)


def test_a_missing_world_in_the_subtracted_cell_moves_the_bound_down(luck):
    """U lacks worlds 2 (no tool) and 3 (no lesson): 1/4 - 2/4 and 1/4."""
    assert first(luck, a={"F": "wbbb", "U": "b?-b"}).worst == (-1 / 4, 1 / 4)


def test_losses_are_counted_by_cell_and_kind(luck):
    found = first(luck, a={"F": "wb?-", "U": "bb!b"})

    assert found.details["lost"] == {
        "F": {"planned": 4, "no_memory": 1, "no_tool": 1, "undelivered": 0},
        "U": {"planned": 4, "no_memory": 0, "no_tool": 0, "undelivered": 1},
    }  # fmt: skip


def test_nothing_lost_has_no_bounds_of_their_own(luck):
    found = first(luck, a={"F": "wbbb", "U": "bbbb"})

    assert (found.missing, "bounds" in found.details) == (0.0, False)
    assert found.worst == (0.25, 0.25)


def test_the_quantile_of_imbens_and_manski():
    """Two-sided at width 0, one-sided at infinite width; between, Phi(c + w/se) - Phi(-c) = .95."""
    assert imbens_manski_quantile(0.0, 0.1, 0.95) == pytest.approx(1.959964, abs=1e-6)
    assert imbens_manski_quantile(5.0, 0.1, 0.95) == pytest.approx(1.644854, abs=1e-6)
    c = imbens_manski_quantile(0.05, 0.1, 0.95)
    assert stats.norm.cdf(c + 0.5) - stats.norm.cdf(-c) == pytest.approx(0.95, abs=1e-9)
    assert 1.645 < c < 1.960


def test_bounds_and_their_interval_by_hand():
    """40 worlds: 30 at 0 in both, 10 at 0 below and 1 above.

    Above: mean 1/4, SD sqrt(10/40 * 30/40 * 40/39) = .4385290, SE .0693375; width/SE = 3.6, so c is
    1.6449 to four digits: level 2 Phi(c) - 1 = .9; t(39) at .95 is 1.684875. gamma of the values:
    m2 = 3/16, m3 = .25 .75³ - .75 .25³ = 3/32, gamma = (3/32)/(3/16)^1.5 = 1.1547005; the upper end
    moves out by gamma (2 z² + 1)/(6 sqrt 40), z = 1.6449: 1.1547 * 6.41135/37.9473 = .1950915.
    """
    low, high = np.zeros(40), np.r_[np.zeros(30), np.ones(10)]
    found = bounds_of(low, high, 0.95)

    assert (found.least, found.greatest) == (0.0, 0.25)
    assert found.high == pytest.approx(0.25 + (1.684875 + 0.1950915) * 0.0693375, abs=2e-4)
    assert found.low < 0


def test_a_test_of_whether_one_side_lost_more():
    """7 worlds lost in the added cell only, 1 in the other: 2 (1 + 8)/2^8 = 18/256."""
    lost = np.array([1.0] * 7 + [-1.0] + [0.0] * 20)

    assert lost_unequally(lost) == pytest.approx(18 / 256)
    assert lost_unequally(np.zeros(5)) is None


def test_the_test_stands_beside_the_estimate(luck):
    """Worlds 1 to 6 lost their lesson in F alone: two-sided 2/2^6."""
    found = first(luck, a={"F": "------" + "b" * 34, "U": "b" * 40})

    assert found.details["p_lost_unequally"] == pytest.approx(2 / 64)


@pytest.mark.parametrize(
    ("worlds", "moving", "said"), [(29, 12, "29 worlds"), (40, 9, "9 worlds move")]
)
def test_a_thin_contrast_warns(luck, worlds, moving, said):
    found = first(luck, a={"F": "w" * moving + "b" * (worlds - moving), "U": "b" * worlds})

    assert any(said in caveat for caveat in found.caveats)


@pytest.mark.parametrize(("worlds", "moving"), [(30, 10), (64, 32)])
def test_a_contrast_that_is_not_thin_does_not_warn(luck, worlds, moving):
    found = first(luck, a={"F": "w" * moving + "b" * (worlds - moving), "U": "b" * worlds})

    assert not any("fewer than" in caveat for caveat in found.caveats)


def verdict(table, at_most="0.10", **params):
    gate = Gate(id="g", statistic="luck_harm", over="all", at_most=Decimal(at_most), params=params)
    asked = Question(over="all", level=0.9, threshold=gate.at_most, params=params, design=DESIGN)
    return decide(gate, compute("luck_harm", table, asked))


def test_a_gate_that_lost_worlds_could_turn_is_inconclusive_and_names_the_endpoint(luck):
    """256 worlds without an event pass; 30 of them without a lesson could be 30 events, .117."""
    whole, lost = {"F": "b" * 256, "U": "b" * 256}, {"F": "-" * 30 + "b" * 226, "U": "b" * 256}

    assert verdict(luck.table(a=whole)).outcome.value == "pass"
    found = verdict(luck.table(a=whole, b=lost))
    assert [h.outcome.value for h in found.held] == ["pass", "inconclusive"]
    assert "worlds lost: b 11.7%" in found.says


def test_less_than_the_usual_tolerance_counts_too_where_it_could_turn_the_verdict(luck):
    """5 of 256 (1.95 %, under max_missing): events in 15 worlds pass .10, in 20 they might not."""
    some = {"F": "-" * 5 + "w" * 15 + "b" * 236, "U": "b" * 256}
    filled = {"F": "b" * 5 + "w" * 15 + "b" * 236, "U": "b" * 256}

    assert verdict(luck.table(a=filled)).outcome.value == "pass"
    assert verdict(luck.table(a=some)).outcome.value == "inconclusive"


def test_few_lost_worlds_that_could_not_turn_it_leave_the_verdict(luck):
    lost = {"F": "-" * 3 + "b" * 253, "U": "b" * 256}

    assert verdict(luck.table(a=lost)).outcome.value == "pass"


def test_an_endpoint_without_a_choice_is_named_and_takes_no_other_with_it(luck):
    """Over these endpoints a has 1/4; b refused everything."""
    table = luck.table(
        a={"F": "wbbb", "U": "bbbb"}, b={"F": "????", "U": "????"}, c={"F": "wwbb", "U": "bbbb"}
    )
    asked = Question(over="all", design=DESIGN, params={"pool": "these"})
    found = compute("luck_harm", table, asked)[0]

    assert found.value == pytest.approx((1 / 4 + 2 / 4) / 2)
    assert found.details["without_choices"] == ["b"]
    assert any("without b, which made no valid choice" in caveat for caveat in found.caveats)
    assert found.missing == pytest.approx(1 / 3)


def test_win_stay_lose_shift_is_never_summed_up_as_carrying_nothing(luck):
    """It leaves a tool that failed and stays with one that succeeded: total 1, CARRY 0."""
    from judgeaudit.verdict.words import beside

    cells = {"FF": "w" * 40, "FU": "w" * 40, "SS": "b" * 40, "SU": "b" * 40}
    design = Design(
        {name: CellSpec({"cell": name}) for name in cells},
        (
            Contrast(
                "carry", "all", signed(("FF", 1), ("FU", -1), ("SS", -1), ("SU", 1)), beside="total"
            ),
            Contrast("total", "all", signed(("FF", 1), ("SS", -1))),
        ),
        {"cell": dict.fromkeys(cells, "")},
    )  # fmt: skip
    found = compute("luck_carry", luck.table(a=cells), Question(over="all", design=design))

    assert found[0].value == 0
    assert found[0].details["beside"] == {"total": 1.0}
    assert "total 1.000" in beside(found[0])
    assert json.dumps(found[0].details, default=str)
    assert not math.isnan(found[0].details["beside"]["total"])
