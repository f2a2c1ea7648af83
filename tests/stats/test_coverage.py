"""The coverage benchmark: its truths, what it calls a failure, and its short profile."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import kendalltau, spearmanr

from judgeaudit.stats.interval import Interval

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture
def planted(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import planted

    return planted


@pytest.fixture
def measure(planted, monkeypatch):
    """`measure(draw, n)` is the row of 2,000 intervals by `draw(rng)` around a truth of 0."""
    name = "coverage_benchmark"  # not the name of the coverage package
    spec = importlib.util.spec_from_file_location(name, BENCHMARKS / "coverage.py")
    benchmark = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, name, benchmark)
    spec.loader.exec_module(benchmark)

    def row(draw, n=50):
        def simulate(rng):
            low, high = draw(rng)
            return Interval(low, high, 0.95, "test")

        return benchmark.measure(benchmark.Cell("test", "test", n, 0.0, simulate), 2_000)

    return row


@pytest.mark.parametrize("scale", ["continuous", "balanced5", "ceiling3", "saturated"])
def test_planted_truth_equals_what_a_large_study_finds(planted, rng, scale):
    """60,000 items, noise of two classes: within 4 standard errors of about .004."""
    judge = planted.Judge(scale, 0.3, ((0.7, 0.05), (0.3, 1.0)))
    y = judge.draw(rng, 60_000, 2, 2)
    across = y[:, 0, 0], y[:, 1, 0]
    within, between = planted.true_variances(judge)

    assert planted.true_spearman(judge) == pytest.approx(spearmanr(*across).statistic, abs=0.015)
    assert planted.true_kendall(judge) == pytest.approx(kendalltau(*across).statistic, abs=0.015)
    assert within == pytest.approx(y[:, 0].var(axis=1, ddof=1).mean(), rel=0.03)
    assert between == pytest.approx(np.cov(y[:, 0].T)[0, 1], rel=0.03)
    assert sum(planted.true_crossed(judge)) == pytest.approx(within + between)


def test_one_continuous_class_has_the_closed_form(planted):
    """rho = 1/(1 + .09 + .25); Spearman (6/pi) asin(rho/2), tau (2/pi) asin(rho)."""
    judge = planted.Judge("continuous", 0.3, ((1.0, 0.5),))
    rho = 1 / 1.34

    assert planted.true_spearman(judge) == pytest.approx(6 / np.pi * np.arcsin(rho / 2))
    assert planted.true_kendall(judge) == pytest.approx(2 / np.pi * np.arcsin(rho))


def test_an_honest_interval_passes_and_a_narrow_one_fails(measure):
    """Normal estimates with ends at 1.96 and at 1.5 standard errors: .950 and .866."""

    def ends(half):
        def draw(rng):
            centre = rng.normal()
            return centre - half, centre + half

        return draw

    honest, narrow = measure(ends(1.96)), measure(ends(1.5))

    assert honest.passes
    assert honest.coverage == pytest.approx(0.95, abs=0.02)
    assert not narrow.passes


def test_a_one_sided_miss_fails_although_coverage_is_high(measure):
    """No upper misses and a lower end that lies too high in 7 % of studies: .93 in all."""

    def draw(rng):
        return (0.1 if rng.random() < 0.07 else -1.0), 2.0

    row = measure(draw)

    assert row.coverage > 0.92
    assert not row.passes


@pytest.mark.slow
def test_no_default_interval_falls_short_where_the_limits_do_not_say_so():
    """The `ci` profile ends with 0: each failing cell is listed in `limits`."""
    command = [sys.executable, str(BENCHMARKS / "coverage.py"), "--profile", "ci"]
    run = subprocess.run(command, capture_output=True, text=True, check=False)

    assert run.returncode == 0, run.stdout + run.stderr
