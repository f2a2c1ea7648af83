"""Coverage of the intervals for paired shares, their interactions, pools and clusters.

    python benchmarks/coverage_paired.py --profile ci      seconds; exit 1 if a bound is broken
    python benchmarks/coverage_paired.py --profile full --out docs/coverage-paired.md

Worlds are planted: each arm's answer is 1 when a normal variable falls below a quantile, and
arms of a world share part of that variable. "Miss low" means that the truth lies below the
interval (a claim "larger" would be false), "miss high" above. One-sided columns give the miss
of a bound whose nominal error is 5 %.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy import special

from judgeaudit.stats.interval import Interval
from judgeaudit.stats.paired import (
    mover_ends,
    newcombe_ends,
    opposing_correlation,
    pseudo_world_t,
    tango_ends,
)
from judgeaudit.stats.pooling import endpoints_like_these, these_endpoints
from judgeaudit.stats.proportions import clopper_pearson, share_of_clusters

STUDIES = {"ci": 2000, "full": 20_000}
CHUNK = 2000
SEED = 20_250_929
TWO_SIDED, ONE_SIDED = special.ndtri(0.975), special.ndtri(0.95)


@dataclass(frozen=True)
class Case:
    """A planted design: chances of each arm, and the sign with which each shares the world."""

    name: str
    chances: tuple[float, ...]
    correlation: float = 0.0
    signs: tuple[int, ...] = ()

    def answers(self, rng, worlds, runs):
        """Draw answers, runs x worlds x arms."""
        arms = len(self.chances)
        signs = np.array(self.signs or (1,) * arms)
        own = rng.standard_normal((runs, worlds, arms), dtype=np.float32)
        shared = rng.standard_normal((runs, worlds, 1), dtype=np.float32)
        latent = np.sqrt(self.correlation) * signs * shared + np.sqrt(1 - self.correlation) * own
        return latent < special.ndtri(np.asarray(self.chances))


PAIRS = (
    Case("11.6 % vs .4 %", (0.116, 0.004)),
    Case("3.1 % vs .4 %", (0.031, 0.004)),
    Case(".4 % vs .4 %", (0.004, 0.004)),
    Case("30 % vs 12 %, shared .6", (0.30, 0.12), 0.6),
    Case(".8 % vs 0", (0.008, 0.0)),
)
INTERACTIONS = (
    Case("+.112", (0.116, 0.004, 0.004, 0.004)),
    Case("+.181", (0.201, 0.012, 0.012, 0.004)),
    Case("+.042", (0.046, 0.004, 0.004, 0.004)),
    Case("+.002", (0.006, 0.004, 0.004, 0.004)),
    Case("+.352", (0.40, 0.03, 0.03, 0.012)),
    Case("0, every arm .1", (0.1,) * 4),
    Case("+.100 (at the margin)", (0.104, 0.004, 0.004, 0.004)),
    Case("+.100, shared .5", (0.13, 0.02, 0.03, 0.02), 0.5),
    Case("+.100, arms opposed .5", (0.23, 0.12, 0.13, 0.12), 0.5, (1, -1, -1, 1)),
)


def cells(first, second):
    both, one, other = (first & second).sum(1), first.sum(1), second.sum(1)
    return both, one - both, other - both, first.shape[1] - one - other + both


def simulate(case, worlds, studies, measure):
    """Stack `measure(answers)`, a dict of arrays a study, over chunks of studies."""
    rng = np.random.default_rng([SEED, worlds, len(case.name)])
    parts = []
    for start in range(0, studies, CHUNK):
        parts.append(measure(case.answers(rng, worlds, min(CHUNK, studies - start))))
    return {key: np.concatenate([part[key] for part in parts]) for key in parts[0]}


def paired_ends(answers):
    a, b, c, d = cells(answers[:, :, 0], answers[:, :, 1])
    found = {}
    for side, z in (("two", TWO_SIDED), ("one", ONE_SIDED)):
        for name, ends in (
            ("tango", tango_ends(b, c, answers.shape[1], z)),
            ("newcombe", newcombe_ends(a, b, c, d, z)),
        ):
            found[f"{name} {side}"] = np.stack(ends, axis=1)
    return found


def interaction_ends(answers):
    worlds, y = answers.shape[1], answers.astype(int)
    halves = [cells(answers[:, :, arm], answers[:, :, arm + 1]) for arm in (0, 2)]
    first, second = y[:, :, 0] - y[:, :, 1], y[:, :, 2] - y[:, :, 3]
    opposed, found = opposing_correlation(first, second), {}
    for side, z in (("two", TWO_SIDED), ("one", ONE_SIDED)):
        tango, newcombe = [], []
        for a, b, c, d in halves:
            tango += [(b - c) / worlds, tango_ends(b, c, worlds, z)]
            newcombe += [(b - c) / worlds, newcombe_ends(a, b, c, d, z)]
        found[f"tango {side}"] = np.stack(mover_ends(*tango, opposed), axis=1)
        found[f"newcombe {side}"] = np.stack(mover_ends(*newcombe, opposed), axis=1)
        found[f"independent {side}"] = np.stack(mover_ends(*newcombe), axis=1)
        level = 0.95 if side == "two" else 0.9
        intervals = [pseudo_world_t(row, level)[1] for row in first - second]
        found[f"pseudo {side}"] = np.array([(i.low, i.high) for i in intervals])
    return found


def misses(ends, truth):
    slack = 1e-12
    return np.mean(ends[:, 0] > truth + slack), np.mean(ends[:, 1] < truth - slack)


def two_sided_cell(ends, truth):
    low, high = misses(ends, truth)
    width = np.mean(ends[:, 1] - ends[:, 0])
    return f"{1 - low - high:.3f} ({low:.3f}/{high:.3f}; {width:.3f})"


def one_sided_cell(ends, truth):
    return "{:.3f} / {:.3f}".format(*misses(ends, truth))


def table(title, header, rows):
    lines = [f"## {title}", "", "| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows), ""])


def paired_tables(studies, broken):
    two, one = [], []
    for worlds in (64, 256):
        for case in PAIRS:
            truth = case.chances[0] - case.chances[1]
            found = simulate(case, worlds, studies, paired_ends)
            head = [f"n={worlds}, {case.name}", f"{truth:.3f}"]
            two.append(head + [two_sided_cell(found[f"{m} two"], truth) for m in METHODS])
            one.append(head + [one_sided_cell(found[f"{m} one"], truth) for m in METHODS])
            for method in METHODS:
                note_worst(f"{method} paired", head[0], *misses(found[f"{method} one"], truth))
            check(broken, f"Tango, {head[0]}", sum(misses(found["tango two"], truth)), 0.08)
            lower = misses(found["newcombe one"], truth)[0]
            check(broken, f"Newcombe lower, {head[0]}", lower, ceiling(studies))
    header = ["case", "truth", "Tango", "Newcombe"]
    return [
        table(
            "Paired difference, two-sided 95 %: coverage (miss low/miss high; width)", header, two
        ),
        table("Paired difference, one-sided 5 %: miss of the lower / upper bound", header, one),
    ]


METHODS = ("tango", "newcombe")


def ceiling(studies):
    return 0.05 + 4 * np.sqrt(0.05 * 0.95 / studies)


WORST = {}  # method and side -> (largest miss, case), for the summary


def note_worst(name, case, low, high):
    for side, miss in (("lower", low), ("upper", high)):
        key = f"{name}, {side} bound"
        WORST[key] = max(WORST.get(key, (0.0, "")), (float(miss), case))


def summary():
    lines = ["Largest miss of each one-sided 5 % bound over all designs of these tables:", ""]
    lines += [f"* {name}: {miss:.3f} ({case})" for name, (miss, case) in sorted(WORST.items())]
    return "\n".join([*lines, "", ""])


def check(broken, what, value, limit):
    if value > limit:
        broken.append(f"{what}: {value:.4f} > {limit:.4f}")


def interaction_tables(studies, broken):
    two, one, methods = [], [], (*METHODS, "independent", "pseudo")
    for worlds in (64, 256):
        for case in INTERACTIONS:
            p = case.chances
            truth = (p[0] - p[1]) - (p[2] - p[3])
            found = simulate(case, worlds, studies, interaction_ends)
            head = [f"n={worlds}, {case.name}", f"{truth:.3f}"]
            two.append(head + [two_sided_cell(found[f"{m} two"], truth) for m in methods])
            one.append(head + [one_sided_cell(found[f"{m} one"], truth) for m in methods])
            for method in methods:
                note_worst(f"{method} interaction", head[0], *misses(found[f"{method} one"], truth))
            check(broken, f"MOVER-Tango, {head[0]}", sum(misses(found["tango two"], truth)), 0.08)
            lower = misses(found["newcombe one"], truth)[0]
            check(broken, f"MOVER-Newcombe lower, {head[0]}", lower, ceiling(studies))
    header = [
        "case",
        "truth",
        "MOVER of Tango",
        "MOVER of Newcombe",
        "MOVER of Newcombe, halves taken as independent",
        "t with pseudo-worlds",
    ]
    return [
        table("Interaction, two-sided 95 %: coverage (miss low/miss high; width)", header, two),
        table("Interaction, one-sided 5 %: miss of the lower / upper bound", header, one),
    ]


def knapp_hartung(effects, variances):
    """Random-effects interval of Hartung, Knapp, Sidik and Jonkman, t(k - 1), for comparison."""
    y, w = effects, 1 / variances
    q = (w * (y - (w * y).sum() / w.sum()) ** 2).sum()
    tau2 = max(0.0, (q - y.size + 1) / (w.sum() - (w**2).sum() / w.sum()))
    w = 1 / (variances + tau2)
    value = (w * y).sum() / w.sum()
    se = np.sqrt((w * (y - value) ** 2).sum() / ((y.size - 1) * w.sum()))
    half = special.stdtrit(y.size - 1, 0.975) * se
    return Interval(value - half, value + half, 0.95, "HKSJ")


def pooling_table(studies, broken):
    rng = np.random.default_rng([SEED, 3])
    rows = []
    designs = ((11, 0.0, 0.0), (11, 0.05, 0.0), (11, 0.05, 0.15), (5, 0.05, 0.05))
    for endpoints, tau_e, tau_w in designs:
        hits = np.zeros(4)
        for _ in range(studies):
            effect = 0.1 + rng.normal(0, tau_e, endpoints) if tau_e else np.full(endpoints, 0.1)
            y = effect + rng.normal(0, tau_w, (256, 1)) + rng.normal(0, 0.3, (256, endpoints))
            these, like = these_endpoints(y).interval, endpoints_like_these(y).interval
            knapp = knapp_hartung(y.mean(0), y.var(0, ddof=1) / 256)
            pairs = ((these, effect.mean()), (these, 0.1), (like, 0.1), (knapp, 0.1))
            hits += [i.low <= truth <= i.high for i, truth in pairs]
        name = f"E={endpoints} tau_e={tau_e} tau_w={tau_w}"
        rows.append([name, *(f"{h / studies:.3f}" for h in hits)])
        check(broken, f"these endpoints, {name}", 1 - hits[0] / studies, 0.08)
        check(broken, f"endpoints like these, {name}", 1 - hits[2] / studies, 0.08)
    header = [
        "design",
        "t over worlds (these endpoints)",
        "t over worlds (population)",
        "two-way t(E - 1) (population)",
        "HKSJ (population)",
    ]
    return table("Pooling, two-sided 95 %: coverage of the target in brackets", header, rows)


def cluster_table(studies, broken):
    rng = np.random.default_rng([SEED, 4])
    rows = []
    for groups, size, (a, b) in (
        (25, 30, (6, 1.5)),
        (25, 30, (60, 15)),
        (8, 4, (6, 1.5)),
        (85, 9, (9, 0.5)),
    ):
        truth, hits = a / (a + b), np.zeros(2)
        for _ in range(studies):
            counts = rng.binomial(size, rng.beta(a, b, groups))
            own = share_of_clusters(counts, np.full(groups, size))[1]
            plain = clopper_pearson(counts.sum(), groups * size)
            hits += [i.low <= truth <= i.high for i in (own, plain)]
        name = f"{groups} clusters of {size}, shares Beta({a:g}, {b:g})"
        rows.append([name, f"{truth:.3f}", *(f"{h / studies:.3f}" for h in hits)])
        check(broken, name, 1 - hits[0] / studies, 0.08)
    header = ["design", "truth", "effective n over clusters", "all draws independent"]
    return table("Clustered share, two-sided 95 %: coverage of Clopper-Pearson", header, rows)


INTRO = """# Coverage of intervals for paired shares

Made by `python benchmarks/coverage_paired.py --profile full`; do not edit.
Each row of the first four tables rests on {studies:,} simulated studies (Monte Carlo standard
error {se:.4f} at 5 %), pools and clusters on {fewer:,}.
The one-sided tables show the level at which preregistered claims (*present*, *large*,
*negligible*) are made: a lower bound that misses low is a false *present* or *large*, an upper
bound that misses high a false *negligible*.

"""


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--profile", choices=sorted(STUDIES), default="ci")
    parser.add_argument("--out", type=Path, help="write the tables to this Markdown file")
    options = parser.parse_args(argv)
    studies, broken = STUDIES[options.profile], []
    fewer = studies // 4
    tables = [*paired_tables(studies, broken), *interaction_tables(studies, broken)]
    tables += [pooling_table(fewer, broken), cluster_table(fewer, broken)]
    se = np.sqrt(0.05 * 0.95 / studies)
    text = INTRO.format(studies=studies, se=se, fewer=fewer)
    text += summary() + "\n".join(tables)
    if options.out:
        options.out.write_text(text, encoding="utf-8")
    else:
        print(text)
    for line in broken:
        print(f"broken: {line}", file=sys.stderr)
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
