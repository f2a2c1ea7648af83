"""Sample sizes against the tables they come from, closed forms against simulation."""

import numpy as np
import pytest
from scipy import stats

from judgeaudit.errors import InputError
from judgeaudit.stats.interval import Undefined
from judgeaudit.stats.power import (
    carry_power,
    correlated_answers,
    equivalence_power,
    icc_power,
    items_for_icc,
    items_for_sd,
    items_for_spearman,
    paired_power,
    paired_variance,
    power_for_spearman,
    sd_relative_error,
    worlds_for_margin,
)


@pytest.mark.parametrize(
    ("truth", "threshold", "kappa", "n"),
    [
        (0.5, 0.8, 1.032, 22),
        (0.85, 0.9, 1.127, 169),
        (0.93, 0.9, 1.167, 243),
        (0.97, 0.9, 1.184, 23),
        (0.95, 0.9, 2.398, 275),
        (0.97, 0.8, 3.057, 59),
        (0.93, 0.9, 0.892, 142),
    ],
)
def test_table_a14(truth, threshold, kappa, n):
    """Kappa is printed to three decimals, so n may differ in its last digit."""
    assert items_for_spearman(truth, threshold, kappa) == pytest.approx(n, rel=0.006, abs=1)


def test_no_number_of_items_tells_a_truth_at_the_threshold():
    assert isinstance(items_for_spearman(0.9, 0.9, 1.1), Undefined)


def test_spearman_power_is_the_predicted_one_and_inverts_the_sample_size():
    """rs = .93, T = .9, n = 400 predicts .94 continuous and .92 on five levels."""
    assert power_for_spearman(400, 0.93, 0.9, 1.167) == pytest.approx(0.94, abs=0.005)
    assert power_for_spearman(400, 0.93, 0.9, 1.224) == pytest.approx(0.92, abs=0.005)
    n = items_for_spearman(0.93, 0.9, 1.167)
    assert (
        power_for_spearman(n - 1, 0.93, 0.9, 1.167) < 0.8 <= power_for_spearman(n, 0.93, 0.9, 1.167)
    )


def test_icc_power_is_that_of_the_f_bound_on_simulated_normal_scores():
    """ICC .9, bound at .8, 30 items x 3: lower F bound from simulated mean squares."""

    rng = np.random.default_rng(1)
    y = rng.normal(size=(4000, 30, 1)) + np.sqrt(1 / 9) * rng.normal(size=(4000, 30, 3))
    msb, msw = 3 * y.mean(axis=2).var(axis=1, ddof=1), y.var(axis=2, ddof=1).mean(axis=1)
    lower = msb / msw / stats.f.ppf(0.95, 29, 60)

    assert icc_power(0.9, 0.8, 30, 3) == pytest.approx(
        np.mean((lower - 1) / (lower + 2) >= 0.8), abs=0.03
    )


def test_items_for_icc_are_the_fewest():
    n = items_for_icc(0.9, 0.8, 3)

    assert icc_power(0.9, 0.8, n - 1, 3) < 0.8 <= icc_power(0.9, 0.8, n, 3)
    assert isinstance(items_for_icc(0.8, 0.8, 3), Undefined)


def test_an_icc_at_the_threshold_passes_with_chance_alpha():
    assert icc_power(0.8, 0.8, 40, 3) == pytest.approx(0.05)


def test_a_pilot_of_fifty_items_with_two_repeats_knows_the_sd_to_ten_percent():
    assert sd_relative_error(50, 2) == pytest.approx(0.1)
    assert items_for_sd(0.1, 2) == 50
    assert items_for_sd(0.1, 3) == 25


def test_equivalence_power_by_simulation():
    """SD 1, n = 100, band .3: mean of 100 within .3 - 1.645/10 of 0."""
    means = np.random.default_rng(2).normal(0.05, 0.1, 100_000)
    inside = np.mean(np.abs(means) < 0.3 - 1.644854 * 0.1)

    assert equivalence_power(1.0, 100, 0.3, shift=0.05) == pytest.approx(inside, abs=0.005)
    assert equivalence_power(1.0, 20, 0.3) == 0.0


@pytest.mark.parametrize(("margin", "worlds"), [(0.0, 53), (0.05, 172), (0.08, 645), (0.10, 4590)])
def test_worlds_for_margins(margin, worlds):
    """Effect .112, v about .107, 80 % power at one-sided 5 %; the table rounds z and v."""
    assert worlds_for_margin(0.112, margin, 0.107) == pytest.approx(worlds, rel=0.006, abs=1)


def test_variance_of_a_paired_difference_by_hand():
    """Independent .116 and .004: discordant .116 * .996 + .004 * .884 = .119072, less .112²."""
    assert paired_variance(0.116, 0.004) == pytest.approx(0.119072 - 0.112**2)
    assert paired_variance(0.3, 0.3, both=0.3) == pytest.approx(0)
    assert isinstance(worlds_for_margin(0.1, 0.1, 0.1), Undefined)


def test_at_256_worlds_an_effect_of_112_rarely_clears_a_margin_of_10():
    """Normal approximation: Phi(.012/sqrt(.1065/256) - 1.645) = .145."""
    found = paired_power(0.116, 0.004, 256, 0.10, rng=np.random.default_rng(3))

    assert found.large == pytest.approx(0.145, abs=0.03)
    assert found.present > 0.99


def test_carry_at_its_margin_is_called_large_at_most_as_often_as_alpha():
    found = carry_power((0.104, 0.004, 0.004, 0.004), 256, 0.10, rng=np.random.default_rng(4))

    assert found.large <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 4000)
    assert found.present > 0.99


def test_no_carry_is_negligible_and_not_present():
    found = carry_power((0.004,) * 4, 256, 0.10, rng=np.random.default_rng(5), runs=1000)

    assert found.negligible == 1.0
    assert found.present <= 0.05


def test_simulated_answers_have_their_chances_and_move_together():
    y = correlated_answers((0.3, 0.1), 50, 400, rng=np.random.default_rng(6), correlation=0.5)

    assert y.mean(axis=(0, 1)) == pytest.approx([0.3, 0.1], abs=0.01)
    assert np.mean(y[..., 0] & y[..., 1]) > 0.3 * 0.1 + 0.02


@pytest.mark.parametrize("alpha", [0.0, 1.0])
def test_an_error_rate_outside_zero_and_one_is_refused(alpha):
    with pytest.raises(InputError, match="between 0 and 1"):
        items_for_spearman(0.95, 0.9, 1.1, alpha=alpha)
