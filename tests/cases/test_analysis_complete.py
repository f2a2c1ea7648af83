"""Nothing vanishes between an estimate and its reader; array routines agree with numpy."""

import json

import numpy as np
import pandas as pd
import pytest

from judgeaudit.analysis.time import daysplit
from judgeaudit.design.base import read_toml
from judgeaudit.design.document import Registration
from judgeaudit.readings.table import checked
from judgeaudit.verdict import evaluate

REGISTRATION = """
analyses = ["ranking_exact"]
[study]
id = "s"
title = "S"
authors = ["N. N."]
claim = "ranking"
[[endpoints]]
id = "good"
api = "openai.chat"
base_url = "embedded:stable"
model = "m"
[[endpoints]]
id = "mute"
api = "openai.chat"
base_url = "embedded:stable"
model = "m"
[schedule]
seed = 5
cap = 1000
"""


def registration():
    return Registration.model_validate(read_toml("registration.toml", REGISTRATION.encode()))


def rankings(conditions=("default",), mute=True):
    """Eight items asked twice; endpoint `good` always says b, a; `mute` is never parsed."""
    rows = []
    for endpoint in ("good", "mute") if mute else ("good",):
        for condition in conditions:
            for item in range(8):
                for repeat in range(2):
                    read = endpoint == "good"
                    rows.append(
                        {
                            "endpoint": endpoint,
                            "condition": condition,
                            "item": f"i{item}",
                            "repeat": repeat,
                            "status": "ok" if read else "invalid",
                            "reason": None if read else "unparsed",
                            "ranking": ("b", "a") if read else None,
                        }
                    )
    return checked(pd.DataFrame(rows))


def told(findings, name="ranking_exact"):
    return [estimate for estimate in findings.analyses if estimate.analysis == name]


def test_an_endpoint_without_a_reading_stands_beside_the_good_one_with_its_reason():
    """case S12: two endpoints, two lines; the mute one is undefined and says why."""
    found = told(evaluate(registration(), rankings()))

    assert [(e.endpoint, e.value) for e in found] == [("good", 1.0), ("mute", None)]
    assert found[1].undefined


def test_a_condition_that_equals_the_quiet_one_is_no_duplicate():
    """case S13: a stable judge, quiet and loaded: the loaded line is the null control."""
    found = told(evaluate(registration(), rankings(("quiet", "loaded"), mute=False)))

    assert [(e.scope, e.value) for e in found] == [
        ("over=same_window, condition=quiet", 1.0),
        ("over=same_window, condition=loaded", 1.0),
        ("over=conditions", 1.0),
    ]


def test_alpha_follows_its_author_on_missing_data(tmp_path):
    """case T8: Krippendorff (2011) works this table by hand: nominal alpha .743."""
    from typer.testing import CliRunner

    from judgeaudit.cli import app, commands

    commands.register(app)
    observers = {
        "A": [1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None],
        "B": [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3],
        "C": [None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None],
        "D": [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None],
    }
    lines = ["item,run,verdict"]
    for name, given in observers.items():
        lines += [f"u{i},{name},{'' if v is None else v}" for i, v in enumerate(given)]
    path = tmp_path / "nominal.csv"
    path.write_text("\n".join(lines) + "\n")
    done = CliRunner().invoke(
        app, ["analyze", str(path), "--item", "item", "--repeat", "run", "--verdict", "verdict",
              "--json"],
    )  # fmt: skip

    (part,) = json.loads(done.stdout)["parts"]
    (alpha,) = [e for e in part["estimates"] if e["analysis"] == "alpha"]
    assert alpha["value"] == pytest.approx(0.743, abs=0.0005)


def test_the_median_of_an_even_row_is_the_middle_of_two():
    """case S11: 0 to 19 has 9.5 between 9 and 10."""
    assert daysplit._median(np.arange(20.0)[None]).tolist() == [9.5]


@pytest.mark.parametrize("size", [1, 2, 3, 4, 7, 10, 21, 40])
@pytest.mark.parametrize("gaps", [0.0, 0.3])
def test_medians_are_numpys_with_and_without_gaps(size, gaps):
    """numpy.nanmedian over rows of even and odd sizes; a row of gaps alone has no median."""
    rng = np.random.default_rng(size)
    values = rng.normal(size=(200, size))
    values[rng.random(values.shape) < gaps] = np.nan
    some = ~np.isnan(values).all(axis=1)
    found = daysplit._median(values)

    np.testing.assert_allclose(found[some], np.nanmedian(values[some], axis=1), rtol=0, atol=1e-15)
    assert np.isnan(found[~some]).all()
