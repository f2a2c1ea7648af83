"""Kills commands at random moments, runs them again, and looks whether anything was lost.

    python tests/hostile/kills.py [--kills 60] [--stage NAME] [--seed N] [--python INTERPRETER]

Every command is killed with SIGKILL at a moment drawn from its own duration, up to three times in
a row; then it is run again until it is done. Nothing is lost where that ends well, `verify` finds
nothing, and every frozen file and every reading is there as in a study that was never disturbed
(simulated judges on the virtual clock answer alike). Exits 1, naming each failure.

The stages are those of a study's life: freeze, run and seal, a second stage's freeze within a run
(a study that plans one), pilot, gate, amend, export.

Without `--python` the commands run in processes forked from one that has everything imported; with
it, by that interpreter, which may hold any version.
"""

from __future__ import annotations

import argparse
import itertools
import multiprocessing
import multiprocessing.context
import random
import runpy
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import pyarrow.parquet as pq

OK = {"gate": {0, 1, 3}}
"""Exit codes of a command that did its work; 0 for all others."""

ALREADY = ("nothing is overwritten", "equals the frozen", "nothing has changed since the freeze")
"""What a command says that had done its work before it was killed."""

NOT_READ = {"attempt", "previous_digest", "row_digest"}
"""Columns of a reading that say how often it was asked, not what was read."""

COMMAND = Path(__file__).with_name("command.py")


@dataclass(frozen=True)
class Done:
    """How a command ended."""

    returncode: int
    stdout: str
    stderr: str


class Running(Protocol):
    """A command that was started."""

    def alive(self) -> bool: ...
    def kill(self) -> None: ...
    def done(self) -> Done: ...


class Started:
    """A command run by an interpreter of its own."""

    def __init__(self, python: str, words: tuple[str, ...]) -> None:
        self._process = subprocess.Popen(
            [python, "-m", "judgeaudit", *words],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def alive(self) -> bool:
        return self._process.poll() is None

    def kill(self) -> None:
        self._process.kill()
        self._process.communicate()

    def done(self) -> Done:
        stdout, stderr = self._process.communicate(timeout=600)
        return Done(self._process.returncode, stdout, stderr)


class Forked:
    """A command in a process forked from one that has everything imported."""

    def __init__(
        self,
        context: multiprocessing.context.ForkServerContext,
        folder: Path,
        words: tuple[str, ...],
    ) -> None:
        folder.mkdir()
        self._folder = folder
        given = {"WORDS": words, "FOLDER": str(folder)}
        self._process = context.Process(
            target=runpy.run_path, args=(str(COMMAND), given, "__main__")
        )
        self._process.start()

    def alive(self) -> bool:
        return self._process.is_alive()

    def kill(self) -> None:
        self._process.kill()
        self._process.join()

    def done(self) -> Done:
        self._process.join(600)
        texts = [_text(self._folder / name) for name in ("stdout", "stderr")]
        return Done(self._process.exitcode if self._process.exitcode is not None else -1, *texts)


def _text(path: Path) -> str:
    return path.read_text(errors="replace") if path.exists() else ""


def fork_server() -> multiprocessing.context.ForkServerContext:
    """Return a context whose processes have every command imported."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(
        [
            "judgeaudit.cli.commands",
            "judgeaudit.collect.collector",
            "judgeaudit.endpoint.server",
            "judgeaudit.evidence.derive",
            "judgeaudit.study.amend",
            "judgeaudit.study.export_study",
            "judgeaudit.study.freeze",
            "judgeaudit.study.gate",
            "judgeaudit.study.pilot",
            "judgeaudit.study.run",
            "judgeaudit.study.verify",
        ]
    )
    return context


@dataclass
class Laboratory:
    """A folder to work in, the interpreter that is tried (None: forked), and its chance."""

    folder: Path
    rng: random.Random
    python: str | None = None
    killed_running: int = 0
    _context: Any = field(default_factory=fork_server)
    _numbers: Iterator[int] = field(default_factory=itertools.count)

    def start(self, *words: str) -> Running:
        """Start a command."""
        if self.python is not None:
            return Started(self.python, words)
        return Forked(self._context, self.folder / f"command-{next(self._numbers)}", words)

    def call(self, *words: str) -> Done:
        """Run a command to its end."""
        return self.start(*words).done()

    def killed(self, *words: str, within: float) -> bool:
        """Start a command and kill it at a random moment; False where it had ended before."""
        first = 0.0 if self.python is None else 0.3  # imports of an interpreter are no moment
        process = self.start(*words)
        time.sleep(self.rng.uniform(first, 1.0) * within)
        was_running = process.alive()
        process.kill()
        self.killed_running += was_running
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


def drafted(lab: Laboratory, root: Path, protocol: str = "verdict", n: int = 12) -> None:
    """Make a study on a simulated judge; nothing is frozen."""
    about = ["--protocol", protocol, "--n", str(n), "--base-url", "embedded:stable"]
    _must(lab, "init", str(root), *about)
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
    drafted(lab, root, "memory-luck", 4)
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
        Stage("pilot", lambda root: ["pilot", str(root), "--items", "12"], drafted),
        Stage("gate", lambda root: ["gate", str(root)], frozen),
        Stage("amend", lambda root: ["prereg", "amend", str(root), *AMEND], edited),
        Stage("export", lambda root: ["export", str(root)], sealed),
    ]


def trial(lab: Laboratory, stage: Stage, kills: int) -> Iterator[str]:
    """Kill one command at least `kills` times while it ran; yield what was lost.

    A command is killed up to three times on one study; where it ends before, that counts as none.
    """
    template = lab.folder / f"{stage.name}-template"
    stage.prepare(lab, template)
    whole = lab.folder / f"{stage.name}-whole"
    shutil.copytree(template, whole)
    begun = time.monotonic()
    _must(lab, *stage.words(whole))
    within = time.monotonic() - begun
    until = lab.killed_running + kills
    for number in itertools.count():
        if lab.killed_running >= until:
            return
        root = lab.folder / f"{stage.name}-{number}"
        shutil.copytree(template, root)
        for _ in range(min(lab.rng.randint(1, 3), until - lab.killed_running)):
            if not lab.killed(*stage.words(root), within=within):
                break
        yield from _mended(lab, stage, root, whole)
        shutil.rmtree(root)


def _mended(lab: Laboratory, stage: Stage, root: Path, whole: Path) -> Iterator[str]:
    """Run the command again and verify; yield what is wrong."""
    done = lab.call(*stage.words(root))
    already = any(word in done.stderr for word in ALREADY)
    if done.returncode not in OK.get(stage.name, {0}) and not already:
        yield f"{root.name}: run again, exit {done.returncode}: {done.stderr.strip()[-400:]}"
        return
    if (root / "frozen").exists():
        checked = lab.call("verify", str(root))
        if checked.returncode != 0:
            told = (checked.stdout + checked.stderr).strip()[-400:]
            yield f"{root.name}: verify, exit {checked.returncode}: {told}"
    if (found := names(root)) != (wanted := names(whole)):
        yield f"{root.name}: frozen has {found}, undisturbed {wanted}"
    if (found := readings(root)) != (wanted := readings(whole)):
        differing = sum(one not in wanted for one in found)
        yield f"{root.name}: {len(found)} readings of {len(wanted)}, {differing} are others"


def names(root: Path) -> list[str]:
    """Return the files of what is frozen, amendments and stages too."""
    folder = root / "frozen"
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def readings(root: Path) -> list[dict[str, Any]]:
    """Return every sealed reading under a folder, gate runs and pilots too, in a fixed order."""
    rows = [
        {name: value for name, value in row.items() if name not in NOT_READ}
        for path in root.glob("**/log/sealed/*/readings.parquet")
        for row in pq.read_table(path).to_pylist()
    ]
    return sorted(rows, key=repr)


def main() -> int:
    """Run the laboratory; returns 1 where something was lost."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=60)
    parser.add_argument("--seed", type=int, default=20261129)
    parser.add_argument("--python")
    parser.add_argument("--stage", choices=[stage.name for stage in stages()])
    given = parser.parse_args()
    chosen = [stage for stage in stages() if given.stage in (None, stage.name)]
    lost = 0
    with tempfile.TemporaryDirectory() as folder:
        lab = Laboratory(Path(folder), random.Random(given.seed), given.python)
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
