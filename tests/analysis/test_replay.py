"""Replays of rankings at three granularities, and the spectrum that they hide."""

from fractions import Fraction

import pytest

from judgeaudit.analysis.catalogue import compute
from judgeaudit.analysis.question import Question

TEN = tuple("abcdefghij")
NEXT_DAY = Question("next_day")


@pytest.fixture
def ce_replay(build):
    """CE's I-5R: 78 at distance 0, 11 at 1, eleven between 2 and 11 that sum to 53."""
    spread = [2, 2, 3, 3, 4, 4, 5, 5, 6, 8, 11]
    assert (len(spread), sum(spread)) == (11, 53)
    distances = [0] * 78 + [1] * 11 + spread
    return build.rankings((TEN, build.swapped(TEN, distance)) for distance in distances)


def test_ce_spectrum_reads_780_whole_and_4436_of_4500_pairwise(ce_replay):
    """78/100; (4500 - 11 - 53)/4500."""
    (whole,) = compute("ranking_exact", ce_replay, NEXT_DAY)
    (pairwise,) = compute("ranking_pairwise", ce_replay, NEXT_DAY)

    assert whole.exact == Fraction(78, 100)
    assert pairwise.exact == Fraction(4436, 4500)
    assert round(pairwise.value, 6) == 0.985778
    assert pairwise.n["alike"] == 4436
    assert pairwise.n["comparisons"] == 4500
    assert whole.details["spectrum"]["0"] == 78
    assert whole.details["spectrum"]["1"] == 11
    assert whole.low < 0.78 < whole.high


def test_top1_reads_the_first_candidate_only(build):
    found = build.rankings([(("a", "b", "c"), ("a", "c", "b")), (("a", "b", "c"), ("b", "a", "c"))])

    (estimate,) = compute("ranking_top1", found, NEXT_DAY)

    assert estimate.exact == Fraction(1, 2)


def test_an_invalid_replay_is_left_out_or_a_disagreement_as_the_question_says(build):
    found = build.rankings([(TEN, TEN), (TEN, None)])

    (excluded,) = compute("ranking_exact", found, NEXT_DAY)
    (counted,) = compute("ranking_exact", found, Question("next_day", invalid="disagree"))

    assert (excluded.exact, counted.exact) == (Fraction(1), Fraction(1, 2))
    assert excluded.missing == 0.5
    assert excluded.worst == (0.5, 1.0)
    assert excluded.excluded == {"unparsed": 1}


def test_without_a_replay_there_is_no_estimate_and_the_reason_is_said(build):
    found = build.rankings([(TEN, TEN)])

    (estimate,) = compute("ranking_exact", found, Question("same_window"))

    assert estimate.value is None
    assert estimate.undefined == "no planned pair of readings within a window"


def test_endpoints_are_never_pooled(build):
    rows = [
        {"item": "i", "endpoint": e, "repeat": k, "ranking": r}
        for e, given in {"one": ("ab", "ab"), "two": ("ab", "ba")}.items()
        for k, r in enumerate(given)
    ]

    found = compute("ranking_exact", build.table(rows), Question())

    assert {e.endpoint: e.value for e in found} == {"one": 1.0, "two": 0.0}


def test_items_of_different_sizes_count_alike(build):
    """Of 3 pairs 2 kept, of 1 pair 1 kept: (2/3 + 1)/2."""
    found = build.rankings([(("a", "b", "c"), ("b", "a", "c")), (("a", "b"), ("a", "b"))])

    (estimate,) = compute("ranking_pairwise", found, NEXT_DAY)

    assert estimate.exact == (Fraction(2, 3) + 1) / 2
