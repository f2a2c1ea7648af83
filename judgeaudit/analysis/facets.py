"""The facets of a table, before any other number: what runs, windows, orders and judges do.

Pure: a matrix of items x columns with the facets of each column in, a `Facets` out. It is what a
report prints first, because every later number rests on it.

Rules of this module:

* A facet with two levels or more is described: each level's mean over the same items (scores) or
  its categories' shares, its readings, and a test that the levels do not differ. Tests over several
  facets are adjusted by Holm together; each names the levels that moved.
* Scores: variances of items, runs and the rest from items x columns. Resolution is that between two
  runs of one system, with sessions (windows) told apart where there are several.
* Categories have no mean: shares and flips stand in for it. A latent scale behind the labels would
  be an assumption that nothing here can check, so none is made.
* Empty cells: where they cluster, by run, item and kind of item.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from judgeaudit.readings.sheet import Coded, Sheet, windows_of
from judgeaudit.stats.agreement import category_counts
from judgeaudit.stats.facets import RunModel, run_model
from judgeaudit.stats.gaps import Gaps, gaps
from judgeaudit.stats.interval import Undefined
from judgeaudit.stats.multiplicity import holm
from judgeaudit.stats.resolution import Movers, Resolution, movers, resolution
from judgeaudit.stats.sessions import between_runs, between_sessions, within_sessions
from judgeaudit.stats.shifts import (
    CategoryShift,
    Shift,
    Trail,
    by_level,
    category_shift,
    change_point,
    level_shift,
)

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
ALPHA = 0.05
LEAST_TRAIL = 3


@dataclass(frozen=True, slots=True)
class Level:
    """One level of a facet: its name, readings, and mean (nan for categories) or shares."""

    name: str
    readings: int
    mean: float
    shares: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Facet:
    """One facet: its levels, the test that they do not differ, and what that says.

    `p` is the test's own p value, `adjusted` that after Holm over the facets; `named` are the
    levels that moved. `untested` says why there is no test. `balanced` is True where every item has
    equally many readings in every level.
    """

    name: str
    levels: tuple[Level, ...]
    balanced: bool
    p: float | None = None
    adjusted: float | None = None
    test: str = ""
    named: tuple[str, ...] = ()
    shifts: Mapping[str, float] = field(default_factory=dict)
    untested: str = ""

    @property
    def shifted(self) -> bool:
        """Whether the levels differ after the adjustment."""
        return self.adjusted is not None and self.adjusted <= ALPHA


@dataclass(frozen=True, slots=True)
class Facets:
    """What is known of a table's facets.

    `categories` are their names and shares over all readings. `model` is the fit of items x
    columns, `resolutions` the resolution by comparison, each with its reason where undefined;
    `trail` the steps over three windows or more.
    """

    items: int
    tasks: int | None
    facets: tuple[Facet, ...]
    categories: Mapping[str, float]
    gaps: Gaps
    movers: Movers | Undefined
    model: RunModel | Undefined | None = None
    resolutions: Mapping[str, Resolution | Undefined] = field(default_factory=dict)
    trail: Trail | None = None

    @property
    def shifted(self) -> tuple[Facet, ...]:
        """Return the facets whose levels differ."""
        return tuple(facet for facet in self.facets if facet.shifted)


@dataclass(frozen=True, slots=True)
class Columns:
    """The facets of a matrix's columns: for each facet the code of each column and the names.

    `run` must be there; `window`, `order` and `judge` where the table has them.
    """

    codes: Mapping[str, Ints]
    names: Mapping[str, Sequence[str]]

    def runs(self) -> Ints:
        """Return the run of each column; where a window has one run, the window."""
        return self.codes["run"] if "run" in self.codes else self.codes["window"]

    def several(self) -> list[str]:
        """Return the facets with two levels or more, runs last."""
        order = ("judge", "order", "window", "run")
        return [n for n in order if n in self.codes and np.unique(self.codes[n]).size > 1]


def facets_of(sheet: Sheet, scores: Floats | None, seed: int) -> Facets:
    """Return the facets of one part of a table; `scores` of a table of numbers, else None."""
    tasks, columns = sheet.per_item(sheet.long.task), _columns(sheet)
    if scores is not None:
        return facets_of_scores(scores, columns, tasks, seed)
    codes, _ = sheet.codes()
    answers = sheet.long.answers
    labels: list[str] = []
    if answers is not None and sheet.long.kind == "verdict":
        raw = np.append(answers.codes, -1)[sheet.index]
        labels = [str(answers.labels[c]) for c in np.unique(raw[sheet.valid & (raw >= 0)])]
    return facets_of_categories(codes, labels, columns, tasks, seed)


def _columns(sheet: Sheet) -> Columns:
    """Return the facets of a sheet's columns; a run within windows is a run of its own."""
    long, windows = sheet.long, windows_of(sheet.long)
    several = np.unique(sheet.windows).size > 1
    pairs, runs = np.unique(np.stack([sheet.windows, sheet.runs]), axis=1, return_inverse=True)
    codes = {"window": sheet.windows, "order": sheet.orders, "run": np.ravel(runs)}
    named: dict[str, Sequence[str]] = {
        "window": _labels(windows, sheet.windows),
        "order": _labels(long.order, sheet.orders),
        "run": [
            f"{_label(windows, w)} {_label(long.run, r)}" if several else _label(long.run, r)
            for w, r in pairs.T
        ],
    }
    if several and pairs.shape[1] == np.unique(sheet.windows).size:
        del codes["run"]  # one run a window: the two are one facet
    return Columns(codes, named)


def _label(column: Coded | None, code: int) -> str:
    return "" if column is None or code < 1 else str(column.labels[code - 1])


def _labels(column: Coded | None, codes: Ints) -> list[str]:
    return [_label(column, code) for code in range(int(codes.max(initial=0)) + 1)]


def facets_of_scores(scores: Floats, columns: Columns, tasks: Ints | None, seed: int) -> Facets:
    """Return the facets of scores, (items, columns) with nan for an empty cell."""
    rng = np.random.default_rng(seed)
    found = []
    for name in columns.several():
        means = by_level(scores, columns.codes[name])
        found.append(_scored(name, scores, means, columns, level_shift(means, tasks, rng=rng)))
    present = ~np.isnan(scores)
    counts = present.sum(axis=1)
    item_means = np.full(counts.size, np.nan)
    np.divide(np.nansum(scores, axis=1), counts, out=item_means, where=counts > 0)
    model = run_model(by_level(scores, columns.runs()))
    moved = movers(scores)
    return Facets(
        scores.shape[0],
        None if tasks is None else int(np.unique(tasks).size),
        _adjusted(found),
        {},
        gaps(present, item_means, rng=rng),
        moved,
        model,
        _resolutions(model, moved, columns, rng),
        _trail(scores, columns, tasks, rng),
    )


def facets_of_categories(
    codes: Ints, labels: Sequence[str], columns: Columns, tasks: Ints | None, seed: int
) -> Facets:
    """Return the facets of category codes, (items, columns) with -1 for an empty cell."""
    rng = np.random.default_rng(seed)
    q = max(len(labels), 1)
    counts = category_counts(codes, q)
    found = [
        _counted(name, codes, q, columns, _category_test(codes, q, columns.codes[name], tasks, rng))
        for name in columns.several()
    ]
    total = counts.sum(axis=1, keepdims=True)
    shares = np.divide(counts, total, out=np.full(counts.shape, np.nan), where=total > 0)
    whole = counts.sum(axis=0) / max(counts.sum(), 1)
    numbers = np.where(codes >= 0, codes, np.nan).astype(np.float64)
    return Facets(
        codes.shape[0],
        None if tasks is None else int(np.unique(tasks).size),
        _adjusted(found),
        {str(label): float(share) for label, share in zip(labels, whole, strict=False)},
        gaps(codes >= 0, shares, rng=rng),
        movers(numbers),
    )


def _category_test(
    codes: Ints, q: int, levels: Ints, tasks: Ints | None, rng: np.random.Generator
) -> CategoryShift | Undefined:
    """Test one column of each level: the first that has it, so that readings are not pooled."""
    first = [int(np.flatnonzero(levels == level)[0]) for level in np.unique(levels)]
    return category_shift(codes[:, first], q, tasks, rng=rng)


def _level_names(name: str, columns: Columns) -> list[str]:
    names = columns.names[name]
    return [str(names[code]) for code in np.unique(columns.codes[name])]


def _balanced(present: Bools, levels: Ints) -> bool:
    counts = np.stack([present[:, levels == v].sum(axis=1) for v in np.unique(levels)], axis=1)
    return bool(counts.size) and bool((counts == counts[0, 0]).all())


def _scored(
    name: str, scores: Floats, means: Floats, columns: Columns, found: Shift | Undefined
) -> Facet:
    levels, codes = _level_names(name, columns), columns.codes[name]
    present = ~np.isnan(scores)
    readings = [int(present[:, codes == v].sum()) for v in np.unique(codes)]
    balanced = _balanced(present, codes)
    if isinstance(found, Undefined):
        with np.errstate(invalid="ignore", divide="ignore"):
            raw = np.nansum(means, axis=0) / (~np.isnan(means)).sum(axis=0)
        rows = tuple(Level(*each) for each in zip(levels, readings, raw.tolist(), strict=True))
        return Facet(name, rows, balanced, untested=found.reason)
    seen = [level for level, count in zip(levels, readings, strict=True) if count]
    at = iter(found.means.tolist())
    rows = tuple(
        Level(level, count, next(at) if count else float("nan"))
        for level, count in zip(levels, readings, strict=True)
    )
    shifts = {seen[d.level]: d.value for d in found.deviations}
    if len(seen) == 2:
        shifts = {seen[1]: float(found.means[1] - found.means[0])}
    named = tuple(seen[level] for level in found.named)
    return Facet(name, rows, balanced, found.p, None, found.test, named, shifts)


def _counted(
    name: str, codes: Ints, q: int, columns: Columns, found: CategoryShift | Undefined
) -> Facet:
    levels, places = _level_names(name, columns), columns.codes[name]
    rows = []
    for level, value in zip(levels, np.unique(places), strict=True):
        counts = category_counts(codes[:, places == value], q).sum(axis=0)
        shares = tuple((counts / max(counts.sum(), 1)).tolist())
        rows.append(Level(level, int(counts.sum()), float("nan"), shares))
    balanced = _balanced(codes >= 0, places)
    if isinstance(found, Undefined):
        return Facet(name, tuple(rows), balanced, untested=found.reason)
    return Facet(name, tuple(rows), balanced, found.p, None, "permutation of shares")


def _adjusted(found: Sequence[Facet]) -> tuple[Facet, ...]:
    tested = [facet.p for facet in found if facet.p is not None]
    after = iter(holm(tested).tolist() if tested else [])
    done = [f if f.p is None else replace(f, adjusted=float(next(after))) for f in found]
    return tuple(f if f.shifted else replace(f, named=()) for f in done)


def _resolutions(
    model: RunModel | Undefined,
    moved: Movers | Undefined,
    columns: Columns,
    rng: np.random.Generator,
) -> dict[str, Resolution | Undefined]:
    """Return the resolution for each comparison that the table's facets allow."""
    if isinstance(model, Undefined):
        return {"two runs": model}
    if isinstance(moved, Movers) and moved.few:
        low, high = moved.interval.low, moved.interval.high
        why = (
            f"only {moved.moved} of {moved.items} items ever moved "
            f"(share of items that move: {low:.1%} to {high:.1%})"
        )
        return {"two runs": Undefined(why)}
    windows = _window_of_runs(columns)
    if windows is None or np.unique(windows).size < 2 or windows.size != model.runs:
        return {"two runs": resolution(between_runs(model))}
    inside = resolution(within_sessions(model, windows, "window"))
    across = resolution(between_sessions(model, windows, rng, "window"))
    found = {"two runs of different windows": across}
    if not isinstance(inside, Undefined):
        found["two runs of one window"] = inside
    return found


def _window_of_runs(columns: Columns) -> Ints | None:
    """Return the window of each run, in the order of the runs' codes."""
    windows, runs = columns.codes.get("window"), columns.runs()
    if windows is None:
        return None
    first = [int(np.flatnonzero(runs == run)[0]) for run in np.unique(runs)]
    return np.asarray(windows[first])


def _trail(
    scores: Floats, columns: Columns, tasks: Ints | None, rng: np.random.Generator
) -> Trail | None:
    windows = columns.codes.get("window")
    if windows is None or np.unique(windows).size < LEAST_TRAIL:
        return None
    found = change_point(by_level(scores, windows), tasks, rng=rng)
    return None if isinstance(found, Undefined) else found


def as_facts(found: Facets) -> dict[str, object]:
    """Return the facets as plain values for a JSON document; what is undefined is its reason."""
    return {
        "items": found.items,
        "tasks": found.tasks,
        "categories": dict(found.categories),
        "facets": [_facet_facts(facet) for facet in found.facets],
        "empty_cells": {
            "empty": found.gaps.empty,
            "cells": found.gaps.cells,
            "items": found.gaps.items_touched,
            "where": list(found.gaps.where),
        },
        "variances": _variances(found.model),
        "resolution": {name: _resolution(r) for name, r in found.resolutions.items()},
    }


def _facet_facts(facet: Facet) -> dict[str, object]:
    return {
        "facet": facet.name,
        "balanced": facet.balanced,
        "levels": [
            {
                "level": level.name,
                "readings": level.readings,
                "mean": None if np.isnan(level.mean) else level.mean,
                "shares": list(level.shares) or None,
            }
            for level in facet.levels
        ],
        "test": facet.test or None,
        "p": facet.p,
        "adjusted_p": facet.adjusted,
        "shifted": list(facet.named),
        "differences": dict(facet.shifts),
        "untested": facet.untested or None,
    }


def _variances(model: RunModel | Undefined | None) -> object:
    if model is None:
        return None
    if isinstance(model, Undefined):
        return model.reason
    return {
        "item": model.item,
        "run": model.run,
        "residual": model.residual,
        "method": model.method,
    }


def _resolution(found: Resolution | Undefined) -> object:
    if isinstance(found, Undefined):
        return {"undefined": found.reason}
    return {
        "value": found.value,
        "low": found.interval.low,
        "high": found.interval.high,
        "runs": found.calibration.runs,
        "df": found.calibration.df,
        "items": found.calibration.items,
        "sized": found.sized,
    }
