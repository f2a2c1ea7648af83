"""Holm by hand and against an oracle; intersection-union needs no correction."""

import numpy as np
import pytest
from statsmodels.stats.multitest import multipletests

from judgeaudit.errors import InputError
from judgeaudit.stats.multiplicity import (
    holm,
    intersection_union,
)


def test_holm_by_hand():
    """Sorted .01 .02 .03 .04 times 4 3 2 1 is .04 .06 .06 .04, made monotone .04 .06 .06 .06."""
    assert holm([0.03, 0.01, 0.04, 0.02]) == pytest.approx([0.06, 0.04, 0.06, 0.06])


def test_holm_equals_the_oracle_on_random_p_values():
    p = np.random.default_rng(2).uniform(size=30) ** 3

    assert holm(p) == pytest.approx(multipletests(p, method="holm")[1])


def test_every_claim_holds_as_surely_as_the_weakest():
    assert intersection_union([0.01, 0.049, 0.02]) == 0.049


@pytest.mark.parametrize("p", [[], [0.5, 1.2], [0.5, float("nan")]])
def test_values_outside_zero_and_one_are_refused(p):
    with pytest.raises(InputError):
        holm(p)
