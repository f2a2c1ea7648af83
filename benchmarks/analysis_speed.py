"""Speed of the analyses beside other packages, on the same data in one run.

    python benchmarks/analysis_speed.py --peers PEERS/bin/python       short: two minutes
    python benchmarks/analysis_speed.py --peers PEERS/bin/python --profile full --out docs

PEERS is an environment of its own with the peers installed:

    pip install noisefloor-llm metajudge rater-agreement pingouin scipy pandas

All times are CPU seconds (user and system), the least of several runs: they stay comparable on a
machine that does other things too. What was not installed, or refused the data, is said in its
cell. Exit 1 if a stated ratio or budget is missed.
"""

import argparse
import json
import math
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from judgeaudit.stats.icc import icc
from judgeaudit.stats.noise import noise
from judgeaudit.stats.ranks import spearman_within

SIZES = ((500, 10), (5_000, 20), (50_000, 5))
MAIN = (5_000, 20)
GROWTH = {
    "short": ((5_000, 20), (20_000, 20), (80_000, 20)),
    "full": ((50_000, 20), (150_000, 20), (500_000, 20)),
}
SCRIPT = Path(__file__).with_name("analysis_peers.py")
OURS = ("noise", "ICC(1,1)", "Spearman")
COLUMNS = ("--item", "item", "--repeat", "run", "--score", "score")


@dataclass(frozen=True)
class Check:
    """One stated ratio or budget: what was found, what was asked, whether it holds."""

    what: str
    found: float
    asked: float
    unit: str
    least: bool

    @property
    def holds(self) -> bool:
        """Whether what was found is what was asked."""
        return self.found >= self.asked if self.least else self.found <= self.asked

    def line(self) -> str:
        """Return its row of the table."""
        asked = f"at {'least' if self.least else 'most'} {self.asked:g}{self.unit}"
        sign = "met" if self.holds else "**missed**"
        return f"| {self.what} | {self.found:.3g}{self.unit} | {asked} | {sign} |"


def scores_of(items: int, runs: int) -> np.ndarray:
    """Whole scores from 1 to 10: judges' usual scale; noise SD 1, items' SD 2."""
    rng = np.random.default_rng((20261129, items, runs))
    latent = 5.5 + 2 * rng.normal(size=(items, 1)) + rng.normal(size=(items, runs))
    return np.clip(np.round(latent), 1, 10)


def cpu(work: Callable[[], object], runs: int = 3) -> float:
    """Least CPU seconds of several runs."""
    found = []
    for _ in range(runs):
        began = time.process_time()
        work()
        found.append(time.process_time() - began)
    return min(found)


@dataclass(frozen=True)
class Process:
    """A whole process: CPU seconds and the most memory that it held, in GB."""

    cpu: float
    memory: float


def process(arguments: list[str], runs: int = 3) -> Process:
    """Run a command several times; raises if it fails."""
    found = []
    for _ in range(runs):
        child = subprocess.Popen(arguments, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode:
            raise RuntimeError(f"{Path(arguments[0]).name}: exit {child.returncode}")
        found.append(Process(used.ru_utime + used.ru_stime, used.ru_maxrss / 2**20))
    return min(found, key=lambda p: p.cpu)


def ours(scores: np.ndarray) -> dict[str, float]:
    work = (lambda: noise(scores), lambda: icc(scores), lambda: spearman_within(scores))
    return {name: cpu(one) for name, one in zip(OURS, work, strict=True)}


def in_process(
    peers: str | None, profile: str, folder: Path
) -> Iterator[tuple[str, dict[str, float], dict[str, float | str]]]:
    for items, runs in SIZES:
        scores = scores_of(items, runs)
        path = folder / "scores.npy"
        np.save(path, scores)
        theirs: dict[str, float | str] = {"peers": "no --peers interpreter"}
        if peers:
            command = [peers, str(SCRIPT), "time", str(path), profile]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            theirs = json.loads(done.stdout)
        yield f"{items:,} x {runs}", ours(scores), theirs


def table_files(scores: np.ndarray, folder: Path) -> dict[str, Path]:
    """Write the same rows as CSV and as noisefloor's JSON lines."""
    items, runs = scores.shape
    paths = {kind: folder / f"{items}x{runs}.{kind}" for kind in ("csv", "jsonl")}
    with paths["csv"].open("w") as csv, paths["jsonl"].open("w") as log:
        csv.write("item,run,score\n")
        for i, row in enumerate(scores.astype(int).tolist()):
            csv.writelines(f"i{i},{k},{score}\n" for k, score in enumerate(row))
            log.writelines(
                f'{{"item": "i{i}", "draw": {k}, "score": {score}}}\n'
                for k, score in enumerate(row)
            )
    return paths


def parquet_file(scores: np.ndarray, folder: Path) -> Path:
    items, runs = scores.shape
    path = folder / f"{items}x{runs}.parquet"
    names = pa.array([f"i{i}" for i in range(items)])
    table = pa.table(
        {
            "item": names.take(pa.array(np.repeat(np.arange(items), runs))),
            "run": np.tile(np.arange(runs), items),
            "score": scores.ravel(),
        }
    )
    pq.write_table(table, path)
    return path


def whole_process(peers: str | None, profile: str, folder: Path) -> dict[str, float | str]:
    paths = table_files(scores_of(*MAIN), folder)
    found: dict[str, float | str] = {
        "judgeaudit analyze": process([_program(), "analyze", str(paths["csv"]), *COLUMNS], 5).cpu
    }
    if not peers:
        return found
    reports = {
        "noisefloor-llm `report` (no interval, no rank statistic)": [
            str(Path(peers).with_name("noisefloor")), "report", str(paths["jsonl"]),
        ],
        "rater-agreement (variance, ICC, flips; 1,000 resamples)": [
            peers, str(SCRIPT), "report", "rater-agreement", str(paths["csv"]),
        ],
        "metajudge `audit`": [peers, str(SCRIPT), "report", "metajudge", str(paths["csv"])],
    }  # fmt: skip
    for name, command in reports.items():
        if profile == "short" and "metajudge" in name:
            found[name] = "left to the full profile: it takes minutes"
            continue
        try:
            found[name] = process(command, 1 if "metajudge" in name else 5).cpu
        except (RuntimeError, OSError) as error:
            found[name] = str(error)
    return found


def growth(profile: str, folder: Path) -> dict[str, Process]:
    found = {}
    for items, runs in GROWTH[profile]:
        path = parquet_file(scores_of(items, runs), folder)
        command = [_program(), "analyze", str(path), *COLUMNS]
        found[f"{items:,} x {runs}"] = process(command, 2)
        path.unlink()
    return found


def _program() -> str:
    return str(Path(sys.executable).with_name("judgeaudit"))


def checks(
    rows: list[tuple[str, dict[str, float], dict[str, float | str]]],
    whole: dict[str, float | str],
    grown: dict[str, Process],
    profile: str,
) -> Iterator[Check]:
    _, mine, theirs = rows[1]
    total = sum(mine.values())
    peers = {
        "noisefloor's `compare`": ("noisefloor-llm `compare`",),
        "rater-agreement's bootstrap": ("rater-agreement variance", "rater-agreement ICC"),
    }
    for name, starts in peers.items():
        parts = [v for k, v in theirs.items() if k.startswith(starts) and isinstance(v, float)]
        if len(parts) == len(starts):
            what = f"noise, ICC, Spearman with intervals at 5,000 x 20, against {name}"
            yield Check(what, sum(parts) / total, 5, "x", True)
    own = whole["judgeaudit analyze"]
    assert isinstance(own, float)
    for name, value in whole.items():
        if isinstance(value, float) and name != "judgeaudit analyze":
            yield Check(f"whole process, against {name}", value / own, 1, "x", True)
    yield Check("`analyze` of 5,000 x 20 as CSV", own, 3, " s", False)
    if profile == "full":
        largest = list(grown.values())[-1]
        yield Check("`analyze` of 500,000 x 20 as Parquet", largest.cpu, 60, " s", False)
        yield Check("memory at 500,000 x 20", largest.memory, 4, " GB", False)
    yield Check("growth beyond n log n, largest step", _growth(profile, grown), 1.25, "x", False)
    yield Check("`judgeaudit --help`", process([_program(), "--help"], 5).cpu, 0.4, " s", False)


def _growth(profile: str, grown: dict[str, Process]) -> float:
    """How much faster than n log n the cost grew in the worst step, start-up taken off."""
    start = process([_program(), "analyze", "--help"]).cpu
    cost = [max(1e-3, p.cpu - start) for p in grown.values()]
    size = [n * k * math.log(n * k) for n, k in GROWTH[profile]]
    pairs = zip(cost[1:], cost, size[1:], size, strict=False)
    return max(later / cost / (n / m) for later, cost, n, m in pairs)


def page(
    rows: list[tuple[str, dict[str, float], dict[str, float | str]]],
    whole: dict[str, float | str],
    grown: dict[str, Process],
    found: list[Check],
    command: str,
) -> str:
    lines = [
        "# Speed of the analyses",
        "",
        f"Made by `{command}`; do not edit.",
        f"CPU seconds on {os.cpu_count()} cores, Python {platform.python_version()}, "
        f"numpy {np.__version__}.",
        "A peer's resamples are run in part and scaled up, since their cost is linear in them.",
        "",
        "## What was asked",
        "",
        "| what | found | asked | |",
        "|---|---|---|---|",
        *(check.line() for check in found),
    ]
    for size, mine, theirs in rows:
        total = sum(mine.values())
        lines += [
            "",
            f"## In process, {size}",
            "",
            "| what | CPU s | beside ours |",
            "|---|---|---|",
        ]
        lines += [f"| {name}, with its interval | {value:.4f} | |" for name, value in mine.items()]
        lines += [f"| **ours, all three** | **{total:.4f}** | 1 |"]
        lines += [_peer(name, value, total) for name, value in theirs.items()]
    own = whole["judgeaudit analyze"]
    assert isinstance(own, float)
    lines += [
        "",
        "## Whole process, 5,000 x 20",
        "",
        "| what | CPU s | beside ours |",
        "|---|---|---|",
    ]
    lines += [_peer(name, value, own) for name, value in whole.items()]
    lines += ["", "## Growth, Parquet", "", "| items x runs | CPU s | memory |", "|---|---|---|"]
    lines += [f"| {k} | {p.cpu:.2f} | {p.memory:.2f} GB |" for k, p in grown.items()]
    return "\n".join(lines) + "\n"


def _peer(name: str, value: float | str, own: float) -> str:
    if isinstance(value, str):
        return f"| {name} | not measured: {value.splitlines()[0]} | |"
    return f"| {name} | {value:.4f} | {value / own:.2g}x |"


def _told(what: str) -> None:
    print(f"... {what}", file=sys.stderr, flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--peers", help="Python of an environment that has the peers")
    parser.add_argument("--profile", choices=("short", "full"), default="short")
    parser.add_argument("--out", type=Path, help="folder for benchmarks-analysis.md")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        rows = list(in_process(args.peers, args.profile, folder))
        _told("whole processes")
        whole = whole_process(args.peers, args.profile, folder)
        _told("growth")
        grown = growth(args.profile, folder)
    found = list(checks(rows, whole, grown, args.profile))
    command = f"python benchmarks/analysis_speed.py --peers PYTHON --profile {args.profile}"
    text = page(rows, whole, grown, found, command)
    print(text)
    if args.out:
        (args.out / "benchmarks-analysis.md").write_text(text, encoding="utf-8")
    return 0 if all(check.holds for check in found) else 1


if __name__ == "__main__":
    sys.exit(main())
