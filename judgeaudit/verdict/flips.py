"""What a re-asked item shows: whether it flipped, and what its unit comes to. Pure.

* `flip_within` compares an item's two fresh readings, `flip_vs_baseline` its one fresh reading with
  one of the baseline's, drawn by the run's seed.
* An item without two valid readings shows nothing: None.
* A unit is a block (window) or a task; items of a unit are asked together.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from judgeaudit.stats.betting import unit_shares

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Flip = bool | None
BaselineReplies = Mapping[tuple[str, str], Sequence[str]]
"""(endpoint, item) -> the valid readings of the baseline's k replies."""


def within(part: pd.DataFrame) -> list[Flip]:
    """Return for each item, in order, whether its two readings differ; None without both."""
    found: list[Flip] = []
    for _, rows in part.groupby("item", sort=False):
        answers = rows.loc[rows["status"].eq("ok"), "category"].dropna().tolist()
        found.append(answers[0] != answers[1] if len(answers) == 2 and len(rows) == 2 else None)
    return found


def against(part: pd.DataFrame, reply: Callable[[str], str | None]) -> list[Flip]:
    """Return for each item whether its one reading differs from `reply(item)`."""
    found: list[Flip] = []
    for item, status, category in zip(part["item"], part["status"], part["category"], strict=True):
        stored = reply(str(item))
        found.append(None if status != "ok" or stored is None else category != stored)
    return found


def drawn(replies: Sequence[str], seed: int, item: str) -> str | None:
    """Return one of the baseline's replies, drawn by the run's seed; None where there is none."""
    if not replies:
        return None
    number = hashlib.sha256(f"{seed}\x1fbaseline\x1f{item}".encode()).digest()
    return replies[int.from_bytes(number[:8], "big") % len(replies)]


def unit_codes(part: pd.DataFrame, unit: str) -> Ints:
    """Return each item's unit, in order: the number of its block (window) or of its task."""
    column = "window" if unit == "block" else "task"
    first = part.drop_duplicates("item")[column].astype(str)
    return np.asarray(pd.factorize(first)[0], np.int64)


def unit_values(flips: Sequence[Flip], codes: Ints) -> tuple[Floats, Floats, Ints]:
    """Return each unit's share of flips, strict and lenient, and how many items end with it.

    Strict counts an item that cannot be compared as a flip; lenient leaves it out, nan where
    nothing is left.
    """
    x = np.array([np.nan if flip is None else float(flip) for flip in flips])
    strict, lenient = unit_shares(x[None], codes)
    return strict[0], lenient[0], np.bincount(codes).cumsum()
