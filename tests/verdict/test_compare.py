"""Thresholds decide as the decimals that people wrote, each end by its own sign."""

from decimal import Decimal
from fractions import Fraction

import pytest

from judgeaudit.analysis.estimate import Estimate
from judgeaudit.design.criteria import Gate, Rule
from judgeaudit.verdict import Outcome, name_outcome, overall
from judgeaudit.verdict.compare import clears, meets, misses


def gate(**threshold):
    return Gate.model_validate(
        {"id": "g", "statistic": "flip_rate", "over": "all", "decide": "point", **threshold}
    )


@pytest.mark.parametrize(
    ("threshold", "value", "met"),
    [
        ({"at_least": Decimal("0.8")}, Fraction(4, 5), True),
        ({"at_least": Decimal("0.8")}, 0.7999999, False),
        ({"at_most": Decimal("0.03")}, 0.83 - 0.80, True),  # .030000000000000027 as a float
        ({"at_most": Decimal("0.03")}, 0.0300001, False),
        ({"band": [Decimal("0.2"), Decimal("0.4")]}, 0.2, True),
        ({"band": [Decimal("0.2"), Decimal("0.4")]}, 0.4, True),
        ({"band": [Decimal("0.2"), Decimal("0.4")]}, 0.1999, False),
        ({"band": [Decimal("0.2"), Decimal("0.4")]}, 0.4001, False),
    ],
)
def test_a_threshold_and_both_ends_of_a_band_belong_to_what_passes(threshold, value, met):
    assert meets(value, gate(**threshold)) is met


@pytest.mark.parametrize(
    ("low", "high", "clear", "miss"),
    [(0.2, 0.4, True, False), (0.1, 0.4, False, False), (0.0, 0.1, False, True),
     (0.41, 0.5, False, True), (0.3, 0.5, False, False), (0.1, 0.5, False, False)],
)  # fmt: skip
def test_an_interval_clears_a_band_whole_and_misses_it_whole(low, high, clear, miss):
    """The band is .2 to .4; an interval around it from .1 to .5 does neither."""
    band = gate(band=[Decimal("0.2"), Decimal("0.4")])

    assert clears(low, high, band) is clear
    assert misses(low, high, band) is miss


@pytest.mark.parametrize(
    ("value", "name"),
    [(0.8, "high"), (0.5, "middle"), (0.50001, "high"), (0.2, "middle"), (0.1999, "low")],
)
def test_a_rule_names_the_first_band_that_holds_and_a_bare_sign_leaves_its_end_out(value, name):
    """high is above .5 and not .5 itself; middle from .2 on, and it also holds where high does."""
    rule = Rule.model_validate(
        {
            "id": "r",
            "statistic": "flip_rate",
            "over": "all",
            "bands": [
                {"name": "high", "above": Decimal("0.5")},
                {"name": "middle", "at_least": Decimal("0.2")},
                {"name": "low"},
            ],
        }
    )
    found = name_outcome(rule, [Estimate("flip_rate", value, "judge")])

    assert found.names == (("judge", name),)


def test_a_failure_is_worse_than_an_estimate_that_is_undefined():
    """One endpoint fails, another has no estimate: the gate fails, and does not ask for more."""
    assert overall([Outcome.UNDEFINED, Outcome.FAIL, Outcome.PASS]) is Outcome.FAIL
    assert overall([Outcome.INCONCLUSIVE, Outcome.UNDEFINED]) is Outcome.UNDEFINED
    assert overall([Outcome.PASS, Outcome.INCONCLUSIVE]) is Outcome.INCONCLUSIVE
