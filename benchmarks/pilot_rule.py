"""How often the freeze rule lets a gate through on a pilot, against the plug-in rule.

The requirement is a flip rate of at most .10, and so is degraded; healthy is .05. The planned gate
asks 264 items twice and decides by the bound: it passes a true .05 with .93 and a true .10 with
.05, so that what remains to be told is whether the instrument is capable. Pilots have 3 repeats in
2 windows, six readings an item. Two rules:

* bound: the one-sided .1 bound of the pilot's flip rate is below degraded (`operating.capable`);
* plug-in: the pilot's estimate, taken for the truth, passes the planned gate with chance >= .9.

Instruments: every item flips alike, or a share of the items is noisy and the rest never flips.

    python benchmarks/pilot_rule.py [ci|full] [--write docs/pilot-rule.md]
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from judgeaudit.stats.agreement import effective_proportion
from judgeaudit.stats.interval import Undefined
from judgeaudit.stats.operating import CAPABLE_LEVEL, capable
from judgeaudit.verdict.oc.instrument import Precision, Region

REQUIRED, HEALTHY = 0.10, 0.05
PLANNED, READINGS, ALPHA = 264, 6, 0.05
PILOTS = {"ci": 500, "full": 5000}
SIZES = (50, 100)
NOISY = (1.0, 0.4, 0.21)
"""Share of items that flip at all; .21 is the least with which a flip rate of .10 can be made."""


def pilot(rng: np.random.Generator, items: int, flip: float, noisy: float) -> NDArray[np.float64]:
    """Return each item's share of unlike pairs among six readings, at a mean flip rate `flip`."""
    inner = min(flip / noisy, 0.5)
    chance = (1 - math.sqrt(1 - 2 * inner)) / 2
    ones = np.where(rng.random(items) < noisy, rng.binomial(READINGS, chance, items), 0)
    return np.asarray(ones * (READINGS - ones) / math.comb(READINGS, 2))


def rules(values: NDArray[np.float64]) -> tuple[bool, bool]:
    """Return whether the bound rule and the plug-in rule let a pilot through."""
    found = effective_proportion(values, np.full(values.size, float(math.comb(READINGS, 2))))
    if isinstance(found, Undefined):
        return False, False
    plan = Precision("share", PLANNED, draws=PLANNED)
    passes = plan.chances(found.value, Region(high=REQUIRED), "bound", ALPHA).passes
    able = capable(found.interval(CAPABLE_LEVEL), REQUIRED, higher_is_better=False)
    return bool(able), passes >= 0.9


def shares(items: int, flip: float, noisy: float, pilots: int) -> tuple[float, float]:
    """Return how often each rule lets through, over simulated pilots."""
    rng = np.random.default_rng([items, round(1000 * flip), round(1000 * noisy)])
    found = np.array([rules(pilot(rng, items, flip, noisy)) for _ in range(pilots)])
    bound, plug_in = found.mean(axis=0)
    return float(bound), float(plug_in)


def rows(pilots: int) -> Iterator[tuple[float, int, float, float, float, float]]:
    """Yield noisy share, items, and let through at the boundary and refused at half of it."""
    for noisy in NOISY:
        for items in SIZES:
            at, good = (shares(items, flip, noisy, pilots) for flip in (REQUIRED, HEALTHY))
            yield noisy, items, at[0], at[1], 1 - good[0], 1 - good[1]


def table(pilots: int) -> str:
    """Return the table as Markdown."""
    head = (
        "| items that flip at all | pilot items | let through at the boundary (<= .10): bound | "
        "plug-in | refused at half of it (<= .15): bound | plug-in |\n|---|---|---|---|---|---|\n"
    )
    return head + "".join(
        f"| {noisy:.0%} | {items} | {a:.3f} | {b:.3f} | {c:.3f} | {d:.3f} |\n"
        for noisy, items, a, b, c, d in rows(pilots)
    )


def main(arguments: list[str]) -> None:
    """Print the table, and write it between the marks of a page if one is named."""
    profile = next((a for a in arguments if a in PILOTS), "ci")
    found = table(PILOTS[profile])
    print(f"{PILOTS[profile]} pilots a cell\n\n{found}")
    if "--write" in arguments:
        page = Path(arguments[arguments.index("--write") + 1])
        before, _, rest = page.read_text(encoding="utf-8").partition("<!-- table -->\n")
        after = rest.partition("<!-- end -->")[2]
        text = f"{before}<!-- table -->\n{found}<!-- end -->{after}"
        page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
