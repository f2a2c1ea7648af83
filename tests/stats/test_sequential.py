"""The sequential flip gate: its evidence by quadrature, its rule, and table A15 by simulation."""

import numpy as np
import pytest
from scipy import integrate, stats

from judgeaudit.errors import InputError
from judgeaudit.stats.sequential import (
    FlipGate,
    flip_boundaries,
    log_e_fail,
    log_e_pass,
    stop_flip_gates,
)

RUNS = 2000


def simulated(rate, rng):
    """`RUNS` runs of a gate of .1 and 400 items on a judge that flips an item with `rate`."""
    return stop_flip_gates((rng.random((RUNS, 400)) < rate).astype(float), 0.1)


def monte_carlo(p, z=3):
    return z * np.sqrt(p * (1 - p) / RUNS)


@pytest.mark.parametrize(("flips", "n"), [(0, 0), (0, 42), (3, 40), (12, 40), (40, 40)])
def test_evidence_is_the_mean_likelihood_ratio_over_the_alternative(flips, n):
    """By numerical integration of (theta/T)^s ((1 - theta)/(1 - T))^(n - s)."""

    def ratio(theta):
        return (theta / 0.1) ** flips * ((1 - theta) / 0.9) ** (n - flips)

    below = integrate.quad(ratio, 0, 0.1)[0] / 0.1
    above = integrate.quad(ratio, 0.1, 1)[0] / 0.9

    assert np.exp(log_e_pass(flips, n, 0.1)) == pytest.approx(below)
    assert np.exp(log_e_fail(flips, n, 0.1)) == pytest.approx(above)


def test_the_first_flip_free_item_count_that_passes_is_43():
    """The evidence without flips is (1 - .9^(n+1))/((n + 1) .1 .9^n) first reaches 20 at n = 43."""
    evidence = [(1 - 0.9 ** (n + 1)) / ((n + 1) * 0.1 * 0.9**n) for n in (42, 43)]
    state = FlipGate(0.1).run([0] * 400)

    assert evidence[0] < 20 <= evidence[1]
    assert (state.decision, state.items) == ("pass", 43)


def test_evidence_has_mean_one_at_the_threshold_whatever_the_number_of_items():
    """Exact: sum over s of Binomial(s; 30, .1) E(s) = 1 for both processes."""

    s = np.arange(31)
    chance = stats.binom.pmf(s, 30, 0.1)

    assert (chance * np.exp(log_e_pass(s, 30, 0.1))).sum() == pytest.approx(1)
    assert (chance * np.exp(log_e_fail(s, 30, 0.1))).sum() == pytest.approx(1)


def test_an_invalid_reply_counts_against_passing_and_not_towards_failing():
    state = FlipGate(0.1).update(0).update(None)

    assert state.log_e_pass == pytest.approx(float(log_e_pass(1, 2, 0.1)))
    assert state.log_e_fail == pytest.approx(float(log_e_fail(0, 1, 0.1)))


def test_a_silent_judge_neither_passes_nor_fails():
    assert FlipGate(0.1).run([None] * 400).decision is None


def test_a_rerun_continues_the_process():
    flips = list(np.random.default_rng(4).random(200) < 0.05)
    once = FlipGate(0.1).run(flips)
    first = FlipGate(0.1).run(flips[:30])
    stored = FlipGate(first.threshold, first.alpha, first.items, first.flips, first.invalid)

    assert stored.run(flips[30:]) == once


def test_what_was_decided_stays_decided():
    failed = FlipGate(0.1).run([1] * 20)

    assert failed.decision == "fail"
    assert failed.run([0] * 1000) == failed


def test_boundaries_and_the_vectorised_rule_agree_with_the_state():
    rng = np.random.default_rng(9)
    flips = (rng.random((60, 150)) < rng.choice([0.0, 0.1, 0.3], (60, 1))).astype(float)
    flips[rng.random(flips.shape) < 0.03] = np.nan
    stops = stop_flip_gates(flips, 0.1)
    names = {"pass": 1, "fail": -1, None: 0}

    for row, outcome, items in zip(flips, stops.outcome, stops.items, strict=True):
        state = FlipGate(0.1).run(None if np.isnan(x) else int(x) for x in row)
        assert names[state.decision] == outcome
        assert state.items + state.invalid == items
    most, fewest = flip_boundaries(0.1, 0.05, 150)
    assert most[42] == -1
    assert most[43] == 0
    assert fewest[0] == 151


@pytest.mark.parametrize(
    ("rate", "passes", "fails", "mean"),
    [
        (0.0, 1.000, 0.000, 42),
        (0.02, 1.000, 0.001, 70),
        (0.05, 0.883, 0.003, 192),
        (0.08, 0.179, 0.011, 356),
        (0.10, 0.034, 0.030, 379),
        (0.12, 0.007, 0.104, 369),
        (0.15, 0.002, 0.543, 280),
        (0.20, 0.000, 0.995, 104),
        (0.30, 0.000, 1.000, 26),
    ],
)
def test_table_a15_is_reproduced_by_simulation(rate, passes, fails, mean):
    """Both this run and the table are Monte Carlo: sqrt(2) times one error, 4 of them."""
    stops = simulated(rate, np.random.default_rng(int(1000 * rate)))
    slack = 4 * np.sqrt(2) / np.sqrt(RUNS)

    assert stops.rate("pass") == pytest.approx(passes, abs=slack * np.sqrt(0.25 * passes + 0.002))
    assert stops.rate("fail") == pytest.approx(fails, abs=slack * np.sqrt(0.25 * fails + 0.002))
    assert stops.mean_items == pytest.approx(mean, rel=0.06)


def test_acceptance_of_the_gate_at_its_threshold_and_away_from_it():
    """Flip 0 passes with mean <= 60 items, .20 fails with <= 130, at .10 each errs <= .05."""
    rng = np.random.default_rng(2)
    quiet, loud, edge = (simulated(p, rng) for p in (0, 0.2, 0.1))

    assert quiet.rate("pass") == 1
    assert quiet.mean_items <= 60
    assert loud.rate("fail") >= 0.98
    assert loud.mean_items <= 130
    assert edge.rate("pass") <= 0.05 + monte_carlo(0.05)
    assert edge.rate("fail") <= 0.05 + monte_carlo(0.05)


@pytest.mark.parametrize(("threshold", "alpha"), [(0, 0.05), (1, 0.05), (0.1, 0)])
def test_a_gate_that_can_never_decide_is_refused(threshold, alpha):
    with pytest.raises(InputError, match="between 0 and 1"):
        FlipGate(threshold, alpha)


def test_more_flips_than_items_are_refused():
    with pytest.raises(InputError, match="flips <= n"):
        log_e_pass(3, 2, 0.1)
