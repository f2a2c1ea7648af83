"""Break one rule at a time, and see whether the default suite notices.

    python tests/mutants/run.py              # every mutant of mutants.toml
    python tests/mutants/run.py NAME ...     # some of them

Each entry of `mutants.toml` names a file, a text that stands in it exactly once, what takes its
place, and the tests that are to fail. The package is copied to a folder of its own, changed there,
and those tests are run against the copy: a mutant dies where pytest fails (exit code 1), and
survives where it passes. Any other end (nothing collected, a broken import) is an error of the
list, never a death. Exit code 0 where every mutant died.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
LIST = Path(__file__).with_name("mutants.toml")
COPIED = ("judgeaudit", "protocols", "tests", "sample_data", "docs", "prereg", "benchmarks")
FILES = ("pyproject.toml", "README.md", "action.yml", ".pre-commit-hooks.yaml", "CHANGELOG.md")
FAILED, PASSED = 1, 0


@dataclass(frozen=True, slots=True)
class Mutant:
    """One change of one file, and the tests that must fail with it."""

    name: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]

    def applied(self, source: str) -> str:
        """Return `source` with the change; raises `ValueError` unless it fits exactly once."""
        if source.count(self.old) != 1:
            raise ValueError(f"{self.name}: {self.file} holds the text {source.count(self.old)}x")
        return source.replace(self.old, self.new)


def mutants() -> list[Mutant]:
    """Return the entries of the list, in order."""
    known = tomllib.loads(LIST.read_text(encoding="utf-8"))["mutant"]
    return [Mutant(**{**entry, "tests": tuple(entry["tests"])}) for entry in known]


def copied(place: Path) -> None:
    """Copy what the tests need to `place`."""
    ignored = shutil.ignore_patterns("__pycache__")
    for name in COPIED:
        shutil.copytree(ROOT / name, place / name, ignore=ignored)
    for name in FILES:
        shutil.copy(ROOT / name, place / name)


def outcome(mutant: Mutant, place: Path) -> str:
    """Return "died", "survived" or what else happened, with `place` as it was before."""
    path = place / mutant.file
    source = path.read_text(encoding="utf-8")
    path.write_text(mutant.applied(source), encoding="utf-8")
    try:
        return _verdict(_pytest(mutant.tests, place))
    finally:
        path.write_text(source, encoding="utf-8")


def _pytest(tests: tuple[str, ...], place: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-n", "0", "-p", "no:cacheprovider"]
    environment = {**os.environ, "PYTHONPATH": str(place), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(
        [*command, *tests], cwd=place, env=environment, capture_output=True, text=True
    )


def _verdict(run: subprocess.CompletedProcess[str]) -> str:
    if run.returncode == FAILED and " failed" in run.stdout:
        return "died"
    if run.returncode == PASSED:
        return "survived"
    return f"no answer (pytest ended with {run.returncode}): {run.stdout[-300:]}"


def main(names: list[str]) -> int:
    """Run the mutants called `names`, or all; return the exit code."""
    chosen = [mutant for mutant in mutants() if not names or mutant.name in names]
    with tempfile.TemporaryDirectory() as folder:
        copied(Path(folder))
        found = {}
        for mutant in chosen:
            found[mutant.name] = outcome(mutant, Path(folder))
            print(f"{found[mutant.name]:10} {mutant.name}", flush=True)
    dead = sum(end == "died" for end in found.values())
    print(f"{dead} of {len(found)} mutants died")
    return 0 if found and dead == len(found) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
