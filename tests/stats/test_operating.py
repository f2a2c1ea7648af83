"""Operating characteristics: exact binomials, published passes, and pilots resampled."""

import math

import numpy as np
import pytest
from scipy import stats

from judgeaudit.errors import InputError
from judgeaudit.stats.agreement import effective_proportion
from judgeaudit.stats.interval import Interval, Undefined
from judgeaudit.stats.operating import (
    Chances,
    bound_rule,
    can_fire,
    capable,
    curve,
    discriminates,
    over_pairs,
    per_comparison,
    point_rule,
    predictive,
    predictive_share_gate,
    share_gate,
    share_limits,
    smallest_n,
    with_noise,
)
from judgeaudit.stats.proportions import lower_bound, upper_bound


@pytest.mark.parametrize(("truth", "passes"), [(0.99, 0.74), (0.98, 0.40), (0.995, 0.91)])
def test_published_passes_of_99_percent_of_a_hundred(truth, passes):
    assert round(share_gate(truth, 100, 0.99).passes, 2) == passes


def test_thresholds_are_compared_as_decimals():
    """.99 * 100 and .07 * 100 are above 99 and 7 in floats."""
    assert share_limits(100, 0.99) == (99, 98)
    assert share_limits(100, 0.07) == (7, 6)


@pytest.mark.parametrize(("n", "threshold"), [(100, 0.9), (80, 0.95), (400, 0.5)])
def test_bound_limits_are_those_of_clopper_pearson(n, threshold):
    fewest, most = share_limits(n, threshold, "bound")

    assert lower_bound(fewest, n) >= threshold > lower_bound(fewest - 1, n)
    assert upper_bound(most, n) < threshold <= upper_bound(most + 1, n)


def test_bound_rule_errs_on_each_side_at_most_alpha_at_the_threshold():
    found = share_gate(0.9, 200, 0.9, "bound")

    assert found.passes <= 0.05
    assert found.fails <= 0.05
    assert found.passes + found.fails + found.inconclusive == pytest.approx(1)


def test_a_branch_that_can_never_fire_is_told():
    """.99 by the bound needs 299 draws without a miss; one draw below fails nothing at T = .03."""
    assert can_fire(298, 0.99) == (False, True)
    assert can_fire(299, 0.99) == (True, True)
    assert can_fire(10, 0.03) == (True, False)


def test_predictive_is_the_mean_of_the_plug_in_over_the_posterior():
    """Beta(8.5, 92.5) after 8 of 100: simulated against the beta-binomial sum."""
    p = np.random.default_rng(1).beta(8.5, 92.5, 200_000)
    found = predictive_share_gate(8, 100, 50, 0.1)

    assert found.passes == pytest.approx(stats.binom.sf(4, 50, p).mean(), abs=0.003)
    assert found.passes + found.fails == pytest.approx(1)


def test_the_exact_replay_gate_of_the_paper_is_hopeless_for_its_own_pilot():
    """78 of 100 exact matches against >= .99 of 100."""
    assert predictive_share_gate(78, 100, 100, 0.99).passes < 1e-5


def test_point_gate_at_99_of_100_does_not_discriminate():
    """A true .98 passes with .40, so it is no test of .98 against .995."""
    assert not discriminates(share_gate(0.995, 100, 0.99), share_gate(0.98, 100, 0.99))


@pytest.mark.parametrize("rule", ["point", "bound"])
def test_smallest_n_discriminates_and_keeps_doing_so(rule):
    n = smallest_n(0.99, 0.95, 0.97 if rule == "point" else 0.95, rule)

    for k in range(n, n + n // 20):
        threshold = 0.97 if rule == "point" else 0.95
        good, bad = (share_gate(p, k, threshold, rule) for p in (0.99, 0.95))
        assert discriminates(good, bad)
    assert isinstance(smallest_n(0.981, 0.98, 0.98, rule, most=50), Undefined)


def test_curve_falls_from_healthy_to_degraded():
    points = curve(lambda p: share_gate(p, 100, 0.9), np.linspace(0.8, 1, 11))
    passes = [c.passes for _, c in points]

    assert passes == sorted(passes)
    assert points[-1][1] == Chances(1.0, 0.0, 0.0)


def let_through(flip, items, pilots=500):
    """Shares of pilots (3 repeats in 2 windows) that the bound and the plug-in rule let through.

    Requirement: flips at most .10. The plan of 263 draws passes a true .05 with .93.
    """
    rng = np.random.default_rng([items, int(100 * flip)])
    p = (1 - math.sqrt(1 - 2 * flip)) / 2
    bound = plug_in = 0
    for _ in range(pilots):
        ones = rng.binomial(6, p, items)
        found = effective_proportion(ones * (6 - ones) / 15, np.full(items, 15.0))
        bound += capable(found.interval(0.8), 0.10, higher_is_better=False)
        plug_in += share_gate(1 - found.value, 263, 0.9, "bound").passes >= 0.9
    return bound / pilots, plug_in / pilots


@pytest.mark.parametrize("items", [50, 100])
def test_a_pilot_at_the_degraded_boundary_is_let_through_rarely(items):
    bound, _ = let_through(0.10, items)

    assert bound <= 0.10 + 3 * math.sqrt(0.1 * 0.9 / 500)


@pytest.mark.parametrize("items", [50, 100])
def test_an_instrument_twice_as_good_is_refused_rarely_and_more_by_plug_in(items):
    """Refused .14 at 50 items and .01 at 100; plugging the estimate in refuses about .4."""
    bound, plug_in = let_through(0.05, items)

    assert 1 - bound <= 0.15 + 3 * math.sqrt(0.15 * 0.85 / 500)
    assert plug_in < bound - 0.1


def test_a_pilot_without_an_interval_shows_nothing():
    assert capable(Undefined("constant"), 0.1) is None
    assert capable(Interval(0.91, 0.99, 0.8, "x"), 0.9) is True
    assert capable(Interval(0.89, 0.99, 0.8, "x"), 0.9) is False
    with pytest.raises(InputError, match="interval"):
        capable(Interval(0.91, 0.99, 0.95, "x"), 0.9)


def test_exact_match_of_ten_candidates_asks_much_of_each_pair():
    """.99^(1/45) = .999777; four candidates have six pairs."""
    assert per_comparison(0.99, 10) == pytest.approx(0.999777, abs=1e-6)
    assert per_comparison(0.5, 4) ** 6 == pytest.approx(0.5)


def spearman(x, y):
    return float(stats.spearmanr(x, y)[0])


def pilot(rng, items, windows, sd):
    return rng.normal(size=(items, 1)) + sd * rng.normal(size=(items, windows))


def test_predictive_gate_on_a_good_and_a_bad_pilot():
    rng = np.random.default_rng(2)
    decide = point_rule(over_pairs(spearman), 0.9)
    good = predictive(pilot(rng, 60, 2, 0.1), decide, 100, 2, rng=rng, draws=60)
    bad = predictive(pilot(rng, 60, 2, 0.7), decide, 100, 2, rng=rng, draws=60)

    assert good.passes == 1
    assert bad.fails == 1


def test_pilot_uncertainty_widens_what_a_plug_in_claims():
    """Means of n = 50 pilots at the threshold: plug-in chances spread more than predictive ones."""
    rng = np.random.default_rng(3)
    decide = point_rule(lambda table, _: float(table.mean()), 0.0)
    spread = {True: [], False: []}
    for _ in range(60):
        table = rng.normal(size=(50, 2))
        for honest, found in spread.items():
            chances = predictive(
                table, decide, 200, 2, rng=rng, draws=120, pilot_uncertainty=honest
            )
            found.append(abs(chances.passes - 0.5))

    assert np.mean(spread[True]) < np.mean(spread[False])


def test_a_window_drawn_twice_is_not_compared_with_itself():
    """Three columns of windows 0, 0, 1: only the two pairs across windows count."""
    table = np.array([[1.0, 1.0, 4.0], [2.0, 2.0, 6.0]])
    gap = over_pairs(lambda x, y: float(np.abs(x - y).mean()))

    assert gap(table, np.array([0, 0, 1])) == pytest.approx(3.5)
    assert math.isnan(gap(table, np.array([0, 0, 0])))


def test_more_windows_than_piloted_are_drawn_with_their_origin():
    seen = []

    def decide(table, windows):
        seen.append((table.shape, len(set(windows))))
        return "pass"

    predictive(np.zeros((5, 3, 2)), decide, 8, 4, rng=np.random.default_rng(4), draws=20)
    assert {shape for shape, _ in seen} == {(8, 3, 4)}
    assert max(distinct for _, distinct in seen) <= 2


def test_groups_of_candidates_stay_together():
    """A median over groups of within-group Spearman: candidates lie between items and windows."""
    rng = np.random.default_rng(5)
    table = np.stack([np.arange(4.0), np.arange(4.0)], axis=-1)[None].repeat(6, axis=0)

    def median_rank(first, second):
        return float(np.median([spearman(a, b) for a, b in zip(first, second, strict=True)]))

    found = predictive(table, point_rule(over_pairs(median_rank), 0.9), 6, 2, rng=rng, draws=5)
    assert found.passes == 1


def test_rules_say_undefined_where_there_is_no_estimate():
    point = point_rule(lambda *_: math.nan, 0.9)
    bound = bound_rule(lambda *_: Undefined("constant"), 0.9)

    assert point(np.zeros((2, 2)), np.arange(2)) == "undefined"
    assert bound(np.zeros((2, 2)), np.arange(2)) == "undefined"


@pytest.mark.parametrize(
    ("low", "high", "outcome"),
    [(0.9, 1.0, "pass"), (0.8, 0.95, "inconclusive"), (0.7, 0.89, "fail")],
)
def test_bound_rule_has_three_outcomes(low, high, outcome):
    decide = bound_rule(lambda *_: Interval(low, high, 0.9, "t"), 0.9)

    assert decide(np.zeros((2, 2)), np.arange(2)) == outcome


def test_a_point_estimate_equal_to_the_threshold_passes_despite_float_error():
    """Spearman of 1234 and 1243 is .7999999999999999."""
    decide = point_rule(lambda *_: 0.7999999999999999, 0.8)

    assert decide(np.zeros((2, 2)), np.arange(2)) == "pass"


def test_rescaled_pilot_has_the_declared_noise_and_the_same_true_spread():
    rng = np.random.default_rng(6)
    scaled = with_noise(pilot(rng, 20_000, 3, 0.5), 0.2)
    within = scaled.var(axis=1, ddof=1).mean()

    assert np.sqrt(within) == pytest.approx(0.2)
    assert scaled.mean(axis=1).var(ddof=1) - within / 3 == pytest.approx(1.0, abs=0.04)


def test_a_pilot_without_noise_cannot_be_rescaled():
    with pytest.raises(InputError, match="without noise"):
        with_noise(np.ones((3, 2)), 0.1)


@pytest.mark.parametrize("table", [np.zeros((1, 3)), np.zeros((3, 1)), np.zeros(4)])
def test_a_pilot_of_one_item_or_one_window_predicts_nothing(table):
    with pytest.raises(InputError, match="2 items x >= 2 windows"):
        predictive(table, point_rule(lambda *_: 0.0, 0.5), 5, 2, rng=np.random.default_rng(7))
