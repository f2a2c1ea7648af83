"""Coverage of a memory-luck contrast where effects differ between worlds and lessons are lost.

    python benchmarks/coverage_luck_design.py --profile ci      seconds; exit 1 if a bound is broken
    python benchmarks/coverage_luck_design.py --profile full --out docs/coverage-luck-design.md

CARRY of .10 in the mean: the same in every world, twice that where the worse tool is shown first,
or twice that in half of all settings (each carries with chance one half; "strong": of .30). Lessons
of failure are lost not at all, at random (30 %), or because of what they would have done: in 60 %
of the worlds where the choice would have been the worse tool, and in 10 % of the others.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from scipy import special

from judgeaudit.analysis.luck.answers import Answers
from judgeaudit.analysis.luck.attrition import bounds_of
from judgeaudit.analysis.luck.declared import Contrast, signed
from judgeaudit.analysis.luck.effects import effects_of

STUDIES = {"ci": 200, "full": 2000}
SEED = 20_261_201
Z = special.ndtri(0.975)
CELLS = ("FF", "FU", "SS", "SU")
CARRY = Contrast("carry", "all", signed(("FF", 1), ("FU", -1), ("SS", -1), ("SU", 1)))
BASE, EFFECT, STRONG, SETTINGS = 0.05, 0.10, 0.30, 16
PATTERNS = ("even", "by order", "by setting", "by setting, strong")
LOSSES = ("none", "30 % at random", "selective")
WORLDS = (40, 120, 256)
LEAST = 0.93
"""What a default interval must cover, where the target is the one named and loss is random."""


@dataclass(frozen=True)
class Row:
    """One design: coverage by target, bounds, and mean widths."""

    worlds: int
    pattern: str
    loss: str
    these: float
    population: float
    clustered: float
    bounds: float
    width: float
    bounds_width: float


def effect_of(pattern):
    """Return the mean effect of a pattern."""
    return STRONG if pattern == "by setting, strong" else EFFECT


def effects_by_world(rng, pattern, studies, worlds):
    """Return the chance that luck adds in each world, studies x worlds."""
    number = np.arange(worlds)
    if pattern == "even":
        return np.full((studies, worlds), EFFECT)
    if pattern == "by order":
        return np.broadcast_to(np.where(number // SETTINGS % 2, 2 * EFFECT, 0.0), (studies, worlds))
    carries = rng.random((studies, SETTINGS)) < 0.5
    return np.where(carries, 2 * effect_of(pattern), 0.0)[:, number % SETTINGS]


def simulate(rng, pattern, loss, studies, worlds):
    """Return the answers of `studies` studies, one in the place of each endpoint, and effects."""
    added = effects_by_world(rng, pattern, studies, worlds)
    chances = np.full((studies, 4, worlds), BASE)
    chances[:, 0] += added
    worse = (rng.random((studies, 4, worlds)) < chances).astype(np.int64)
    lost = np.zeros((studies, worlds), dtype=bool)
    if loss == "30 % at random":
        lost = rng.random((studies, worlds)) < 0.3
    elif loss == "selective":
        lost = rng.random((studies, worlds)) < np.where(worse[:, 0] == 1, 0.6, 0.1)
    valid = np.ones_like(worse)
    # The unrelated memory of a failure is matched to the own lesson: both cells lose the world.
    valid[:, :2][np.broadcast_to(lost[:, None], (studies, 2, worlds))] = 0
    settings = tuple(f"s{n % SETTINGS}" for n in range(worlds))
    answers = Answers(
        tuple(map(str, range(studies))), CELLS, tuple(map(str, range(worlds))),
        worse * valid, valid, np.ones_like(worse), 1 - valid, {},
    )  # fmt: skip
    return answers, added, settings


def covered(low, high, truth):
    return float(np.mean((low <= truth + 1e-12) & (truth - 1e-12 <= high)))


def measure(pattern, loss, studies, worlds):
    """Return one row of the table."""
    rng = np.random.default_rng([SEED, worlds, PATTERNS.index(pattern), LOSSES.index(loss)])
    answers, added, settings = simulate(rng, pattern, loss, studies, worlds)
    effects = effects_of(answers, CARRY)
    low, high = effects.ends(Z, "tango")
    here = added.mean(axis=1)
    truth = float(here[0]) if pattern == "by order" else effect_of(pattern)
    by_setting = effects_of(_clustered(answers, settings), CARRY).ends(Z, "tango")
    told = [bounds_of(effects.lowest[k], effects.highest[k], 0.95) for k in range(studies)]
    b_low, b_high = (np.array([getattr(b, end) for b in told]) for end in ("low", "high"))
    return Row(
        worlds, pattern, loss,
        covered(low, high, here),
        covered(low, high, truth),
        covered(*by_setting, truth),
        covered(b_low, b_high, here),
        float(np.mean(high - low)),
        float(np.mean(b_high - b_low)),
    )  # fmt: skip


def _clustered(answers, settings):
    return replace(answers, clusters=settings)


def slack(studies):
    return 3 * np.sqrt(0.05 * 0.95 / studies)


def broken(row, studies):
    """Yield what a row promises and does not keep."""
    where = f"{row.worlds} worlds, {row.pattern}, loss {row.loss}"
    least = LEAST - slack(studies) if studies < 1000 else LEAST
    if row.loss != "selective":
        if row.these < least:
            yield f"{where}: default, these settings: {row.these:.3f}"
        if not row.pattern.startswith("by setting") and row.population < least:
            yield f"{where}: default: {row.population:.3f}"
        if row.clustered < least:
            yield f"{where}: settings as clusters: {row.clustered:.3f}"
    if row.bounds < 0.95 - slack(studies):
        yield f"{where}: bounds: {row.bounds:.3f}"


INTRO = """# Coverage where effects differ between worlds and lessons are lost

Made by `python benchmarks/coverage_luck_design.py --profile full`; do not edit.
{studies:,} simulated studies a row (Monte Carlo standard error {se:.3f} at .95); {settings}
settings.
CARRY is .10 in the mean (.30 where strong), every cell at .05 without it, one call a cell.

* *These settings*: does the default interval (MOVER of Tango over worlds) cover the mean effect in
  the settings that were asked? *Settings like these*: the mean effect in the population they come
  from. *By settings*: the interval of `cluster = "domain"` (t over settings), for that population.
* *Bounds*: does the Imbens-Manski interval over all planned worlds cover the effect?

What to take from it:

* The default interval covers what it names: worlds in these settings. Where half of the settings
  carry, it does not cover settings like these, and every estimate says which settings it speaks of;
  `cluster = "domain"` does cover them.
* Loss at random costs width. Selective loss moves the estimate, and no interval of what came covers
  it; the bounds do, and a gate that they could turn is inconclusive.

| worlds | effect | lessons lost | these settings | settings like these | by settings | bounds | \
width | bounds' width |
|---|---|---|---|---|---|---|---|---|
"""


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--profile", choices=sorted(STUDIES), default="ci")
    parser.add_argument("--out", type=Path, help="write the table to this Markdown file")
    options = parser.parse_args(argv)
    studies, wrong, lines = STUDIES[options.profile], [], []
    for worlds in WORLDS:
        for pattern in PATTERNS:
            for loss in LOSSES:
                row = measure(pattern, loss, studies, worlds)
                wrong += broken(row, studies)
                cells = (row.these, row.population, row.clustered, row.bounds)
                shares = " | ".join(f"{cell:.3f}" for cell in cells)
                lines.append(
                    f"| {worlds} | {pattern} | {loss} | {shares} | {row.width:.3f} | "
                    f"{row.bounds_width:.3f} |"
                )
    se = np.sqrt(0.05 * 0.95 / studies)
    text = INTRO.format(studies=studies, se=se, settings=SETTINGS) + "\n".join(lines) + "\n"
    if options.out:
        options.out.write_text(text, encoding="utf-8")
    else:
        print(text)
    for line in wrong:
        print(f"broken: {line}", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
