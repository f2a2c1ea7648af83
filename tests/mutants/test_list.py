"""The list of mutants fits the code as it stands; `run.py` says whether each dies."""

import importlib.util
from pathlib import Path

import pytest

_spec = importlib.util.spec_from_file_location("mutants_run", Path(__file__).with_name("run.py"))
assert _spec is not None
assert _spec.loader is not None
run = importlib.util.module_from_spec(_spec)
import sys  # noqa: E402

sys.modules["mutants_run"] = run
_spec.loader.exec_module(run)

MUTANTS = run.mutants()


def test_there_are_forty_and_no_name_twice():
    assert len(MUTANTS) >= 40
    assert len({mutant.name for mutant in MUTANTS}) == len(MUTANTS)


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_mutant_fits_its_file_once_and_its_tests_exist(mutant):
    source = (run.ROOT / mutant.file).read_text(encoding="utf-8")

    assert mutant.applied(source) != source
    assert mutant.tests
    assert all((run.ROOT / test.split("::")[0]).exists() for test in mutant.tests)


def test_a_text_that_stands_twice_is_no_mutant():
    """One change in one place: "a" stands twice in "aa"."""
    mutant = run.Mutant("twice", "f", "a", "b", ("t",))

    with pytest.raises(ValueError, match="holds the text 2x"):
        mutant.applied("aa")
