"""The benchmark of the memory-luck analysis: its truths, what it calls broken, its short form."""

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest

pytestmark = pytest.mark.slow

BENCHMARK = Path(__file__).parents[2] / "benchmarks" / "coverage_luck.py"


@pytest.fixture(scope="module")
def benchmark():
    spec = importlib.util.spec_from_file_location("coverage_luck_benchmark", BENCHMARK)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


def test_planted_truths_are_those_of_a_large_study(benchmark):
    """2,000 worlds a study, 200 studies: standard error of CARRY below .001."""
    for design in benchmark.planted(2000):
        answers = design.answers(np.random.default_rng(1), 200)
        p = answers.worse.mean(axis=(0, 2))
        named = {cell: p[k] for k, cell in enumerate(answers.cells)}
        ff, fu, ss, su = (named[x] for x in ("FF", "FU", "SS", "SU"))

        assert ff - fu - (ss - su) == pytest.approx(design.truth("CARRY"), abs=0.005)
        assert ff - fu == pytest.approx(design.truth("harm"), abs=0.005)


def test_a_lower_bound_that_misses_too_often_is_named(benchmark, monkeypatch):
    """With a normal quantile of .5 for 1.645 the bound misses in about 30 % of studies."""
    monkeypatch.setattr(benchmark, "ONE_SIDED", 0.5)
    broken = []
    benchmark.endpoint_table("", benchmark.planted(256)[2:3], "harm", 300, broken)

    assert any("lower bound" in line for line in broken)
    assert any("false large" in line for line in broken)


def test_the_product_breaks_no_bound_in_its_short_form(benchmark):
    broken = []
    benchmark.endpoint_table("", benchmark.planted(256), "CARRY", 300, broken)
    benchmark.pool_table(100, broken)

    assert broken == []
