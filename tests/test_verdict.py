"""Verdicts: thresholds as decimals, bounds, missing readings, composites, rules, words."""

from decimal import Decimal
from fractions import Fraction

import pytest

from judgeaudit.analysis.estimate import Estimate, undefined
from judgeaudit.design.criteria import Band, Gate, Rule
from judgeaudit.verdict import Outcome, compose, decide, name_outcome, overall
from judgeaudit.verdict.compare import meets, rational


def gate(**given):
    given = {
        "id": "g",
        "statistic": "ranking_exact",
        "at_least": Decimal(".90"),
        "decide": "point",
    } | given
    return Gate(**{key: value for key, value in given.items() if value is not None})


def estimate(value, low=None, high=None, **more):
    more = {"level": 0.9, "endpoint": "judge"} | more
    return Estimate("ranking_exact", value, low=low, high=high, **more)


def test_a_difference_on_the_boundary_decides_as_the_decimal():
    """.83 - .80 is .029999999999999916 in floats; as decimals it is .03 and not below it."""
    assert 0.83 - 0.80 != 0.03
    assert rational(0.83 - 0.80) == Fraction(3, 100)

    rule = Rule(
        id="r",
        statistic="ranking_exact",
        bands=[Band(name="floor", below=Decimal(".03"), absolute=True)],
    )

    assert name_outcome(rule, [estimate(0.83 - 0.80)]).names == (("judge", "unnamed"),)
    assert name_outcome(rule, [estimate(0.029)]).names == (("judge", "floor"),)
    assert name_outcome(rule, [estimate(-0.029)]).names == (("judge", "floor"),)


def test_a_rank_statistic_is_compared_as_a_rational():
    """Spearman of 1234 and 1243 is 4/5: it meets .8."""
    held = decide(gate(at_least=Decimal(".8")), [estimate(0.7999999999, exact=Fraction(4, 5))])

    assert held.outcome is Outcome.PASS


@pytest.mark.parametrize(
    ("low", "high", "outcome"),
    [
        (0.90, 0.95, Outcome.PASS),
        (0.85, 0.95, Outcome.INCONCLUSIVE),
        (0.80, 0.89, Outcome.FAIL),
    ],
)
def test_a_bound_decides_by_the_whole_interval(low, high, outcome):
    found = decide(gate(decide="bound"), [estimate(0.92, low, high)])

    assert found.outcome is outcome


@pytest.mark.parametrize(
    ("low", "high", "outcome"),
    [
        (-0.02, 0.02, Outcome.PASS),
        (-0.02, 0.04, Outcome.INCONCLUSIVE),
        (0.04, 0.06, Outcome.FAIL),
    ],
)
def test_a_band_needs_both_bounds_inside(low, high, outcome):
    """Two one-sided tests: the whole interval in the band."""
    band = gate(decide="bound", at_least=None, band=(Decimal("-.03"), Decimal(".03")))

    assert decide(band, [estimate(0.01, low, high)]).outcome is outcome


def test_a_wide_interval_around_a_band_is_not_a_fail():
    """Neither end meets the band, yet the band lies inside the interval."""
    band = gate(decide="bound", at_least=None, band=(Decimal("-.03"), Decimal(".03")))

    assert decide(band, [estimate(0.0, -0.1, 0.1)]).outcome is Outcome.INCONCLUSIVE


def test_at_most_mirrors_at_least():
    small = gate(decide="bound", at_least=None, at_most=Decimal(".03"))

    assert decide(small, [estimate(0.01, 0.0, 0.03)]).outcome is Outcome.PASS
    assert decide(small, [estimate(0.05, 0.04, 0.06)]).outcome is Outcome.FAIL
    assert decide(small, [estimate(0.03, 0.02, 0.04)]).outcome is Outcome.INCONCLUSIVE


def test_a_point_verdict_shows_what_the_bound_says():
    found = decide(gate(), [estimate(0.91, 0.85, 0.95)])

    assert found.outcome is Outcome.PASS
    assert found.held[0].bound_says is Outcome.INCONCLUSIVE
    assert "the bound says inconclusive" in " ".join(found.does_not_say)


def test_no_interval_leaves_a_bound_undecided_and_says_why():
    found = decide(
        gate(decide="bound"), [estimate(1.0, caveats=("no interval: perfect agreement",))]
    )

    assert found.outcome is Outcome.INCONCLUSIVE
    assert "perfect agreement" in found.says


def test_no_estimate_is_undefined_never_a_fail():
    found = decide(gate(), [undefined("ranking_exact", "constant", endpoint="judge")])

    assert found.outcome is Outcome.UNDEFINED
    assert found.says == "UNDEFINED at judge: ranking_exact has no estimate (constant)."
    assert decide(gate(), []).outcome is Outcome.UNDEFINED


def test_an_interval_of_another_level_is_refused():
    with pytest.raises(ValueError, match=r"interval of level 0\.95, needs 0\.9"):
        decide(gate(decide="bound"), [estimate(0.95, 0.91, 0.99, level=0.95)])


def test_missing_readings_across_the_threshold_leave_it_open():
    """3 % missing could make .95 anything from .89 to .96."""
    open_ = estimate(0.95, 0.92, 0.97, missing=0.03, worst=(0.89, 0.96))
    closed = estimate(0.95, 0.92, 0.97, missing=0.03, worst=(0.91, 0.96))
    few = estimate(0.95, 0.92, 0.97, missing=0.02, worst=(0.89, 0.96))

    assert decide(gate(), [open_]).outcome is Outcome.INCONCLUSIVE
    assert "3.0% of the comparisons are missing" in decide(gate(), [open_]).says
    assert decide(gate(), [closed]).outcome is Outcome.PASS
    assert decide(gate(), [few]).outcome is Outcome.PASS


def test_where_invalid_readings_are_disagreements_nothing_is_left_open():
    found = estimate(0.85, 0.8, 0.89, missing=0.1, worst=(0.85, 0.95))

    assert decide(gate(invalid="disagree"), [found]).outcome is Outcome.FAIL
    assert decide(gate(), [found]).outcome is Outcome.INCONCLUSIVE


def test_endpoints_are_decided_one_by_one_and_the_worst_is_the_verdict():
    found = decide(gate(), [estimate(0.95, endpoint="one"), estimate(0.5, endpoint="two")])

    assert [(h.endpoint, h.outcome.value) for h in found.held] == [("one", "pass"), ("two", "fail")]
    assert found.outcome is Outcome.FAIL


def test_only_the_first_estimate_of_an_endpoint_decides():
    found = decide(gate(), [estimate(0.95), estimate(0.5, scope="group=25%")])

    assert found.outcome is Outcome.PASS


def test_a_composite_passes_only_if_all_its_parts_do():
    passed = decide(gate(id="a"), [estimate(0.95)])
    failed = decide(gate(id="b"), [estimate(0.4)])

    whole = compose("I-3S", [passed, failed])

    assert whole.outcome is Outcome.FAIL
    assert whole.says == "FAIL: I-3S asks for all its parts (pass: a; fail: b)."
    assert compose("I-3S", [passed]).outcome is Outcome.PASS
    assert overall([]) is Outcome.UNDEFINED


def test_the_first_band_that_holds_names_the_outcome():
    rule = Rule(
        id="A-S1",
        statistic="ranking_exact",
        bands=[
            Band(name="nondeterminism_floor", below=Decimal(".03"), absolute=True),
            Band(name="systematic_cross_day", at_least=Decimal(".10")),
        ],
    )

    def named(value):
        return dict(name_outcome(rule, [estimate(float(value), exact=value)]).names)["judge"]

    assert named(Fraction(5, 1000)) == "nondeterminism_floor"
    assert named(Fraction(1, 10)) == "systematic_cross_day"
    assert named(Fraction(5, 100)) == "unnamed"
    assert named(Fraction(-1, 10)) == "unnamed"


def test_the_sentence_holds_the_numbers_it_rests_on():
    found = decide(
        gate(at_least=Decimal(".99"), over="next_day"),
        [
            estimate(
                0.78,
                0.69,
                0.85,
                exact=Fraction(78, 100),
                n={"alike": 78, "comparisons": 100, "items": 100},
            )
        ],
    )

    assert found.says == (
        "FAIL at judge: ranking_exact on two days in a row is 0.780 (78 of 100 comparisons; "
        "90% interval 0.690 to 0.850); asked is at least 0.99."
    )
    said = "The verdict speaks of precision only: a repeatable judge can be wrong."
    assert said in found.does_not_say


def test_a_verdict_is_json(tmp_path):
    import json

    found = decide(
        gate(), [estimate(0.95, exact=Fraction(19, 20), details={"x": (1, float("nan"))})]
    )

    document = json.loads(json.dumps(found.to_dict(), allow_nan=False))

    assert document["outcome"] == "pass"
    assert document["held"][0]["estimate"]["exact"] == "19/20"
    assert document["held"][0]["estimate"]["details"] == {"x": [1, None]}


@pytest.mark.parametrize(
    ("value", "met"), [(0.9, True), (0.8999999999999, True), (0.899999999, False)]
)
def test_floats_are_compared_after_rounding_to_twelve_digits(value, met):
    assert meets(value, gate()) is met
