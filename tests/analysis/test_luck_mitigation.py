"""Mitigations of memory luck against their criterion, by hand on `luck_small.csv`.

With the note the worse tool is chosen at a in world 1, at b in 1 2 8, at c nowhere; without it at a
in 1-4, at b in 1 2 7, at c in 8-10. The unrelated memory was not asked under the note, so harm's
reduction is p_FF - p_FF.note: a 3/12, b 0 (7 against 8), c 3/12.
"""

import math

import pytest
from scipy import optimize, stats

from judgeaudit.analysis.catalogue import compute
from judgeaudit.analysis.question import Question
from judgeaudit.errors import InputError

ALL = Question(over="all")


def heads(found):
    return [e for e in found if e.analysis == "luck_mitigation"]


def met(found):
    (one,) = [e for e in found if e.analysis == "luck_mitigation_met"]
    return one


def test_the_reduction_of_harm_is_the_hand_count(luck):
    found = compute("luck_mitigation", luck.small(), ALL)

    assert [str(e.exact) for e in heads(found)] == ["1/4", "0", "1/4"]
    assert any("unlucky.FU stands in for unlucky.FU.note-w" in c for c in found[0].caveats)


def test_met_at_every_endpoint_is_the_largest_p_without_correction(luck):
    """b's estimate is 0, so its p is 1; a and c have b = 3, c = 0 of 12.

    Newcombe's lower bound there is 0 where 1/4 = sqrt((1/4 - l1)² - 2 phi ... + u2²) at z = the
    normal quantile of p, found by bisection of the formula written out.
    """
    found = compute("luck_mitigation", luck.small(), ALL)
    result = met(found)

    def lower(z, top=4, both=1, n=12):
        def wilson(s):
            centre, half = s + z * z / 2, z * math.sqrt(s * (n - s) / n + z * z / 4)
            return (centre - half) / (n + z * z), (centre + half) / (n + z * z)

        p1, p2 = top / n, both / n
        cross = both * (n - top) - 0  # a d - b c with c = 0
        cross = max(cross - n / 2, 0)
        phi = cross / math.sqrt(top * (n - top) * both * (n - both))
        x, y = p1 - wilson(top)[0], wilson(both)[1] - p2
        return p1 - p2 - math.sqrt(x * x - 2 * phi * x * y + y * y)

    z = optimize.brentq(lower, 0.01, 5)
    assert heads(found)[0].details["p_present"] == pytest.approx(stats.norm.sf(z), abs=1e-6)
    assert result.details["p_everywhere"] == 1.0
    assert result.details["met_at_every_endpoint"] is False
    assert "b" in result.details["not_met"]


def test_a_strong_mitigation_is_met_everywhere(luck):
    """32 of 64 worlds without the note, none with it, at both endpoints."""
    cells = {
        "unlucky.FF": "w" * 32 + "b" * 32,
        "unlucky.FU": "b" * 64,
        "unlucky.FF.note-c": "b" * 64,
        "unlucky.FU.note-c": "b" * 64,
    }
    found = compute("luck_mitigation", luck.table(a=cells, b=cells), ALL)

    assert [e.value for e in heads(found)] == [0.5, 0.5]
    assert heads(found)[0].method == "MOVER of Tango score"
    assert met(found).details["met_at_every_endpoint"] is True
    assert met(found).value == 1.0


def test_negligible_harm_under_the_note_is_a_criterion_of_its_own(luck):
    """No event of 64 with the note: Newcombe's upper bound is Wilson's, z²/(64 + z²) = .0406."""
    cells = {
        "unlucky.FF": "w" * 32 + "b" * 32,
        "unlucky.FU": "b" * 64,
        "unlucky.FF.note-w": "b" * 64,
    }
    question = Question(over="all", params={"criterion": "negligible", "margin": 0.05})
    found = compute("luck_mitigation", luck.table(a=cells), question)

    assert heads(found)[0].value == 0
    z2 = stats.norm.ppf(0.95) ** 2
    assert heads(found)[0].details["claims"]["upper"] == pytest.approx(z2 / (64 + z2))
    assert met(found).details["met_at_every_endpoint"] is True


def test_a_gate_over_several_mitigations_must_name_one(luck):
    cells = {
        "unlucky.FF": "wb", "unlucky.FU": "bb",
        "unlucky.FF.note-w": "bb", "unlucky.FF.both-w": "bb",
    }  # fmt: skip
    table = luck.table(a=cells)
    gate = Question(over="all", level=0.9)

    assert {e.scope for e in heads(compute("luck_mitigation", table, ALL))} == {
        "unlucky.both-w, criterion=reduction", "unlucky.note-w, criterion=reduction",
    }  # fmt: skip
    with pytest.raises(InputError, match=r"must name one of unlucky\.both-w, unlucky\.note-w"):
        compute("luck_mitigation", table, gate)


def test_a_stratum_without_a_mitigation_and_an_unknown_criterion_are_refused(luck):
    for params, said in (
        ({"stratum": "lucky"}, "no mitigation"),
        ({"criterion": "x"}, "criterion"),
    ):
        with pytest.raises(InputError, match=said):
            compute("luck_mitigation", luck.small(), Question(over="all", params=params))


def test_a_study_without_mitigation_says_so(luck):
    (found,) = compute("luck_mitigation", luck.table(a={"unlucky.FF": "wb"}), ALL)

    assert "no cell has a mitigation" in found.undefined
