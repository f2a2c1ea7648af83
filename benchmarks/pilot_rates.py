"""What pilots of planted judges are told: capable, not capable, too small to tell.

A gate asks flips of at most the middle of healthy and degraded. Each pilot asks n items three times
in two windows; its flip rate within a window has Korn and Graubard's interval, and
`operating.capable` answers by the one-sided bounds at .1, as `judgeaudit pilot` does. Planted
judges: one that never flips, healthy, at the boundary (degraded itself), and twice as bad; with
noise in every item alike, and in few items.

    python benchmarks/pilot_rates.py [ci|full] [--write docs/pilot-rates.md]

Exit 1 if a judge without a flip is ever called not capable, if one at the boundary is called
capable more often than .1 and three Monte Carlo errors, or a healthy one not capable so often.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from judgeaudit.stats.agreement import effective_proportion
from judgeaudit.stats.interval import Undefined
from judgeaudit.stats.operating import CAPABLE_LEVEL, capable
from judgeaudit.verdict.oc.worlds import Where, readings

REQUIREMENTS = ((0.02, 0.04), (0.05, 0.10), (0.05, 0.20))
SIZES = (50, 100, 200)
WINDOWS, REPEATS = 2, 3
PAIRS = WINDOWS * math.comb(REPEATS, 2)
PILOTS = {"ci": 200, "full": 2000}
SEED = 12


def answers(name: str, rate: float, items: int, degraded: float, pilots: int) -> list[float]:
    """Return the shares of capable, not capable, too small among simulated pilots."""
    rng = np.random.default_rng([SEED, items, round(rate * 1e4), len(name)])
    usual = readings(name, rng, pilots, Where(items, 20), rate, WINDOWS * REPEATS)
    alike = np.zeros(usual.shape[:2])
    for first in range(0, WINDOWS * REPEATS, REPEATS):
        window = usual[..., first : first + REPEATS].sum(axis=2)
        alike += window * (window - 1) / 2
    told = [_told(1 - row / PAIRS, degraded) for row in alike]
    return [told.count(one) / pilots for one in (True, False, None)]


def _told(flips: np.ndarray, degraded: float) -> bool | None:
    found = effective_proportion(flips, np.full(flips.size, float(PAIRS)))
    assert not isinstance(found, Undefined)
    return capable(found.interval(CAPABLE_LEVEL), degraded, higher_is_better=False)


def rows(pilots: int, broken: list[str]) -> Iterator[str]:
    """Yield the table's rows; what breaks a promise is appended to `broken`."""
    limit = 0.1 + 3 * math.sqrt(0.09 / pilots)
    for healthy, degraded in REQUIREMENTS:
        for items in SIZES:
            levels = {"never flips": 0.0, "healthy": healthy, "boundary": degraded,
                      "twice degraded": 2 * degraded}  # fmt: skip
            for level, rate in levels.items():
                for name in ("even", "few items"):
                    able, unfit, small = answers(name, rate, items, degraded, pilots)
                    told = (
                        f"{healthy:g} / {degraded:g}, {level}, {name}, {items} items: "
                        f"capable {able:.3f}, not {unfit:.3f}"
                    )
                    if level == "never flips" and unfit > 0:
                        broken.append(told)
                    if level == "healthy" and unfit > limit:
                        broken.append(told)
                    if level == "boundary" and able > limit:
                        broken.append(told)
                    yield (
                        f"| {healthy:g} / {degraded:g} | {items} | {level} ({rate:g}) | {name} | "
                        f"{able:.3f} | {unfit:.3f} | {small:.3f} |"
                    )


INTRO = """# What a pilot says of planted judges

Made by `python benchmarks/pilot_rates.py full --write docs/pilot-rates.md`; do not edit.
{pilots:,} pilots a row, three repeats in two windows; rates are known to .03 at worst (three
errors). A judge without a flip is never called not capable; one at the boundary (degraded itself)
is called capable with chance of about .1 at most. A pilot that is too small says so: the gate then
waits for a larger one, and nothing is said against the judge.

| healthy / degraded | items | judge (flips) | noise | capable | not capable | too small to tell |
|---|---|---|---|---|---|---|
"""


def main(arguments: list[str]) -> int:
    """Print the table, or write it to a page."""
    pilots, broken = PILOTS[next((a for a in arguments if a in PILOTS), "ci")], []
    text = INTRO.format(pilots=pilots) + "\n".join(rows(pilots, broken)) + "\n"
    if "--write" in arguments:
        page = Path(arguments[arguments.index("--write") + 1])
        page.write_text(text, encoding="utf-8")
    else:
        print(text)
    for line in broken:
        print(f"broken: {line}", file=sys.stderr)
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
