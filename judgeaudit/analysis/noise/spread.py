"""Variance components item x window x repeat, and what a design of windows and repeats would give.

* `component`: the variance of items, windows, items by window, repeats, in squared scale units. The
  windows' own is flagged below five windows: with two it is negative in a quarter of studies.
* `design_reliability`: the generalizability coefficient of a mean over W windows and R repeats, for
  the designs of at most `params.calls` calls an item, the best first.
* `window_shift`: mean of the last window less that of the first.
"""

from __future__ import annotations

import math
from functools import partial

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from judgeaudit.analysis.agreement.repeatability import numbers
from judgeaudit.analysis.build import context
from judgeaudit.analysis.estimate import Estimate
from judgeaudit.analysis.grid import Grid
from judgeaudit.analysis.pairing import row_clusters
from judgeaudit.analysis.proven import never
from judgeaudit.analysis.question import Question
from judgeaudit.statistic import DESIGNS, WHOLE, Coverage, Statistic, whole, words
from judgeaudit.stats.components import (
    ESTIMABLE_WINDOWS,
    design_study,
    variance_components,
)
from judgeaudit.stats.drift import mean_shift
from judgeaudit.stats.interval import Undefined
from judgeaudit.stats.scaled import MIN_ITEMS

Floats = NDArray[np.float64]
CALLS = 8


def cube(grid: Grid) -> Floats:
    """Return numbers as rows x windows x repeats, nan where there is none."""
    values = grid.numbers()
    windows = pd.factorize(grid.columns["window"])[0]
    repeats = grid.columns.groupby("window", sort=False).cumcount().to_numpy()
    found = np.full((len(values), windows.max() + 1, repeats.max() + 1), np.nan)
    found[:, windows, repeats] = values
    return found


def component(part: pd.DataFrame, question: Question) -> list[Estimate]:
    """Return the variance components; the first is that of items."""
    said = context("component", part, question)
    found = variance_components(cube(numbers(part)))
    if isinstance(found, Undefined):
        return [said.none(found.reason)]
    flag = f"fewer than {ESTIMABLE_WINDOWS} windows: not estimable"
    details = {"confounded": found.confounded, "balanced": found.balanced}
    parts = {
        "items": found.items,
        "windows": found.windows,
        "items_by_window": found.items_by_window,
        "repeats": found.repeats,
    }
    excluded = {
        **said.excluded,
        **({"item_without_reading": found.dropped} if found.dropped else {}),
    }
    estimates = []
    for name, value in parts.items():
        flagged = name == "windows" and not found.window_estimable
        estimate = said.of(
            value,
            scope=f"component={name}",
            details=details,
            excluded=excluded,
            n={**said.n, "items": found.n_items, "windows": found.n_windows},
        )
        estimates.append(estimate.with_caveats(flag) if flagged else estimate)
    return estimates


def design_reliability(part: pd.DataFrame, question: Question) -> list[Estimate]:
    """Return the reliability of a mean for each design of windows and repeats, best first."""
    said = context("design_reliability", part, question)
    found = variance_components(cube(numbers(part)))
    if isinstance(found, Undefined):
        return [said.none(found.reason)]
    designs = design_study(found, question.whole("calls", CALLS))
    return [
        said.plain(
            design.relative,
            "evaluated at the estimated components: no interval",
            scope=f"windows={design.windows}, repeats={design.repeats}",
            unit=f"mean of {design.calls}",
            details={"absolute": design.absolute, "calls": design.calls},
        )
        for design in designs
        if np.isfinite(design.relative)
    ] or [said.none("no variance at all")]


def window_shift(part: pd.DataFrame, question: Question) -> list[Estimate]:
    """Return the mean score of the last window less that of the first, over items in both."""
    grid = numbers(part)
    said = context("window_shift", part, question)
    values = cube(grid)
    if values.shape[1] < 2:
        return [said.none("needs two windows")]
    return [said.of(mean_shift(values[:, 0], values[:, -1], row_clusters(grid, question)))]


_spread = partial(
    Statistic,
    reads=("number",),
    kind="plain",
    claims=words("score probability"),
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
)

STATISTICS = (
    _spread(
        name="window_shift",
        compute=window_shift,
        told=words("score probability"),
        bounds=(-math.inf, math.inf),
        least_units=MIN_ITEMS,
        better="",
        label="mean shift, last window less first (scale units)",
        unit="scale units",
        covered=Coverage("mean shift", never),
        params=(),
        why_no_gate="",
    ),
    _spread(
        name="component",
        compute=component,
        told=frozenset(),
        bounds=(-math.inf, math.inf),
        least_units=MIN_ITEMS,
        better="",
        label="variance component",
        unit="squared scale units",
        covered=None,
        params=(),
        why_no_gate=DESIGNS,
    ),
    _spread(
        name="design_reliability",
        compute=design_reliability,
        told=frozenset(),
        bounds=(-math.inf, 1.0),
        least_units=0,
        better="high",
        label="reliability of a mean over windows and repeats",
        unit="coefficient",
        covered=None,
        params=(whole("calls", "most calls an item", 1),),
        why_no_gate=DESIGNS,
    ),
)
