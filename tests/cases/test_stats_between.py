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
