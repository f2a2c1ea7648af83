"""Measure how often each default interval covers the planted truth.

    python benchmarks/coverage.py --profile ci                     a minute, exit 1 on news
    python benchmarks/coverage.py --profile moderate --out docs    docs/coverage.md and .csv
    python benchmarks/coverage.py --profile full --out docs

A cell is one analysis in one regime at one n. It fails if its coverage is below .92 (.90 at fewer
than 50 items), or if the truth lies beyond one end in more than .05 of the simulations, by more
than two Monte Carlo standard errors. Simulations without an interval are counted and left out.
Each cell has its own seed, made of the base seed and its name, so that a profile does not change
its draws. News is a failing cell that `judgeaudit.stats.limits` does not list.
"""

import argparse
import csv
import math
import sys
import time
import zlib
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from coverage_cells import (
    Cell,
    clustered_cells,
    component_cells,
    difference_cells,
    excess_cells,
    icc_and_noise_cells,
    kendall_cells,
    shift_cells,
    spearman_cells,
    task_cells,
    trend_cells,
    verdict_cells,
)

from judgeaudit.stats import limits
from judgeaudit.stats.interval import Interval

SEED = 20261129


@dataclass(frozen=True)
class Row:
    """What was measured in a cell; `low` and `high` are the shares of truths beyond each end."""

    analysis: str
    regime: str
    n: int
    truth: float
    simulations: int
    no_interval: float
    coverage: float
    low: float
    high: float
    width: float
    passes: bool


def measure(cell: Cell, simulations: int) -> Row:
    """Return the coverage of one cell."""
    rng = np.random.default_rng([SEED, zlib.crc32(cell.key.encode())])
    found = [cell.simulate(rng) for _ in range(simulations)]
    ends = np.array([(i.low, i.high) for i in found if isinstance(i, Interval)]).reshape(-1, 2)
    size = len(ends)
    below = float((cell.truth < ends[:, 0]).mean()) if size else math.nan
    above = float((cell.truth > ends[:, 1]).mean()) if size else math.nan
    width = float((ends[:, 1] - ends[:, 0]).mean()) if size else math.nan
    covered = 1 - below - above
    return Row(
        cell.analysis,
        cell.regime,
        cell.n,
        cell.truth,
        simulations,
        1 - size / simulations,
        covered,
        below,
        above,
        width,
        _passes(cell.n, size, covered, below, above),
    )


def _passes(n: int, size: int, covered: float, below: float, above: float) -> bool:
    if size == 0:
        return True  # no interval is given, so none misleads; the share is printed
    floor = 0.92 if n >= 50 else 0.90
    slack = 2 * math.sqrt(floor * (1 - floor) / size)
    tail = 2 * math.sqrt(0.05 * 0.95 / size)
    return covered >= floor - slack and max(below, above) <= 0.05 + tail


@dataclass(frozen=True)
class Profile:
    """Sizes and simulations of a run; `every` keeps each k-th cell."""

    sizes: tuple[int, ...]
    simulations: int
    every: int


PROFILES = {
    # strides coprime to the number of sizes, so that each size is met
    "ci": Profile((30, 50, 100, 200), 200, 7),
    "moderate": Profile((30, 50, 100, 200), 600, 3),
    "full": Profile((30, 50, 100, 200, 500), 3_000, 1),
}


def cells(profile: Profile) -> list[Cell]:
    """Return the cells of a profile."""
    families = (
        spearman_cells,
        difference_cells,
        kendall_cells,
        icc_and_noise_cells,
        verdict_cells,
        excess_cells,
        component_cells,
        shift_cells,
        trend_cells,
    )
    grid = [cell for family in families for cell in family(profile.sizes)]
    grid += task_cells() + clustered_cells()
    return grid[:: profile.every]


def write(rows: list[Row], profile: str, folder: Path) -> None:
    """Write coverage.csv with every cell, and coverage.md with minima and failing cells."""
    with (folder / "coverage.csv").open("w", newline="", encoding="utf-8") as file:
        table = csv.DictWriter(file, list(asdict(rows[0])), lineterminator="\n")
        table.writeheader()
        for row in rows:
            table.writerow({k: _short(v) for k, v in asdict(row).items()})
    (folder / "coverage.md").write_text(_page(rows, profile), encoding="utf-8")


def _short(value: object) -> object:
    return f"{value:.4f}" if isinstance(value, float) else value


def _page(rows: list[Row], profile: str) -> str:
    failing = [row for row in rows if not row.passes]
    simulations = PROFILES[profile].simulations
    lines = [
        "# Coverage of the default intervals",
        "",
        f"Made by `python benchmarks/coverage.py --profile {profile} --out docs`; "
        f"{len(rows)} cells of {simulations:,} simulations, seed {SEED}.",
        "Every cell is in [coverage.csv](coverage.csv).",
        "A 95 % interval passes with coverage of at least .92 (.90 below 50 items) and at most .05 "
        "of the truths beyond either end, less two Monte Carlo standard errors.",
        f"One such error is {math.sqrt(0.95 * 0.05 / simulations):.4f} at coverage .95.",
        "",
        "## Lowest, median and highest coverage",
        "",
        "| analysis | n | cells | lowest | median | highest | largest one-sided miss "
        "| most without interval |",
        "|---|---|---|---|---|---|---|---|",
    ]
    place = {name: i for i, name in enumerate(dict.fromkeys(row.analysis for row in rows))}
    for analysis, n in sorted({(r.analysis, r.n) for r in rows}, key=lambda p: (place[p[0]], p[1])):
        mine = [row for row in rows if (row.analysis, row.n) == (analysis, n)]
        covered = np.array([row.coverage for row in mine])
        miss = np.nanmax([max(row.low, row.high) for row in mine])
        lost = max(row.no_interval for row in mine)
        low, middle, high = np.nanmin(covered), np.nanmedian(covered), np.nanmax(covered)
        lines.append(
            f"| {analysis} | {n} | {len(mine)} | {low:.3f} | {middle:.3f} | {high:.3f} "
            f"| {miss:.3f} | {lost:.2f} |"
        )
    lines += ["", f"## Cells that fail: {len(failing)} of {len(rows)}", ""]
    if failing:
        lines += [
            "| analysis | regime | n | truth | coverage | truth below | truth above | width |",
            "|---|---|---|---|---|---|---|---|",
        ]
    for row in failing:
        lines.append(
            f"| {row.analysis} | {row.regime} | {row.n} | {row.truth:.3f} | {row.coverage:.3f} "
            f"| {row.low:.3f} | {row.high:.3f} | {row.width:.3f} |"
        )
    lines += [
        "",
        "`judgeaudit.stats.limits` lists the analyses and sizes of these cells, "
        "so that a command can warn.",
        "",
    ]
    return "\n".join(lines)


def main() -> int:
    """Run a profile; return 1 if a cell fails that `limits` does not list."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--profile", choices=PROFILES, default="ci")
    parser.add_argument("--out", type=Path, help="folder for coverage.md and coverage.csv")
    parser.add_argument("--only", default="", help="keep the analyses whose name contains this")
    options = parser.parse_args()
    profile, start = PROFILES[options.profile], time.process_time()
    chosen = [cell for cell in cells(profile) if options.only in cell.analysis]
    rows = [measure(cell, profile.simulations) for cell in chosen]
    if options.out:
        write(rows, options.profile, options.out)
    news = 0
    for row in (r for r in rows if not r.passes):
        known = limits.is_listed(row.analysis, row.n)
        news += not known
        print(
            f"{'known' if known else 'NEW'}: {row.analysis}, {row.regime}, n={row.n}: "
            f"coverage {row.coverage:.3f}, misses {row.low:.3f} / {row.high:.3f}"
        )
    spent = time.process_time() - start
    print(f"{len(rows)} cells, {sum(r.passes for r in rows)} pass, {spent:.0f} s")
    return 1 if news else 0


if __name__ == "__main__":
    sys.exit(main())
