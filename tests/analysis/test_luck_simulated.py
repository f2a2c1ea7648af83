"""A thousand simulated studies a plant: what the intervals cover and the claims get wrong.

Cells answer independently, one call each, over 256 worlds; a plant adds to p_FF alone. Chances of
the other cells are .4 %, as published. Monte Carlo error at 5 % of 1,000 is .007.
"""

import numpy as np
import pytest
from scipy import stats

from judgeaudit.analysis.luck.declared import Contrast, signed
from judgeaudit.analysis.luck.effects import effects_of
from judgeaudit.analysis.luck.pool import pooled
from judgeaudit.analysis.luck.power import luck_power
from judgeaudit.errors import InputError

STUDIES, WORLDS, BASE = 1000, 256, 0.004
CELLS = ("unlucky.FF", "unlucky.FU", "unlucky.SS", "unlucky.SU")
Z, Z_ONE = stats.norm.ppf(0.975), stats.norm.ppf(0.95)


def studies(luck, plant, roles=CELLS, seed=20261129):
    """The contrast's effects, one study in the place of each endpoint."""
    rng = np.random.default_rng([seed, round(1000 * plant)])
    chances = np.array([BASE + plant, BASE, BASE, BASE])[:, None]
    y = rng.random((STUDIES, 4, WORLDS)) < chances
    contrast = Contrast("test", "unlucky", signed(*zip(roles, (1, -1, -1, 1), strict=False)))
    return effects_of(luck.answers(CELLS, y), contrast)


@pytest.mark.parametrize("plant", [0.0, 0.042, 0.112, 0.181, 0.352])
@pytest.mark.parametrize("base", ["tango", "newcombe"])
def test_carry_is_covered(luck, plant, base):
    low, high = studies(luck, plant).ends(Z, base)

    assert np.mean((low <= plant) & (plant <= high)) >= 0.93


@pytest.mark.parametrize("plant", [0.042, 0.112, 0.181, 0.352])
def test_the_estimate_recovers_the_plant(luck, plant):
    """Mean over 1,000 studies, SE of one study at most sqrt(.25/256) = .031."""
    assert studies(luck, plant).value.mean() == pytest.approx(plant, abs=4 * 0.031 / STUDIES**0.5)


@pytest.mark.parametrize("roles", [CELLS, CELLS[:2]])
def test_at_a_true_tenth_large_is_claimed_falsely_at_most_as_often_as_alpha(luck, roles):
    low, _ = studies(luck, 0.10, roles).ends(Z_ONE, "newcombe")

    assert np.mean(low > 0.10) <= 0.05


def test_at_a_true_tenth_negligible_is_claimed_falsely_at_most_as_often_as_alpha(luck):
    _, high = studies(luck, 0.10).ends(Z_ONE, "newcombe")

    assert np.mean(high < 0.10) <= 0.05


def test_without_luck_presence_is_hardly_ever_claimed_and_negligible_always(luck):
    low, high = studies(luck, 0.0).ends(Z_ONE, "newcombe")

    assert np.mean(low > 0) <= 0.05
    assert np.mean(high < 0.10) == 1.0


def test_p_values_and_bounds_make_the_same_claims(luck):
    effects = studies(luck, 0.112)
    low, high = effects.ends(Z_ONE, "newcombe")

    assert np.array_equal(effects.p(0.10, "above") < 0.05, low > 0.10)
    assert np.array_equal(effects.p(0.15, "below") < 0.05, high < 0.15)


@pytest.mark.parametrize(
    "plants", [(0.0,) * 11, (0.352, 0.181, 0.112, 0.09, 0.06, 0.042) + (0.0,) * 5]
)
def test_the_mean_over_eleven_endpoints_is_covered(plants):
    """Endpoints differ by their plants; the target is their mean. 400 studies."""
    rng, truth = np.random.default_rng([7, round(1000 * sum(plants))]), np.mean(plants)
    chances = BASE + np.array(plants)[:, None]
    covered = false_large = 0
    for _ in range(400):
        first = rng.random((11, WORLDS)) < chances
        rest = rng.random((3, 11, WORLDS)) < BASE
        d = (first.astype(float) - rest[0]) - (rest[1].astype(float) - rest[2])
        found = pooled(d, "these")
        covered += found.interval.low <= truth <= found.interval.high
        false_large += pooled(d, "these", 0.9).interval.low > truth

    assert covered / 400 >= 0.93
    assert false_large / 400 <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 400)


def chances(first):
    return {"FF": first, "FU": 0.004, "SS": 0.004, "SU": 0.004}


def test_at_256_worlds_an_effect_of_112_almost_never_clears_a_tenth_and_the_text_says_so():
    """Simulated .11 for CARRY; the normal approximation needs about 4,900 worlds for 80 %.

    v = .116 * .884 + 3 * .004 * .996 = .114496; (2.4865/.012)² v = 4,916.
    """
    found = luck_power(256, 11, chances(0.116), 0.10, "large", np.random.default_rng(5), runs=500)

    assert found.one_endpoint == pytest.approx(0.11, abs=0.05)
    assert found.effect == pytest.approx(0.112)
    assert found.worlds_needed == pytest.approx(4916, abs=3)
    assert "almost never" in found.sentence
    assert "4,9" in found.sentence


def test_the_mean_over_endpoints_clears_more_often_than_one_endpoint():
    found = luck_power(256, 11, chances(0.154), 0.10, "large", np.random.default_rng(5), runs=300)

    assert found.pooled > found.one_endpoint > found.every_endpoint


def test_no_number_of_worlds_shows_what_is_not_so():
    found = luck_power(64, 1, chances(0.046), 0.10, "large", np.random.default_rng(5), runs=200)

    assert found.one_endpoint == 0
    assert found.worlds_needed is None
    assert "no number of worlds" in found.sentence


def test_power_of_a_paired_contrast_in_the_lucky_case_reads_the_mirrored_cells():
    found = luck_power(
        256, 1, {"SS": 0.3, "SU": 0.01}, 0.10, "large", np.random.default_rng(5),
        contrast="luck_harm", case="lucky", runs=200,
    )  # fmt: skip

    assert found.effect == pytest.approx(0.29)
    assert found.one_endpoint > 0.99


@pytest.mark.parametrize(
    "given",
    [
        {"claim": "safe"},
        {"contrast": "luck_joy"},
        {"p_cells": {"FF": 0.1}},
        {"p_cells": {**chances(0.1), "FF": 1.2}},
        {"n_worlds": 1},
        {"endpoints": 0},
    ],
)
def test_a_question_without_sense_is_refused(given):
    usual = {
        "n_worlds": 64, "endpoints": 1, "p_cells": chances(0.1), "margin": 0.1, "claim": "large",
    }  # fmt: skip
    with pytest.raises(InputError, match="power"):
        luck_power(**{**usual, **given}, rng=np.random.default_rng(1))
