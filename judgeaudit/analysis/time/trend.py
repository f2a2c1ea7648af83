"""What windows do in turn: the slope of their means, and whether reliability has changed.

* `window_trend`: slope of mean scores over the windows' order, in scale units a window; windows are
  what is independent, so the interval speaks of windows like these.
* `reliability_change`: Spearman of repeats in the last window less that in the first.
"""

from __future__ import annotations

import math
from functools import partial

import numpy as np
import pandas as pd

from judgeaudit.analysis.agreement.repeatability import numbers
from judgeaudit.analysis.build import context
from judgeaudit.analysis.estimate import Estimate
from judgeaudit.analysis.noise.spread import cube
from judgeaudit.analysis.pairing import row_clusters
from judgeaudit.analysis.question import Question
from judgeaudit.statistic import WHOLE, Statistic, words
from judgeaudit.stats.drift import LEAST_WINDOWS, reliability_change, trend
from judgeaudit.stats.interval import Undefined
from judgeaudit.stats.scaled import MIN_ITEMS


def window_trend(part: pd.DataFrame, question: Question) -> list[Estimate]:
    """Return the slope of window means; undefined below four windows."""
    grid = numbers(part)
    said = context("window_trend", part, question)
    values = cube(grid)
    windows = values.shape[1]
    if windows < LEAST_WINDOWS:
        return [said.none(f"needs >= {LEAST_WINDOWS} windows")]
    found = trend(values, np.arange(windows, dtype=np.float64))
    if isinstance(found, Undefined):
        return [said.none(found.reason)]
    n = {**said.n, "windows": windows}
    return [said.of(found.windows_like_these, n=n, cluster="window")]


def change_of_reliability(part: pd.DataFrame, question: Question) -> list[Estimate]:
    """Return the last window's Spearman of repeats less the first's; undefined without repeats."""
    grid = numbers(part)
    said = context("reliability_change", part, question)
    values = cube(grid)
    if values.shape[1] < 2 or values.shape[2] < 2:
        return [said.none("needs two windows with two repeats each")]
    found = reliability_change(values[:, 0], values[:, -1], row_clusters(grid, question))
    return [said.of(found)]


_over_windows = partial(
    Statistic,
    reads=("number",),
    kind="plain",
    claims=words("score probability"),
    told=words("score probability"),
    over=WHOLE,
    needs=words("windows"),
    subject="precision",
    answers=(),
    defaults=frozenset(),
    example=None,
    per_pair=False,
    whole_table=False,
    floor=False,
    kappa=None,
    greatest=False,
    redesigns=frozenset(),
    better="",
    covered=None,
    params=(),
    why_no_gate="",
)

STATISTICS = (
    _over_windows(
        name="window_trend",
        compute=window_trend,
        bounds=(-math.inf, math.inf),
        least_units=LEAST_WINDOWS,
        label="slope of window means (scale units a window)",
        unit="scale units a window",
    ),
    _over_windows(
        name="reliability_change",
        compute=change_of_reliability,
        bounds=(-2.0, 2.0),
        least_units=MIN_ITEMS,
        label="reliability, last window less first (Spearman)",
        unit="coefficient",
    ),
)
