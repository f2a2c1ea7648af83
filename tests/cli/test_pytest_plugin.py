"""The pytest plugin: a gate that does not pass fails a test, and no suite is disturbed."""

import subprocess
import sys

import pytest

SUITE = """
import pytest

@pytest.mark.judgeaudit_gate("study")
def test_marked():
    pass

def test_fixture(judgeaudit_gate):
    found = judgeaudit_gate("study")
    assert found.passed, found.says
"""


@pytest.fixture
def run_suite(tmp_path):
    """Run a suite in a process of its own and return what pytest printed."""

    def run(source, *arguments):
        (tmp_path / "test_suite.py").write_text(source)
        (tmp_path / "pytest.ini").write_text(
            "[pytest]\naddopts = --strict-markers -p no:cacheprovider\n"
        )
        command = [sys.executable, "-W", "error", "-m", "pytest", "-q", *arguments]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)

    return run


VIRTUAL = 'repeats = 2\nclock = "virtual"'
"""On the virtual clock the simulated judge's noise is the same in every run."""


def test_a_gate_that_passes_lets_marked_tests_run(frozen, run_suite):
    frozen()

    done = run_suite(SUITE)

    assert done.returncode == 0, done.stdout
    assert "2 passed" in done.stdout


def test_a_gate_that_fails_or_cannot_tell_fails_and_never_skips(frozen, text, run_suite):
    frozen(text("embedded:noisy:call.flip=0.5", schedule=VIRTUAL), items=60)

    done = run_suite(SUITE)

    assert done.returncode == 1
    assert "1 failed, 1 error" in done.stdout
    assert "judge gate study: FAIL: small (1 fail)" in done.stdout


def test_a_study_that_is_not_there_fails(run_suite):
    done = run_suite(SUITE.replace('"study"', '"missing"'))

    assert done.returncode == 1
    assert "missing" in done.stdout


def test_nothing_of_the_toolkit_is_imported_in_a_suite_that_does_not_use_it(run_suite):
    done = run_suite(
        "import sys\n\ndef test_light():\n"
        "    heavy = {'numpy', 'pandas', 'pydantic', 'typer', 'httpx', 'judgeaudit.cli'}\n"
        "    assert 'judgeaudit.pytest_plugin' in sys.modules\n"
        "    assert not heavy & set(sys.modules)\n"
    )

    assert done.returncode == 0, done.stdout
