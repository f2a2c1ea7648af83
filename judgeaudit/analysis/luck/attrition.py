"""What was lost, and what it could have changed.

A lesson that was not written, or a choice that was not made, may be lost *because of* what it would
have been. So beside every contrast stand

* the counts of planned, lost-lesson and lost-choice calls of each of its cells;
* the worst cases: each missing choice taken for the worse tool or for the better one, whichever
  moves the contrast most (Horowitz and Manski 2000), over all planned worlds;
* an interval for what lies between them (Imbens and Manski 2004): both ends of t over worlds at a
  quantile c with Phi(c + width/SE) - Phi(-c) = level, so that it is one-sided where the bounds are
  wide, and two-sided where nothing is missing;
* a test of whether more was lost in the cells that are added than in those that are subtracted:
  exact sign test over worlds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, special, stats

from judgeaudit.analysis.luck.answers import NO_MEMORY, NO_TOOL, UNDELIVERED, Answers, kind_of
from judgeaudit.analysis.luck.effects import Effects
from judgeaudit.analysis.luck.skew import skewed_t
from judgeaudit.stats.interval import Undefined

Floats = NDArray[np.float64]
FEW_WORLDS, FEW_MOVING = 30, 10


@dataclass(frozen=True, slots=True)
class Bounds:
    """The two worst cases, the interval around what lies between them, and its level."""

    least: float
    greatest: float
    low: float
    high: float
    level: float

    def to_dict(self) -> dict[str, object]:
        """Return JSON values."""
        return {
            "worst": [self.least, self.greatest],
            "interval": [self.low, self.high],
            "level": self.level,
            "method": "Imbens-Manski on Horowitz-Manski bounds, t over worlds",
        }


def imbens_manski_quantile(width: float, se: float, level: float) -> float:
    """Return c with Phi(c + width/se) - Phi(-c) = level.

    1.96 at width 0 for .95, falling to 1.645 as the width grows; `se` 0 counts as wide.
    """
    one_sided, two_sided = (float(special.ndtri(q)) for q in (level, 0.5 + level / 2))
    if width <= 0:
        return two_sided
    if se <= 0 or width / se > 12:
        return one_sided

    def lacks(c: float) -> float:
        return float(special.ndtr(c + width / se) - special.ndtr(-c)) - level

    return float(optimize.brentq(lacks, one_sided - 1e-9, two_sided + 1e-9))


def bounds_of(lowest: Floats, highest: Floats, level: float) -> Bounds | Undefined:
    """Return the bounds over worlds from the worst cases of each; nan is a world that is not there.

    Undefined below two worlds.
    """
    kept = ~np.isnan(lowest)
    low, high = lowest[kept], highest[kept]
    if low.size < 2:
        return Undefined("needs >= 2 worlds")
    se = max(float(part.std(ddof=1)) for part in (low, high)) / np.sqrt(low.size)
    least, greatest = float(low.mean()), float(high.mean())
    c = imbens_manski_quantile(greatest - least, float(se), level)
    at = float(2 * special.ndtr(c) - 1)
    below, above = skewed_t(low, at), skewed_t(high, at)
    if isinstance(below, Undefined) or isinstance(above, Undefined):
        return Undefined("needs >= 2 worlds")
    return Bounds(least, greatest, below[1].low, above[1].high, level)


def losses(answers: Answers, cells: Sequence[str], endpoints: Sequence[int]) -> dict[str, Any]:
    """Return by cell how many calls were planned, and how many had no memory, tool or reply."""
    found: dict[str, Any] = {}
    for cell, place in zip(cells, answers.places(cells), strict=True):
        counts = {"planned": int(answers.planned[list(endpoints), place].sum())}
        counts |= {NO_MEMORY: 0, NO_TOOL: 0, UNDELIVERED: 0}
        for reason, by_cell in answers.reasons.items():
            counts[kind_of(reason)] += int(by_cell[list(endpoints), place].sum())
        found[cell] = counts
    return found


def lost_unequally(lost: Floats) -> float | None:
    """Return the two-sided p of the exact sign test that worlds lose as much on either side.

    `lost` is, by world, calls lost in added cells less those lost in subtracted ones; None where
    no world differs.
    """
    more, less = int((lost > 0).sum()), int((lost < 0).sum())
    if not more + less:
        return None
    return float(stats.binomtest(more, more + less, 0.5).pvalue)


def unequal_by_side(answers: Answers, effects: Effects, endpoint: int) -> float | None:
    """Return the test of loss between the added and the subtracted cells of a contrast."""
    at = answers.places(effects.contrast.cells)
    lost = (answers.planned - answers.valid)[endpoint, at]
    signs = np.sign(effects.weights)[:, None]
    return lost_unequally((lost * signs).sum(axis=0).astype(float))


def warnings_of(effects: Effects, endpoint: int) -> list[str]:
    """Return what a reader must know of how little an interval rests on."""
    said = []
    n, moving = int(effects.n[endpoint]), int(effects.moving[endpoint])
    if effects.clusters:
        units = effects.worlds(endpoint).size
        if units < FEW_WORLDS:
            said.append(f"{units} clusters: with fewer than {FEW_WORLDS} the interval is rough")
    if n < FEW_WORLDS:
        said.append(f"{n} worlds: with fewer than {FEW_WORLDS} the interval is rough")
    if moving < FEW_MOVING:
        said.append(
            f"{moving} worlds move at all: with fewer than {FEW_MOVING} read the bounds, not the "
            "estimate"
        )
    return said


def loss_sentence(effects: Effects, endpoints: Sequence[int]) -> str:
    """Return which endpoints lost how much, "" where none did."""
    said = [
        f"{effects.endpoints[e]} {effects.missing[e]:.1%}" for e in endpoints if effects.missing[e]
    ]
    return f"worlds lost: {', '.join(said)}" if said else ""
