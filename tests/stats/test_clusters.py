"""Intervals over clusters: the rule for few of them, their degrees of freedom, and their counts."""

import numpy as np
import pandas as pd
import pytest

from judgeaudit import analyze_table
from judgeaudit.analysis.build import context
from judgeaudit.analysis.question import Question
from judgeaudit.stats.agreement import effective_proportion, gwet_ac1
from judgeaudit.stats.icc import icc
from judgeaudit.stats.interval import Interval, Undefined
from judgeaudit.stats.noise import noise
from judgeaudit.stats.pass_marks import at_mark
from judgeaudit.stats.ranks import spearman_within
from judgeaudit.stats.resolution import resolution
from judgeaudit.stats.scaled import cluster_freedom, mean_estimate, spread
from judgeaudit.stats.sessions import Calibration
from judgeaudit.stats.weighted import alpha_estimate, weighted_kappa


def test_clusters_that_change_alike_have_g_less_1_degrees_of_freedom():
    """Changes +1 and -1: kurtosis 1, so 2 G/(2/(G - 1)) is far above G - 1 = 9, the most."""
    assert cluster_freedom(np.array([1.0, -1.0] * 5)) == 9


def test_one_cluster_with_all_of_the_variance_leaves_few():
    """One of 10 clusters moves: kurtosis 10, 2 x 10/(10 - 1 + 2/9) = 2.17; of 3, never below 2."""
    alone = np.zeros(10)
    alone[3] = 5.0

    assert cluster_freedom(alone) == pytest.approx(20 / (9 + 2 / 9))
    assert cluster_freedom(np.array([0.0, 0.0, 7.0])) == 2


def test_freedom_of_clusters_is_used():
    x = np.concatenate([np.full(10, 9.0), np.tile([0.0, 0.1], 45)])
    codes = np.repeat(np.arange(10), 10)

    assert mean_estimate(x, clusters=codes).df == pytest.approx(spread(x - x.mean(), codes)[2])
    assert mean_estimate(x, clusters=codes).df < 3


def scores(tasks, items=60):
    rng = np.random.default_rng(4)
    y = np.clip(np.round(2 + rng.normal(size=(items, 1)) + 0.7 * rng.normal(size=(items, 3))), 0, 4)
    return y, np.arange(items) % tasks


def intervals(y, tasks):
    codes = y.astype(int)
    return {
        "icc": icc(y, "one-way", tasks).single.interval(),
        "noise": noise(y, tasks).sd.interval(),
        "spearman": spearman_within(y, clusters=tasks).estimate.interval(),
        "mark": at_mark(y, 2.0, tasks).flips.interval(),
        "alpha": alpha_estimate(codes, 5, "ordinal", tasks=tasks).interval(),
        "kappa": weighted_kappa(codes[:, 0], codes[:, 1], 5, tasks=tasks).interval(),
        "ac1": gwet_ac1(codes, 5, tasks).interval(),
        "mean": mean_estimate(y[:, 0], clusters=tasks).interval(),
    }


def test_five_tasks_give_no_interval_whatever_the_statistic():
    found = intervals(*scores(5, 120))

    assert found == dict.fromkeys(found, Undefined("fewer than 6 tasks"))
    assert all(isinstance(v, Interval) for v in intervals(*scores(6, 120)).values())


def test_items_that_are_no_clusters_keep_their_interval():
    """Five values without clusters are five units: the rule for tasks does not speak of them."""
    assert isinstance(effective_proportion(np.array([0, 1, 0, 0, 1.0])).interval(), Interval)


def test_a_floor_of_item_noise_has_an_interval_on_both_sides():
    """With no variance between the runs the floor is the resolution; its own error is counted."""
    found = resolution(Calibration(1e-6, 0.25, 50, 1.0, 3, 147, 4))

    assert found.floor
    assert found.interval.low < found.value < found.interval.high


def order_table(shift):
    rng = np.random.default_rng(2)
    base = rng.normal(size=40)
    rows = [
        {"item": f"q{i}", "run": r, "order": o, "task": f"t{i % 8}",
         "score": round(base[i] + shift * (o == "BA") + 0.5 * rng.normal(), 3)}
        for r in range(3) for o in ("AB", "BA") for i in range(40)
    ]  # fmt: skip
    return pd.DataFrame(rows)


def test_an_item_in_two_orders_is_one_item():
    report = analyze_table(
        order_table(1.0), item="item", repeat="run", score="score", order="order"
    )
    found = {e.analysis: e for e in report.estimates}

    for name in ("spearman", "icc", "noise", "icc_agreement", "noise_without_shifts"):
        assert (found[name].n["items"], found[name].cluster) == (40, "item"), name
    assert not any("runs shift" in c for e in report.estimates for c in e.caveats)


def test_counts_and_cluster_are_those_of_the_estimator():
    report = analyze_table(
        order_table(0.0), item="item", repeat="run", score="score", order="order", task="task"
    )
    for name in ("spearman", "icc", "noise", "icc_agreement", "pass_fail_flip"):
        found = next(e for e in report.estimates if e.analysis == name)
        assert (found.n["items"], found.n["tasks"], found.cluster) == (40, 8, "task"), name
        assert [c for c in found.caveats if "8 tasks" in c] == [
            "8 tasks: intervals over 6 to 12 tasks may cover less than 95%"
        ]


def test_tasks_that_a_statistic_cannot_honour_are_refused():
    """An estimator that took every item as its own unit gets no interval where tasks were asked."""
    part = pd.DataFrame({"item": list("abcdef"), "task": list("xxyyzz"), "status": "ok"})
    part = part.assign(reason=None, window="w")
    values = mean_estimate(np.arange(6.0))
    asked = {c: context("m", part, Question(cluster=c)).of(values) for c in ("item", "task")}

    assert asked["item"].low is not None
    assert asked["task"].low is None
    assert "over tasks was asked for" in asked["task"].caveats[0]
