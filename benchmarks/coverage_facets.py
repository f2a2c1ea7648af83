"""Measure resolution, ICC(A,1) and the intervals over tasks where runs shift and tasks cluster.

    python benchmarks/coverage_facets.py --profile ci                a minute, exit 1 on a failure
    python benchmarks/coverage_facets.py --profile full --out docs   docs/coverage-facets.md
    ... --grid tasks                                                 one grid, the others stay

Three grids, each cell with its own seed:

* Resolution: how often two new runs of the same system lie further apart than a table's resolution;
  nominal .05. It fails above .05 plus 3.5 Monte Carlo errors; with the floor off (normal scores) it
  also fails that far below.
* ICC(A,1): coverage of its 95 % interval. Normal scores fail below .93, equal noise or not; ordered
  levels fail where both all tables and those without a warning lie below .92.
* Tasks: coverage over tasks of ICC, SD, flip rate, AC1, alpha, kappa, Spearman and pass/fail, on a
  scale with a floor and on its mirror. 20 tasks or more fail below .92, fewer below .90, unless
  every table is warned.

A failure is a shortfall of more than two Monte Carlo errors below its limit.
"""

import argparse
import math
import sys
import time
import zlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from facet_tables import EQUAL, UNEQUAL, Table, true_agreement

from judgeaudit.stats.agreement import flip_rate, gwet_ac1
from judgeaudit.stats.facets import run_model
from judgeaudit.stats.icc import at_an_end, icc
from judgeaudit.stats.icc_runs import agreement_icc
from judgeaudit.stats.interval import Interval, Undefined
from judgeaudit.stats.noise import noise
from judgeaudit.stats.pass_marks import Mark, at_mark
from judgeaudit.stats.ranks import spearman_within
from judgeaudit.stats.resolution import distance
from judgeaudit.stats.scaled import few_tasks
from judgeaudit.stats.sessions import between_runs, between_sessions
from judgeaudit.stats.weighted import alpha_estimate, weighted_kappa

SEED = 20261201
RUN_SDS = (0.0, 0.05, 0.1, 0.2, 0.4)
PROFILES = {"ci": (300, 100, 60), "moderate": (4_000, 400, 750), "full": (4_000, 600, 2_000)}


@dataclass(frozen=True)
class Row:
    """One cell: its name, what was measured, how many tables, and whether it holds."""

    cell: tuple[str, ...]
    values: tuple[float, ...]
    tables: int
    holds: bool


def rng_of(*name):
    """Return the generator of one cell."""
    return np.random.default_rng([SEED, zlib.crc32(" ".join(map(str, name)).encode())])


def resolution_rows(tables):
    """Yield the cells of the resolution, with exchangeable runs and with sessions."""
    for scale in ("normal", "five points"):
        for n in (60, 200):
            for sd in RUN_SDS:
                for k in (2, 3, 6):
                    yield resolution_row(Table(scale, sd), n, k, 0, tables)
                for s in (2, 3, 6):
                    yield resolution_row(Table(scale, sd), n, s, 3, tables)


def resolution_row(table, n, k, each, tables):
    """Return one cell: k runs, or k sessions of `each` runs; then two new runs of the system."""
    name = f"{k} sessions of {each} runs" if each else f"{k} runs"
    rng = rng_of("resolution", table, n, name)
    beyond = np.zeros(2)
    for _ in range(tables):
        sessions = np.concatenate([np.repeat(np.arange(k), each), [k, k + 1]]) if each else None
        runs = sessions.size if each else k + 2
        y = table.draw(rng, n, runs, sessions)
        model = run_model(y[:, : runs - 2])
        if isinstance(model, Undefined):
            continue
        found = between_sessions(model, sessions[:-2], rng) if each else between_runs(model)
        apart = abs(float(y[:, -1].mean() - y[:, -2].mean()))
        beyond += [apart > distance(found, floor=f) * (1 + 1e-12) for f in (True, False)]
    on, off = beyond / tables
    error = 3.5 * math.sqrt(0.05 * 0.95 / tables)
    exact = table.scale == "normal" and not each
    holds = on <= 0.05 + error and (not exact or abs(off - 0.05) <= error)
    cell = (table.scale, str(n), f"{table.run_sd:g}", name)
    return Row(cell, (on, off), tables, holds)


def agreement_rows(tables):
    """Yield the cells of ICC(A,1)."""
    for scale in ("normal", "five points", "five points, top", "five points, bottom"):
        for classes in (EQUAL, UNEQUAL):
            for n in (60, 200):
                for sd in RUN_SDS:
                    for k in (2, 3, 6):
                        yield agreement_row(Table(scale, sd, classes), n, k, tables)


def agreement_row(table, n, k, tables):
    """Return one cell: coverage over all tables, over those without a warning, share warned."""
    rng, truth = rng_of("icc", table, n, k), true_agreement(table)
    covered, warned = [], []
    for _ in range(tables):
        found = agreement_icc(table.draw(rng, n, k), rng=rng)
        if isinstance(found, Undefined) or isinstance(found.single_interval, Undefined):
            continue
        covered.append(found.single_interval.low <= truth <= found.single_interval.high)
        warned.append(bool(found.warning))
    covered, warned = np.array(covered), np.array(warned)
    quiet = covered[~warned]
    least = 0.93 if table.scale == "normal" else 0.92
    holds = any(
        part.size == 0 or part.mean() >= least - 2 * error_of(least, part.size)
        for part in ((covered, quiet) if table.scale != "normal" else (covered,))
    )
    noise_of = "equal" if table.classes == EQUAL else "unequal"
    cell = (table.scale, noise_of, str(n), f"{table.run_sd:g}", f"{k} runs")
    of_quiet = float(quiet.mean()) if quiet.size else math.nan
    return Row(cell, (float(covered.mean()), of_quiet, float(warned.mean())), covered.size, holds)


def error_of(share, size):
    """Return the Monte Carlo standard error of a share."""
    return math.sqrt(share * (1 - share) / size)


def task_statistics(y, tasks):
    """Return each statistic of scores (n, 3) with its interval over tasks."""
    codes = y.astype(int)
    found = {"ICC(1,1)": icc(y, "one-way", tasks), "SD": noise(y, tasks)}
    ends = {
        "ICC(1,1)": found["ICC(1,1)"] and _ends(found["ICC(1,1)"], "single"),
        "SD": _ends(found["SD"], "sd"),
        "flip rate": _ends(flip_rate(codes, 5, tasks)),
        "AC1": _ends(gwet_ac1(codes, 5, tasks)),
        "alpha": _ends(alpha_estimate(codes, 5, "ordinal", tasks=tasks)),
        "kappa": _ends(weighted_kappa(codes[:, 0], codes[:, 1], 5, "linear", tasks)),
        "Spearman": _ends(spearman_within(y, clusters=tasks), "estimate"),
    }
    mark = at_mark(y, 2.0, tasks)
    ends["pass/fail at 2"] = _ends(mark.flips) if isinstance(mark, Mark) else mark
    return ends


def _ends(found, part=None):
    if isinstance(found, Undefined):
        return found
    return (getattr(found, part) if part else found).interval()


def task_rows(tables):
    """Yield the cells over tasks; truth is the mean over a thousand tables of 400 tasks."""
    for scale in ("five points", "five points, bottom", "five points, top"):
        for classes in (EQUAL, UNEQUAL):
            truth = large_sample(Table(scale, 0.0, classes))
            for tasks in (6, 8, 12, 20, 40):
                yield from task_cell(Table(scale, 0.0, classes, tasks), truth, tables)


def large_sample(table):
    """Return the value of each statistic on 400,000 items with a noise class each."""
    y = table.draw(rng_of("truth", table), 400_000, 3)
    codes = y.astype(int)
    mark = at_mark(y, 2.0)
    return {
        "ICC(1,1)": icc(y).single.value,
        "SD": noise(y).sd.value,
        "flip rate": flip_rate(codes, 5).value,
        "AC1": gwet_ac1(codes, 5).value,
        "alpha": alpha_estimate(codes, 5, "ordinal").value,
        "kappa": weighted_kappa(codes[:, 0], codes[:, 1], 5, "linear").value,
        "Spearman": spearman_within(y).estimate.value,
        "pass/fail at 2": mark.flips.value,
    }


def task_cell(table, truth, tables):
    """Yield one row a statistic: coverage over tasks, and the share without an interval."""
    rng, items = rng_of("tasks", table), max(10 * table.tasks, 120)
    codes = np.arange(items) % table.tasks
    hits = {name: [] for name in truth}
    warned = dict.fromkeys(truth, 0)
    for _ in range(tables):
        y = table.draw(rng, items, 3)
        told = {"ICC(1,1)": bool(at_an_end(y))}
        for name, found in task_statistics(y, codes).items():
            if isinstance(found, Interval):
                hits[name].append(found.low <= truth[name] <= found.high)
                warned[name] += bool(few_tasks(table.tasks)) or told.get(name, False)
    noise_of = "equal" if table.classes == EQUAL else "unequal"
    for name, covered in hits.items():
        size = len(covered)
        share = float(np.mean(covered)) if size else math.nan
        least = 0.92 if table.tasks >= 20 else 0.90
        enough = size == 0 or share >= least - 2 * error_of(least, size)
        cell = (name, table.scale, noise_of, str(table.tasks))
        told = warned[name] / size if size else 0.0
        yield Row(cell, (share, told, 1 - size / tables), tables, enough or warned[name] == size)


GRIDS = {
    "resolution": (
        "Resolution between two runs of one system (nominal .05)",
        "| scale | items | run SD | calibration | beyond | beyond, floor off |",
        resolution_rows,
    ),
    "agreement": (
        "ICC(A,1), 95 % interval",
        "| scale | noise | items | run SD | runs | coverage | without a warning | warned |",
        agreement_rows,
    ),
    "tasks": (
        "Over tasks, 95 % intervals, three runs",
        "| statistic | scale | noise | tasks | coverage | warned | no interval |",
        task_rows,
    ),
}


def section(title, head, rows):
    """Return the lines of one grid: its extremes, then every cell."""
    columns = head.count("|") - 1
    lines = [f"## {title}", "", head, "|" + "---|" * columns]
    for row in rows:
        values = [f"{v:.3f}" if not math.isnan(v) else "" for v in row.values]
        mark = "" if row.holds else " (falls short)"
        lines.append("| " + " | ".join([*row.cell, *values]) + f"{mark} |")
    return [*lines, ""]


def measured(name, tables):
    """Return a grid's section of the page, and how many of its cells fall short."""
    title, head, rows = GRIDS[name]
    begun = time.process_time()
    found = list(rows(tables))
    failed = [row for row in found if not row.holds]
    told = f"{len(found)} cells of {tables:,} tables, {len(failed)} fall short."
    print(f"{title}: {told} {time.process_time() - begun:.0f} s", file=sys.stderr, flush=True)
    for row in failed:
        print("  ", *row.cell, *(f"{v:.3f}" for v in row.values), file=sys.stderr)
    lines = section(title, head, found)
    return "\n".join([*lines[:2], told, "", *lines[2:]]), len(failed)


def replaced(page, title, text):
    """Return the page with the section of this title replaced, or added at its end."""
    parts = page.split("\n## ")
    kept = [part for part in parts[1:] if part.split("\n", 1)[0] != title]
    order = [grid[0] for grid in GRIDS.values()]
    kept.append(text.removeprefix("## ").rstrip("\n") + "\n")
    kept.sort(key=lambda part: order.index(part.split("\n", 1)[0]))
    return "\n## ".join([INTRODUCTION, *(part.rstrip("\n") + "\n" for part in kept)])


INTRODUCTION = """\
# Where runs shift and tasks cluster: what was measured

Made by `python benchmarks/coverage_facets.py`; do not edit. A section says how many tables a cell
has; the Monte Carlo error of a share of .92 is .010 with 750 tables, .014 with 400.
Items have SD 1 and noise .5 (unequal: 70 % of items .05, 30 % 1.0).
Of ordered levels a cell of ICC(A,1) holds where all its tables together reach .92, or those without
a warning do; few tables lie in the column without a warning, so single shares there scatter.
"""


def main():
    """Measure, print, write, and exit 1 if a cell falls short."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--profile", choices=sorted(PROFILES), default="ci")
    parser.add_argument("--grid", choices=sorted(GRIDS), help="one grid; the page keeps the others")
    parser.add_argument("--out", type=Path, help="folder for coverage-facets.md")
    args = parser.parse_args()
    page = args.out and args.out / "coverage-facets.md"
    text = page.read_text(encoding="utf-8") if page and page.exists() and args.grid else ""
    short = 0
    for name, tables in zip(GRIDS, PROFILES[args.profile], strict=True):
        if args.grid in (None, name):
            found, failed = measured(name, tables)
            short += failed
            text = replaced(text, GRIDS[name][0], found)
    if page:
        page.write_text(text, encoding="utf-8")
    else:
        print(text)
    return 1 if short else 0


if __name__ == "__main__":
    sys.exit(main())
