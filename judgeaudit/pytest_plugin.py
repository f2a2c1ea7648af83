"""The gate in a test suite: a fixture and a marker.

    @pytest.mark.judgeaudit_gate("evals/judge")
    def test_what_the_judge_decides(): ...          # runs only if the gate passes

    def test_the_judge(judgeaudit_gate):
        assert judgeaudit_gate("evals/judge").passed

A gate that does not pass fails the test, also where it could not be told: skipping would look
green. Each (study, key) is asked once a session. The gate runs in this process, by the function
that the command calls; nothing of the toolkit is imported before the first gate is asked. Python's
warnings are off meanwhile, so that a suite that makes errors of them judges its own code.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

MARKER = "judgeaudit_gate"


@dataclass(frozen=True)
class GateResult:
    """What a gate said: the command's exit code, outcome, one line, the document of `--json`."""

    code: int
    outcome: str
    says: str
    document: dict[str, Any] = field(repr=False)

    @property
    def passed(self) -> bool:
        """True where every registered criterion passed."""
        return self.code == 0 and self.outcome == "pass"


class Gates:
    """The gates of one session, each asked once."""

    def __init__(self, base: Path) -> None:
        self._base = base
        self._found: dict[tuple[str, str | None, bool], GateResult] = {}

    def __call__(
        self, study: str | Path, *, run_key: str | None = None, read_only: bool = False
    ) -> GateResult:
        """Return the result of `judgeaudit gate STUDY`; a relative path starts at pytest's root."""
        key = (str(self._base / study), run_key, read_only)
        if key not in self._found:
            self._found[key] = ask(*key)
        return self._found[key]


def ask(study: str, run_key: str | None, read_only: bool) -> GateResult:
    """Ask the gate and return what it said; a bug is raised as it is."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return _ask(study, run_key, read_only)


def _ask(study: str, run_key: str | None, read_only: bool) -> GateResult:
    from judgeaudit.errors import JudgeauditError, TooEarly, UndefinedEstimate
    from judgeaudit.study.gate import gate

    try:
        report = gate(study, run_key=run_key, read_only=read_only)
    except (JudgeauditError, OSError) as error:
        undecided = isinstance(error, TooEarly | UndefinedEstimate)
        told = {"outcome": "undefined", "error": str(error), "kind": type(error).__name__}
        return GateResult(3 if undecided else 2, "undefined", str(error), told)
    outcome = report.outcome.value
    code = {"pass": 0, "fail": 1}.get(outcome, 3)
    return GateResult(code, outcome, report.headline, report.to_dict())


@pytest.fixture(scope="session")
def judgeaudit_gate(request: pytest.FixtureRequest) -> Callable[..., GateResult]:
    """Ask a gate: `judgeaudit_gate(study, run_key=None, read_only=False)`."""
    return _gates(request.config)


def pytest_configure(config: pytest.Config) -> None:
    """Make the marker known."""
    config.addinivalue_line(
        "markers",
        f"{MARKER}(study, run_key=None, read_only=False): run only if this judge's gate passes",
    )


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Fail a marked test whose judge's gate does not pass."""
    for mark in item.iter_markers(MARKER):
        if not mark.args:
            pytest.fail(f"{MARKER} needs the folder of a study", pytrace=False)
        found = _gates(item.config)(*mark.args, **mark.kwargs)
        if not found.passed:
            pytest.fail(f"judge gate {mark.args[0]}: {found.says}", pytrace=False)


_KEY = pytest.StashKey[Gates]()


def _gates(config: pytest.Config) -> Gates:
    if _KEY not in config.stash:
        config.stash[_KEY] = Gates(config.rootpath)
    return config.stash[_KEY]
