"""Cases of statistics through `analyze TABLE`: what runs, windows, orders and tasks do.

Tables are made here from a seed; each expectation is worked from how the table was made.
"""

import json

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from judgeaudit.cli import app, commands

commands.register(app)


def long(y, value="score", **columns):
    """Return a long table of a matrix (items, runs); `columns` give a value a column."""
    n, k = y.shape
    frame = pd.DataFrame(
        {
            "item": np.repeat([f"i{i}" for i in range(n)], k),
            "run": np.tile(np.arange(k), n),
            value: np.asarray(y).ravel(),
        }
    )
    return frame.assign(**{name: np.tile(values, n) for name, values in columns.items()})


@pytest.fixture
def analyze(tmp_path):
    """`analyze(frame, "--score", "score")` is the printed text and the JSON document's part."""

    def _analyze(frame, *options):
        path = tmp_path / "t.csv"
        frame.to_csv(path, index=False)
        given = ["analyze", str(path), "--item", "item", *options]
        result = CliRunner().invoke(app, [*given, "--json"])
        assert result.exit_code == 0, result.output
        document = json.loads(result.stdout)
        part = document["parts"][0]
        return "\n".join(document["text"]), part | {
            "by_name": {e["analysis"]: e for e in part["estimates"]}
        }

    return _analyze


def shifted(seed, n=60, k=6, shifts=(), noise=0.2):
    rng = np.random.default_rng(seed)
    y = 3 + rng.normal(size=(n, 1)) + noise * rng.normal(size=(n, k))
    for run, shift in shifts:
        y[:, run] += shift
    return y


RUNS = ("--repeat", "run", "--score", "score")


def test_two_lowered_runs_are_named_and_the_resolution_carries_them(analyze):
    """case S1: runs 4 and 5 of six lowered by 1, noise .2.

    Run means have SD sqrt(4/15 * 1.0) = .516 by the shift alone: t(.975, 5) sqrt(2) .516 = 1.88.
    """
    text, part = analyze(long(shifted(9, shifts=[(4, -1.0), (5, -1.0)])), *RUNS)
    run = next(f for f in part["facets"]["facets"] if f["facet"] == "run")

    assert run["shifted"] == ["4", "5"]
    assert run["adjusted_p"] < 1e-6
    assert run["differences"]["4"] == pytest.approx(-1.0, abs=0.12)
    assert "run 5 lies -" in text
    assert part["facets"]["resolution"]["two runs"]["value"] == pytest.approx(1.88, rel=0.1)
    assert "more runs, not more readings" in text
    assert part["by_name"]["noise_without_shifts"]["value"] == pytest.approx(0.2, rel=0.1)


def test_steady_runs_are_not_named(analyze):
    """The null beside S1: no run is named, and item noise is about all the resolution holds.

    Run means vary by .2/sqrt(60) = .026: t sqrt(2) .026 = .094.
    """
    text, part = analyze(long(shifted(2)), *RUNS)

    assert part["facets"]["facets"][0]["shifted"] == []
    assert "no shift between runs found" in text
    assert part["facets"]["resolution"]["two runs"]["value"] == pytest.approx(0.094, rel=0.6)


def test_one_run_has_no_resolution_and_two_runs_say_so(analyze):
    text, part = analyze(long(shifted(3, k=2)), *RUNS)

    assert "two runs cannot size a run effect" in text
    assert part["facets"]["resolution"]["two runs"]["sized"] is False


def test_the_middle_window_is_found(analyze):
    """case S2: three windows, the middle one +1; the last less the first is about 0."""
    y = shifted(4, k=3, shifts=[(1, 1.0)])
    frame = long(y, day=["mon", "tue", "wed"]).drop(columns="run")
    text, part = analyze(frame, "--window", "day", "--score", "score")
    window = next(f for f in part["facets"]["facets"] if f["facet"] == "window")

    assert window["shifted"] == ["tue"]
    assert window["differences"]["tue"] == pytest.approx(1.0, abs=0.1)
    assert "window tue lies +" in text


def test_an_order_has_an_effect_with_an_interval_and_is_no_noise(analyze):
    """case S3: orders AB and BA, two runs each, BA +.5 everywhere; noise .2."""
    y = shifted(5, k=4, shifts=[(2, 0.5), (3, 0.5)])
    frame = long(y, order=["AB", "AB", "BA", "BA"]).assign(run=np.tile([0, 1, 0, 1], 60))
    _, part = analyze(frame, *RUNS, "--order", "order")
    effect = part["by_name"]["order_effect"]

    assert effect["value"] == pytest.approx(0.5, abs=0.08)
    assert effect["low"] < 0.5 < effect["high"]
    assert part["by_name"]["noise"]["value"] == pytest.approx(0.2, rel=0.1)
    order = next(f for f in part["facets"]["facets"] if f["facet"] == "order")
    assert order["adjusted_p"] < 1e-6


def test_intervals_rest_on_tasks_where_there_are_some(analyze):
    """case S4: 200 items in ten tasks that share most of their score."""
    rng = np.random.default_rng(6)
    task = np.arange(200) % 10
    y = 3 + rng.normal(size=10)[task][:, None] + 0.3 * rng.normal(size=(200, 1))
    y = y + 0.5 * rng.normal(size=(200, 3))
    frame = long(y).assign(task=np.repeat(task, 3))
    text, with_tasks = analyze(frame, *RUNS, "--task", "task")
    _, without = analyze(frame, *RUNS)

    for name in ("icc", "icc_agreement"):
        one, other = (p["by_name"][name] for p in (with_tasks, without))
        assert one["cluster"] == "task"
        assert one["high"] - one["low"] > 1.5 * (other["high"] - other["low"])
    assert "10 tasks" in text


def test_five_tasks_are_refused_an_interval(analyze):
    frame = long(shifted(7)).assign(task=np.repeat(np.arange(60) % 5, 6))
    _, part = analyze(frame, *RUNS, "--task", "task")

    assert part["by_name"]["icc"]["low"] is None
    assert "fewer than 6 tasks" in " ".join(part["by_name"]["icc"]["caveats"])


@pytest.mark.parametrize("mirrored", [False, True])
def test_the_worst_mark_is_the_same_for_a_mirrored_scale(analyze, mirrored):
    """case S5: scale 0..4, most items 0; at 0 everything passes, so 0 is no mark."""
    rng = np.random.default_rng(8)
    level = rng.choice([0.0, 1, 2, 4], size=(80, 1), p=[0.7, 0.1, 0.1, 0.1])
    y = np.clip(level + rng.choice([-1.0, 0, 1], size=(80, 3), p=[0.1, 0.8, 0.1]), 0, 4)
    passes = y >= 0.5
    known = (2 * passes.sum(1) * (3 - passes.sum(1)) / 6).mean()
    text, part = analyze(long(4 - y if mirrored else y), *RUNS)
    found = part["by_name"]["pass_fail_flip"]

    assert found["value"] == pytest.approx(max(known, found["value"]))
    assert found["details"]["mark"] == (3.5 if mirrored else 0.5)
    assert found["value"] == pytest.approx(known)
    assert "name yours" in text


def test_a_mark_that_everything_passes_is_told(analyze):
    _, part = analyze(long(np.clip(shifted(9), 0, None)), *RUNS, "--pass-at", "-1")

    assert "every reading passes at -1" in part["by_name"]["pass_fail_flip"]["undefined"]


def test_a_failure_label_is_named_and_can_be_declared(analyze):
    """case S6: 40 of 60 items "error" in every run."""
    y = np.array([["error"] * 3] * 40 + [["A", "A", "B"]] * 20, dtype=object)
    frame = long(y, value="verdict")
    text, _ = analyze(frame, "--repeat", "run", "--verdict", "verdict")
    _, part = analyze(frame, "--repeat", "run", "--verdict", "verdict", "--invalid", "error")

    assert "error" in text.split("may tell of a failure")[0]
    assert part["valid"] == 60


def test_counts_are_those_of_the_items_that_a_number_rests_on(analyze):
    """case S7: 150 items, a second run for 12 of them only."""
    rng = np.random.default_rng(10)
    y = rng.choice(["A", "B"], size=(150, 2)).astype(object)
    frame = long(y, value="verdict")
    frame = frame[(frame["run"] == 0) | frame["item"].isin([f"i{i}" for i in range(12)])]
    _, part = analyze(frame, "--repeat", "run", "--verdict", "verdict")

    assert {part["by_name"][name]["n"]["items"] for name in ("flip_rate", "ac1", "kappa")} == {12}


def test_a_majority_of_five_categories_is_not_bounded_by_one_half(analyze):
    """case S8: nine runs of five categories, each of chance .2: flips .8, and 1 - max p = .8."""
    rng = np.random.default_rng(11)
    y = rng.choice(list("ABCDE"), size=(80, 9)).astype(object)
    text, part = analyze(long(y, value="verdict"), "--repeat", "run", "--verdict", "verdict")
    flip = part["by_name"]["flip_rate"]["value"]
    low = 1 - (1 + np.sqrt(max(4 * (5 * (1 - flip) - 1), 0))) / 5

    assert f"majority of very many in {low:.1%} to {flip:.1%}" in text
    assert flip > 0.7


def test_one_tolerance_for_equal_scores(analyze):
    """case S9: .3 beside .1 + .2 of the same item; nothing differs, by any statistic."""
    base = np.repeat(np.arange(20)[:, None] / 10, 2, axis=1)
    base[3] = [0.3, 0.1 + 0.2]
    _, part = analyze(long(base), *RUNS)

    assert part["by_name"]["noise"]["value"] == 0
    assert part["by_name"]["spearman"]["value"] == pytest.approx(1)
    assert part["by_name"]["ordinal_alpha"]["value"] == pytest.approx(1)


def test_gaps_that_lie_in_low_items_are_told(analyze):
    """Ten lowest of 60 items lack one reading each, in turn over the runs."""
    y = shifted(12)
    lowest = np.argsort(y.mean(axis=1))[:10]
    y[lowest, np.arange(10) % 6] = np.nan
    text, part = analyze(long(y).dropna(), *RUNS)

    assert part["facets"]["empty_cells"]["where"] == ["kind of item"]
    assert "cells without a reading: 10 of 360" in text


def test_categories_that_shift_in_a_run_are_told(analyze):
    """Run 2 answers B for 20 of 60 items that are A in runs 0 and 1."""
    y = np.full((60, 3), "A", dtype=object)
    y[40:] = "B"
    y[:20, 2] = "B"
    text, part = analyze(long(y, value="verdict"), "--repeat", "run", "--verdict", "verdict")

    assert part["facets"]["facets"][0]["adjusted_p"] < 0.01
    assert "warning: the runs do not have one level" in text
    assert part["facets"]["categories"] == pytest.approx({"A": 100 / 180, "B": 80 / 180})


@pytest.mark.parametrize("mirrored", [False, True])
def test_scores_at_one_end_are_warned_of_at_either_end(analyze, mirrored):
    """Fourteen of twenty tasks lie at the end of a scale 0..4, where an ICC is overtrusted."""
    rng = np.random.default_rng(13)
    task = np.arange(100) % 20
    level = np.repeat([0, 1, 2, 3, 4], [14, 2, 2, 1, 1])[task][:, None]
    y = np.clip(level + rng.choice([0.0, 1], size=(100, 3), p=[0.9, 0.1]), 0, 4)
    frame = long(4 - y if mirrored else y).assign(task=np.repeat(task, 3))
    text, _ = analyze(frame, *RUNS, "--task", "task")

    assert max((y == 0).mean(), (y == 4).mean()) >= 0.5
    assert "lie at one end of the scale: over tasks" in text
