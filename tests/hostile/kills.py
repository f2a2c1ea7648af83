"""Kills commands at random moments, runs them again, and looks whether anything was lost.

    python tests/hostile/kills.py [--kills 60] [--seed N] [--python INTERPRETER]

Every command is killed with SIGKILL at a moment drawn from its own duration; then it is run again
until it is done, and `judgeaudit verify` must find nothing. `--python` names the interpreter of the
version to try. Exits 1, naming each failure, where a kill lost something.

The stages are those of a study's life: freeze, run and seal, a second stage's freeze within a run
(a study that plans one), pilot, gate, amend, export.
"""

from __future__ import annotations

import argparse
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

OK = {"gate": {0, 1, 3}}
"""Exit codes of a command that did its work; 0 for all others."""


@dataclass
class Laboratory:
    """A folder to work in, and the interpreter that is tried."""

    folder: Path
    python: str
    rng: random.Random

    def call(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Run a command to its end."""
        command = [self.python, "-m", "judgeaudit", *words]
        return subprocess.run(command, capture_output=True, text=True, timeout=600)

    def killed(self, *words: str, within: float) -> bool:
        """Start a command and kill it at a random moment; False where it had ended before."""
        command = [self.python, "-m", "judgeaudit", *words]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(self.rng.uniform(0.3, 1.0) * within)
        was_running = process.poll() is None
        process.kill()
        process.wait()
        return was_running


@dataclass
class Stage:
    """A command, and the study before it: `prepare` makes it in a folder that does not exist."""

    name: str
    words: Callable[[Path], list[str]]
    prepare: Callable[[Laboratory, Path], None]


def _must(lab: Laboratory, *words: str) -> None:
    done = lab.call(*words)
    if done.returncode not in OK.get(words[0], {0}):
        raise SystemExit(f"{' '.join(words)}: exit {done.returncode}: {done.stderr[-500:]}")


def drafted(lab: Laboratory, root: Path, protocol: str = "verdict") -> None:
    """Make a study on a simulated judge; nothing is frozen."""
    _must(lab, "init", str(root), "--protocol", protocol, "--base-url", "embedded:stable")
    registration = root / "registration.toml"
    text = registration.read_text()
    if 'clock = "virtual"' not in text:
        text = text.replace("[schedule]", '[schedule]\nclock = "virtual"', 1)
    registration.write_text(text)


def frozen(lab: Laboratory, root: Path) -> None:
    """Make a study that is frozen."""
    drafted(lab, root)
    _must(lab, "prereg", "freeze", str(root))


def two_stages(lab: Laboratory, root: Path) -> None:
    """Make a frozen study whose second stage is frozen from the first one's sealed readings."""
    drafted(lab, root, "memory-luck")
    _must(lab, "prereg", "freeze", str(root))


def sealed(lab: Laboratory, root: Path) -> None:
    """Make a study whose windows are sealed."""
    frozen(lab, root)
    _must(lab, "run", str(root), "--all")


def edited(lab: Laboratory, root: Path) -> None:
    """Make a frozen study whose registration was edited since."""
    frozen(lab, root)
    registration = root / "registration.toml"
    registration.write_text(registration.read_text() + "\n# a remark that came later\n")


AMEND = ["--what", "a remark", "--why", "it was missing", "--effect", "none"]


def stages() -> list[Stage]:
    """Return the commands that are killed."""
    return [
        Stage("freeze", lambda root: ["prereg", "freeze", str(root)], drafted),
        Stage("run", lambda root: ["run", str(root), "--all"], frozen),
        Stage("stages", lambda root: ["run", str(root), "--all"], two_stages),
        Stage("pilot", lambda root: ["pilot", str(root)], drafted),
        Stage("gate", lambda root: ["gate", str(root)], frozen),
        Stage("amend", lambda root: ["prereg", "amend", str(root), *AMEND], edited),
        Stage("export", lambda root: ["export", str(root)], sealed),
    ]


def trial(lab: Laboratory, stage: Stage, kills: int) -> Iterator[str]:
    """Kill one command `kills` times, each time anew; yield what was lost."""
    template = lab.folder / f"{stage.name}-template"
    stage.prepare(lab, template)
    whole = lab.folder / f"{stage.name}-whole"
    shutil.copytree(template, whole)
    begun = time.monotonic()
    _must(lab, *stage.words(whole))
    within = time.monotonic() - begun
    for number in range(kills):
        root = lab.folder / f"{stage.name}-{number}"
        shutil.copytree(template, root)
        for _ in range(lab.rng.randint(1, 3)):
            if not lab.killed(*stage.words(root), within=within):
                break
        yield from _mended(lab, stage, root)
        shutil.rmtree(root)


def _mended(lab: Laboratory, stage: Stage, root: Path) -> Iterator[str]:
    """Run the command again and verify; yield what is wrong."""
    done = lab.call(*stage.words(root))
    already = any(word in done.stderr for word in ("nothing is overwritten", "equals the frozen"))
    if done.returncode not in OK.get(stage.name, {0}) and not already:
        yield f"{root.name}: run again, exit {done.returncode}: {done.stderr.strip()[-400:]}"
        return
    checked = lab.call("verify", str(root))
    if stage.name not in ("freeze", "pilot", "amend") and checked.returncode != 0:
        yield f"{root.name}: verify, exit {checked.returncode}: {checked.stdout.strip()[-400:]}"
    if (root / "frozen").exists():
        checked = lab.call("prereg", "verify", str(root))
        if checked.returncode != 0:
            yield f"{root.name}: prereg verify: {checked.stdout.strip()[-400:]}"


def main() -> int:
    """Run the laboratory; returns 1 where something was lost."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=60)
    parser.add_argument("--seed", type=int, default=20261129)
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--stage", choices=[stage.name for stage in stages()])
    given = parser.parse_args()
    chosen = [stage for stage in stages() if given.stage in (None, stage.name)]
    lost = 0
    with tempfile.TemporaryDirectory() as folder:
        lab = Laboratory(Path(folder), given.python, random.Random(given.seed))
        for place, stage in enumerate(chosen):
            share = given.kills // len(chosen) + (place < given.kills % len(chosen))
            found = list(trial(lab, stage, share))
            lost += len(found)
            print(
                f"{stage.name}: {share} killed, {len(found)} lost", *found, sep="\n  ", flush=True
            )
    return 1 if lost else 0


if __name__ == "__main__":
    sys.exit(main())
