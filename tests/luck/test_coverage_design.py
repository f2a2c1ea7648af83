"""The benchmark of designs: its truths by a large study, what it calls broken, its short form."""

import importlib.util
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

BENCHMARK = Path(__file__).parents[2] / "benchmarks" / "coverage_luck_design.py"


@pytest.fixture(scope="module")
def benchmark():
    spec = importlib.util.spec_from_file_location("coverage_luck_design", BENCHMARK)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


@pytest.mark.parametrize("pattern", ["even", "by order", "by setting", "by setting, strong"])
def test_what_is_planted_is_what_a_large_study_finds(benchmark, pattern):
    """50 studies of 3,200 worlds: standard error of the mean CARRY below .003."""
    rng = np.random.default_rng(1)
    answers, added, _ = benchmark.simulate(rng, pattern, "none", 50, 3200)
    p = answers.worse.mean(axis=(0, 2))

    assert p[0] - p[1] - p[2] + p[3] == pytest.approx(added.mean(), abs=0.01)
    assert added.mean() == pytest.approx(benchmark.effect_of(pattern), abs=0.07)


def test_the_product_breaks_nothing_in_its_short_form(benchmark):
    rows = [
        benchmark.measure(pattern, loss, 200, 120)
        for pattern in ("even", "by setting, strong") for loss in benchmark.LOSSES
    ]  # fmt: skip

    assert [line for row in rows for line in benchmark.broken(row, 200)] == []
    assert rows[2].these < 0.9, "selective loss moves the estimate"
    assert rows[3].population < 0.8, "half of the settings carry: the default does not cover"


def test_a_row_that_does_not_cover_is_named(benchmark):
    sound = benchmark.Row(120, "even", "none", 0.95, 0.95, 0.95, 0.96, 0.1, 0.1)

    assert list(benchmark.broken(sound, 2000)) == []
    for field in ("these", "population", "clustered", "bounds"):
        assert len(list(benchmark.broken(replace(sound, **{field: 0.9}), 2000))) == 1
