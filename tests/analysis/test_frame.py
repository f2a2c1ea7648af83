"""Estimates as a table: one row each, nested values as JSON text, nan as null."""

import json
from fractions import Fraction

import numpy as np

from judgeaudit.analysis.estimate import Estimate, undefined
from judgeaudit.analysis.frame import COLUMNS, estimates_frame


def test_a_row_holds_the_rational_and_the_bounds_of_an_estimate():
    estimate = Estimate(
        "flip_rate",
        0.05,
        exact=Fraction(1, 20),
        worst=(0.04, 0.07),
        n={"items": np.int64(20)},
        details={"tau": float("nan"), "pairs": (1, 2)},
        seed=3,
    )

    row = estimates_frame([estimate]).iloc[0]

    assert row["exact"] == "1/20"
    assert (row["worst_low"], row["worst_high"]) == (0.04, 0.07)
    assert json.loads(row["n"]) == {"items": 20}
    assert json.loads(row["details"]) == {"pairs": [1, 2], "tau": None}
    assert row["seed"] == 3


def test_an_undefined_estimate_keeps_its_reason_and_no_number():
    row = estimates_frame([undefined("icc", "constant")]).iloc[0]

    assert np.isnan(row["value"])
    assert row["undefined"] == "constant"


def test_no_estimate_still_gives_every_column():
    assert list(estimates_frame([]).columns) == list(COLUMNS)
