"""Error and cost of gates that stop early, beside two ways of doing it wrong.

    python benchmarks/sequential_gate.py --profile ci      seconds; exit 1 if a promise is broken
    python benchmarks/sequential_gate.py --profile full --out docs/sequential-gate.md

Flip gate: threshold .10, alpha .05 a side, at most 400 re-asked items. Spearman gate: threshold
.90, looks every 20 items from 40 to 400, z from the jackknife of atanh. Cells read
pass / fail; mean items.
"""

from __future__ import annotations

import argparse
import dataclasses
import sys
from pathlib import Path

import numpy as np
from planted import Judge, true_spearman
from scipy import optimize, special

from judgeaudit.stats.interval import Undefined
from judgeaudit.stats.looks import plan_looks, z_at_look
from judgeaudit.stats.proportions import normal_quantile
from judgeaudit.stats.ranks import spearman_between
from judgeaudit.stats.sequential import first_crossings, stop_flip_gates

SEED = 20_250_930
RUNS = {"ci": (2000, 40), "full": (10_000, 250)}
FLIP_RATES = (0.0, 0.02, 0.05, 0.08, 0.1, 0.12, 0.15, 0.2, 0.3)
LOOKS = tuple(range(40, 401, 20))
Z = normal_quantile(0.9)  # one-sided 5 %


def naive_peeking(flips, threshold, alpha=0.05):
    """Stop as soon as a one-sided Clopper-Pearson bound at `alpha` clears the threshold.

    Shown for comparison only: looking after each item, it errs four times as often as
    `alpha` says.
    """
    s, n = flips.cumsum(axis=1).astype(int), np.arange(1, flips.shape[1] + 1)
    # upper < T exactly when P(X <= s | T) < alpha, lower > T when P(X >= s | T) < alpha.
    passes = special.bdtr(s, n, threshold) < alpha
    fails = (s > 0) & (special.bdtrc(np.maximum(s - 1, 0), n, threshold) < alpha)
    return first_crossings(passes, fails)


def fixed_order_reused(
    item_rates,
    threshold,
    *,
    rng,
    alpha=0.05,
    runs=2000,
    fresh_order=False,
):
    """Simulate nightly runs over the same items, whose flip chances differ.

    With the order fixed, every night asks the same first items, and the gate decides
    about those instead of the battery; with `fresh_order` each night draws its own.
    """
    order = np.tile(item_rates, (runs, 1))
    if fresh_order:
        order = rng.permuted(order, axis=1)
    flips = (rng.random(order.shape) < order).astype(float)
    return stop_flip_gates(flips, threshold, alpha)


def sequence_inflation(n, alpha=0.05, rho2=0.02):
    """Factor on the fixed-sample SE that makes bounds valid at every n at once.

    sqrt(2 (n r + 1)/(n r) log(sqrt(n r + 1)/(2 alpha))), `alpha` per side; `rho2` = r sets
    where the sequence is tightest (.02: near 200-400 items). Asymptotic: not before ~40 items.
    """
    scaled = np.asarray(n, float) * rho2
    return np.asarray(
        np.sqrt(2 * (scaled + 1) / scaled * np.log(np.sqrt(scaled + 1) / (2 * alpha)))
    )


def cell(stops):
    return f"{stops.rate('pass'):.3f} / {stops.rate('fail'):.3f}; {stops.mean_items:.0f}"


def mixed_items(rate, items=400):
    """Battery whose first quarter never flips and whose mean is `rate`."""
    quiet = items // 4
    return np.concatenate([np.zeros(quiet), np.full(items - quiet, rate * 4 / 3)])


def flip_rows(runs, broken):
    rows = []
    for number, rate in enumerate(FLIP_RATES):
        rng = np.random.default_rng([SEED, number])
        flips = (rng.random((runs, 400)) < rate).astype(float)
        sound, naive = stop_flip_gates(flips, 0.1), naive_peeking(flips, 0.1)
        battery = mixed_items(rate)
        fixed = fixed_order_reused(battery, 0.1, rng=rng, runs=runs)
        fresh = fixed_order_reused(battery, 0.1, rng=rng, runs=runs, fresh_order=True)
        rows.append([f"{rate:.2f}", *(cell(s) for s in (sound, naive, fresh, fixed))])
        limit = 0.05 + 4 * np.sqrt(0.05 * 0.95 / runs)
        if rate >= 0.1 and sound.rate("pass") > limit:
            broken.append(f"flip {rate}: passes {sound.rate('pass'):.3f}")
        if rate <= 0.1 and sound.rate("fail") > limit:
            broken.append(f"flip {rate}: fails {sound.rate('fail'):.3f}")
        bound = {0.0: 60, 0.2: 130}.get(rate)
        if bound and sound.mean_items > bound:
            broken.append(f"flip {rate}: {sound.mean_items:.0f} items")
    return rows


def judge_with(scale, rho):
    """Planted judge on a scale whose population Spearman is `rho`."""

    def judge(sd):
        return Judge(scale, 0.0, ((1.0, float(sd)),))

    return judge(optimize.brentq(lambda sd: true_spearman(judge(sd)) - rho, 0.02, 3.0, xtol=1e-5))


def z_path(scores, threshold):
    """Z at each look for one stream of items."""
    path = []
    for n in LOOKS:
        found = spearman_between(scores[:n, 0], scores[:n, 1])
        if isinstance(found, Undefined):
            path.append(np.nan)
            continue
        e = found.estimate
        path.append(
            z_at_look(np.arctanh(min(e.value, 1 - 1e-9)), e.se, np.arctanh(threshold), e.df)
        )
    return path


def spearman_stops(z, bound):
    stops = first_crossings(z >= bound, z <= -np.asarray(bound))
    items = np.asarray(LOOKS)[stops.items - 1]
    return dataclasses.replace(stops, items=items)


def spearman_rows(runs, broken):
    bounds = {
        "OBF": np.array(plan_looks(LOOKS, 0.05, "obf").bounds),
        "Pocock": np.array(plan_looks(LOOKS, 0.05, "pocock").bounds),
        "sequence": sequence_inflation(np.array(LOOKS)),
        "naive": np.full(len(LOOKS), Z),
    }
    rows = []
    for scale in ("continuous", "balanced5"):
        for rho in (0.8, 0.85, 0.9, 0.93, 0.95):
            judge, rng = judge_with(scale, rho), np.random.default_rng([SEED, int(1000 * rho)])
            z = np.array([z_path(judge.draw(rng, 400, 2, 1), 0.9) for _ in range(runs)])
            stops = {name: spearman_stops(z, bound) for name, bound in bounds.items()}
            rows.append([f"{rho:.2f} {scale}", *(cell(s) for s in stops.values())])
            limit = 0.06 + 4 * np.sqrt(0.05 * 0.95 / runs)
            errs = {"pass": rho <= 0.9, "fail": rho >= 0.9}
            for name in ("OBF", "Pocock", "sequence"):
                for outcome in (o for o, wrong in errs.items() if wrong):
                    if stops[name].rate(outcome) > limit:
                        rate = stops[name].rate(outcome)
                        broken.append(f"{name}, rho {rho} {scale}: {outcome} {rate:.3f}")
    return rows


def table(title, header, rows):
    lines = [f"## {title}", "", "| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows), ""])


INTRO = """# Gates that stop early

Made by `python benchmarks/sequential_gate.py --profile full`; do not edit.
Cells read pass / fail; mean number of items, over {flips:,} runs for flips and {ranks:,} for
Spearman.
A sound gate passes and fails each with chance at most .05 at its threshold.

"""


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--profile", choices=sorted(RUNS), default="ci")
    parser.add_argument("--out", type=Path, help="write the tables to this Markdown file")
    options = parser.parse_args(argv)
    (flips, ranks), broken = RUNS[options.profile], []
    header = [
        "true flip rate",
        "e-process",
        "peeking at the 5 % bound after every item",
        "e-process, quarter of items quiet, order drawn anew",
        "the same, fixed order re-used",
    ]
    tables = [
        table("Flip gate at .10", header, flip_rows(flips, broken)),
        table(
            "Spearman gate at .90",
            ["true rho", "O'Brien-Fleming", "Pocock", "asymptotic sequence", "naive peeking"],
            spearman_rows(ranks, broken),
        ),
    ]
    text = INTRO.format(flips=flips, ranks=ranks) + "\n".join(tables)
    if options.out:
        options.out.write_text(text, encoding="utf-8")
    else:
        print(text)
    for line in broken:
        print(f"broken: {line}", file=sys.stderr)
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
