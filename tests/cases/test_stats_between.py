"""Several judges in one table: `analyze TABLE --by judge` holds them against each other."""

import json

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from typer.testing import CliRunner

from judgeaudit.cli import app, commands

commands.register(app)


@pytest.fixture
def between(tmp_path):
    """`between(frame, *options)` is the comparisons by (scope, name), and the text."""

    def _between(frame, *options):
        path = tmp_path / "t.csv"
        frame.to_csv(path, index=False)
        given = ["analyze", str(path), "--item", "item", "--repeat", "run", "--by", "judge"]
        result = CliRunner().invoke(app, [*given, *options, "--json"])
        assert result.exit_code == 0, result.output
        document = json.loads(result.stdout)
        found = {(e["scope"], e["analysis"]): e for e in document["between"]}
        return found, "\n".join(document["text"])

    return _between


def table(seed, judges, n=80, k=3):
    """Return scores of judges on the same items; `judges` gives a judge its noise and shift."""
    rng = np.random.default_rng(seed)
    theta = rng.normal(size=(n, 1))
    frames = [
        pd.DataFrame(
            {
                "judge": name,
                "item": np.repeat([f"i{i}" for i in range(n)], k),
                "run": np.tile(np.arange(k), n),
                "score": (theta + shift + noise * rng.normal(size=(n, k))).round(3).ravel(),
            }
        )
        for name, (noise, shift) in judges.items()
    ]
    return pd.concat(frames)


PAIR = "judge=a against judge=b"


def test_bias_and_limits_are_those_of_the_item_means(between):
    frame = table(1, {"a": (0.3, 0.0), "b": (0.3, 0.5)})
    found, text = between(frame, "--score", "score")
    means = frame.groupby(["judge", "item"])["score"].mean().unstack(0)
    apart = means["a"] - means["b"]
    bias = found[PAIR, "judges_bias"]

    assert bias["value"] == pytest.approx(apart.mean())
    limits = apart.mean() + np.array([-1, 1]) * stats.norm.ppf(0.975) * apart.std()
    assert bias["details"]["limits"] == pytest.approx(limits)
    known = stats.ttest_1samp(apart, 0).confidence_interval()
    assert (bias["low"], bias["high"]) == pytest.approx((known.low, known.high))
    assert "Parts against each other" in text


def test_the_noisier_judge_is_less_reliable_and_the_set_is_adjusted(between):
    """b has noise .8 beside .3: its reliability is lower; a and c do not differ."""
    frame = table(2, {"a": (0.3, 0), "b": (0.8, 0), "c": (0.3, 0)})
    found, _ = between(frame, "--score", "score")
    pairs = {s: e for (s, name), e in found.items() if name == "judges_reliability_difference"}

    assert pairs[PAIR]["low"] > 0
    assert pairs[PAIR]["details"]["adjusted_p"] < 0.001
    same = pairs["judge=a against judge=c"]
    assert same["low"] < 0 < same["high"]
    assert same["details"]["adjusted_p"] >= same["details"]["p"]


def test_without_noise_the_two_order_items_alike(between):
    """Both see the same theta, so the corrected correlation is 1 within its interval."""
    found, _ = between(table(3, {"a": (0.5, 0), "b": (0.5, 0)}), "--score", "score")
    corrected = found[PAIR, "judges_corrected"]

    assert corrected["low"] < 1 < corrected["high"]
    assert found[PAIR, "judges_spearman"]["value"] < 0.9


def test_only_common_items_are_compared(between):
    frame = table(4, {"a": (0.3, 0), "b": (0.3, 0)})
    frame = frame[(frame["judge"] == "a") | frame["item"].isin([f"i{i}" for i in range(30)])]
    found, _ = between(frame, "--score", "score")

    assert found[PAIR, "judges_bias"]["n"]["items"] == 30


def test_verdicts_are_compared_reading_by_reading(between):
    """b says B where a says A on 20 of 60 items: 1/3 of readings differ, whatever the run."""
    rows = [
        {"judge": j, "item": f"i{i}", "run": k, "verdict": "B" if (j == "b") == (i < 20) else "A"}
        for j in "ab"
        for i in range(60)
        for k in range(2)
    ]
    rows = [r | {"verdict": "A" if r["judge"] == "a" else r["verdict"]} for r in rows]
    found, _ = between(pd.DataFrame(rows), "--verdict", "verdict")

    assert found[PAIR, "judges_differ"]["value"] == pytest.approx(1 / 3)
    assert found[PAIR, "judges_kappa"]["value"] == pytest.approx(0)


def test_one_part_has_nothing_to_be_compared_with(between):
    found, text = between(table(5, {"a": (0.3, 0)}), "--score", "score")

    assert found == {}
    assert "against each other" not in text


def test_a_panel_reaches_what_its_variances_say(between):
    """theta 1, noise .3: two judges with one reading each reach 1/(1 + .09/2) = .957 or so."""
    found, text = between(table(6, {"a": (0.3, 0), "b": (0.3, 0)}, n=300), "--score", "score")
    panel = found["panel", "judges_panel"]

    assert panel["value"] == pytest.approx(1 / (1 + 0.045), abs=0.015)
    reached = {(k, m): phi for k, m, _, phi in panel["details"]["grid"]}
    assert reached[2, 1] == pytest.approx(panel["value"])
    assert reached[1, 1] < reached[2, 1] < reached[4, 1]
    assert "panel" in text


def test_a_gap_between_systems_is_priced_in_runs_and_readings(tmp_path):
    """Run means at 0, 1, 2 (SD 1, item noise 0 but for rounding): the run part alone decides.

    gap 10: (10/(4.302653 + 1.060660))^2/2 = 1.738 > 1, one run; gap 5 gives .4345: 3 runs.
    """
    rng = np.random.default_rng(7)
    y = rng.normal(size=(50, 1)) + np.arange(3.0) + 1e-3 * rng.normal(size=(50, 3))
    frame = pd.DataFrame(
        {
            "item": np.repeat(np.arange(50), 3),
            "run": np.tile(np.arange(3), 50),
            "score": y.ravel(),
        }
    )
    path = tmp_path / "t.csv"
    frame.to_csv(path, index=False)
    given = ["analyze", str(path), "--item", "item", "--repeat", "run", "--score", "score"]
    one, three = (CliRunner().invoke(app, [*given, "--gap", gap]).stdout for gap in ("10", "5"))

    assert "takes 1 runs with 1 readings" in one
    assert "takes 3 runs with 1 readings of each item; fewer than 3 runs are never enough" in three


def test_four_windows_have_a_trend_and_a_change_of_reliability(tmp_path):
    """Windows rise by .5 each: the slope of the window means is .5 a window."""
    rng = np.random.default_rng(8)
    theta = rng.normal(size=(60, 1, 1))
    y = theta + 0.5 * np.arange(4)[None, :, None] + 0.2 * rng.normal(size=(60, 4, 2))
    frame = pd.DataFrame(
        {
            "item": np.repeat(np.arange(60), 8),
            "day": np.tile(np.repeat(np.arange(4), 2), 60),
            "run": np.tile([0, 1], 240),
            "score": y.ravel(),
        }
    )
    path = tmp_path / "t.csv"
    frame.to_csv(path, index=False)
    given = ["analyze", str(path), "--item", "item", "--repeat", "run", "--score", "score"]
    result = CliRunner().invoke(app, [*given, "--window", "day", "--json"])
    found = {e["analysis"]: e for e in json.loads(result.stdout)["parts"][0]["estimates"]}

    assert found["window_trend"]["value"] == pytest.approx(0.5, abs=0.05)
    assert found["window_trend"]["cluster"] == "window"
    assert found["reliability_change"]["low"] < 0 < found["reliability_change"]["high"]
