"""G-study and D-study: which facets move a score, and what a design with other numbers reaches.

The scores are a complete table: the objects that are measured (items) on the first axis, one axis
for each facet (judge, run, order, ...). A facet may be nested in another: its index then counts
within the other.

Rules of this module:

* Mean squares and their expectations are those of the balanced random model; variances follow by
  solving them from the last effect up (Brennan 2001, chapter 3). A negative one is kept, and read
  as 0 in coefficients.
* Relative error (for rankings): all effects of the objects with a facet, each over the product of
  its facets' sizes. Absolute error (for scores as such): the facets' own effects too.
  E rho^2 = s/(s + relative), Phi = s/(s + absolute).
* A fixed facet keeps its levels: effects of objects with fixed facets alone belong to the score,
  and fixed effects alone are no error.
* Intervals delete objects, or whole tasks of objects, on the scale log(s/error) with t.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from math import prod

import numpy as np
from numpy.typing import NDArray

from judgeaudit.errors import InputError
from judgeaudit.stats.interval import Interval, Undefined
from judgeaudit.stats.scaled import (
    MIN_ITEMS,
    Estimated,
    Scale,
    influence_se,
    jackknife_influence,
    without_interval,
)

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
Effect = frozenset[str]
_LOGIT = Scale("logit", lambda p: np.log(p / (1 - p)), lambda x: 1 / (1 + np.exp(-x)))


@dataclass(frozen=True)
class GStudy:
    """Variances of a balanced design.

    Attributes
    ----------
    objects : str
        Name of what is measured.
    facets : tuple of str
        Names of the facets, in the order of the axes.
    sizes : dict
        Number of levels of the objects and of each facet.
    nested : dict
        Facet to the facet it is nested in.
    degrees, squares, variances : dict
        For each effect (a set of names): degrees of freedom, mean square, variance component.
    deleted : array, shape (units, effects)
        The variances with each object, or each task, left out.
    """

    objects: str
    facets: tuple[str, ...]
    sizes: Mapping[str, int]
    nested: Mapping[str, str]
    degrees: Mapping[Effect, int]
    squares: Mapping[Effect, float]
    variances: Mapping[Effect, float]
    deleted: Floats

    @cached_property
    def effects(self) -> tuple[Effect, ...]:
        """The effects, in the order of `deleted`."""
        return tuple(self.variances)

    def name(self, effect: Effect) -> str:
        """Return an effect's name, such as "item x judge" or "rater:task"."""
        order = (self.objects, *self.facets)
        inner = [n for n in order if n in effect]
        words = []
        for n in inner:
            above = self.nested.get(n)
            if above is not None:
                words.append(f"{n}:{above}")
            elif n not in {self.nested.get(m) for m in inner}:
                words.append(n)
        return " x ".join(words)


@dataclass(frozen=True, slots=True)
class DStudy:
    """What a design reaches.

    Attributes
    ----------
    sizes : dict
        Levels of each facet.
    universe : float
        Variance of what is measured, in squared scale units.
    relative_error, absolute_error : float
        Error variances.
    relative, absolute : Estimated
        E rho^2 and Phi, with intervals by deleting objects or tasks.
    """

    sizes: Mapping[str, int]
    universe: float
    relative_error: float
    absolute_error: float
    relative: Estimated
    absolute: Estimated


def g_study(
    scores: Floats,
    facets: Sequence[str],
    *,
    objects: str = "item",
    nested: Mapping[str, str] | None = None,
    tasks: Codes | None = None,
) -> GStudy | Undefined:
    """Return the variance components of a complete table.

    Parameters
    ----------
    scores : array, shape (n, levels of the first facet, levels of the second, ...)
        Scores in scale units. Objects with an empty cell must be left out before.
    facets : sequence of str
        Names of the facets, one an axis after the first.
    objects : str
        Name of what is measured.
    nested : dict, optional
        Facet to the facet it is nested in, e.g. {"rater": "task"}.
    tasks : array of int, shape (n,), optional
        The task of each object, if objects of one task are not independent.

    Returns
    -------
    GStudy, or Undefined with the reason.

    References
    ----------
    Brennan (2001), Generalizability Theory, Springer; Cronbach, Gleser, Nanda & Rajaratnam (1972).
    """
    if scores.ndim != len(facets) + 1:
        raise InputError(
            "G-study", "facets", f"{len(facets)} names, {scores.ndim - 1} axes", "name every axis"
        )
    if np.isnan(scores).any():
        return Undefined("the table has empty cells")
    if min(scores.shape) < 2:
        return Undefined("every facet needs two levels")
    if np.ptp(scores) == 0:
        return Undefined("constant")
    names = (objects, *facets)
    sizes = dict(zip(names, scores.shape, strict=True))
    above = dict(nested or {})
    effects = _effects(names, above)
    totals, deleted = _totals(scores, names, tasks)
    degrees = {e: _degrees(e, sizes, above) for e in effects}
    squares = _squares(totals[None], names, effects, above, sizes)
    variances = _variances(squares, effects, names, sizes)
    gone = _left_out(deleted, names, effects, above, sizes, _units(tasks, scores.shape[0]))
    return GStudy(
        objects,
        tuple(facets),
        sizes,
        above,
        degrees,
        {e: float(squares[e][0]) for e in effects},
        {e: float(variances[e][0]) for e in effects},
        gone,
    )


def _effects(names: tuple[str, ...], nested: Mapping[str, str]) -> list[Effect]:
    """All effects: sets of names that hold, with a nested facet, the one it is nested in."""
    found: list[Effect] = []
    for size in range(1, len(names) + 1):
        for chosen in combinations(names, size):
            if all(nested.get(n, chosen[0]) in chosen for n in chosen):
                found.append(frozenset(chosen))
    return found


def _degrees(effect: Effect, sizes: Mapping[str, int], nested: Mapping[str, str]) -> int:
    inner = set(effect) - {nested[n] for n in effect if n in nested}
    return prod(sizes[n] - 1 if n in inner else sizes[n] for n in effect)


def _sets(names: tuple[str, ...]) -> list[tuple[int, ...]]:
    axes = range(len(names))
    return [c for size in range(len(names) + 1) for c in combinations(axes, size)]


def _units(tasks: Codes | None, n: int) -> Codes:
    found = np.arange(n) if tasks is None else np.unique(tasks, return_inverse=True)[1]
    return np.asarray(found, dtype=np.int64)


def _totals(scores: Floats, names: tuple[str, ...], tasks: Codes | None) -> tuple[Floats, Floats]:
    """Uncorrected sums of squares T of every set of axes: whole, and with each unit left out.

    T(set) is the number of readings a cell of the set has, times the sum of its squared means.
    """
    y = scores - scores.mean()
    n, cells = y.shape[0], prod(y.shape[1:])
    units = _units(tasks, n)
    count = np.bincount(units)
    left = n - count
    whole, gone = [], []
    for axes in _sets(names):
        out = tuple(a for a in range(1, y.ndim) if a not in axes)
        means = y.mean(axis=out) if out else y
        flat = means.reshape(n, -1)
        weight = cells / flat.shape[1]
        if 0 in axes:
            own = np.bincount(units, weights=(flat**2).sum(axis=1))
            whole.append(weight * own.sum())
            gone.append(weight * (own.sum() - own))
        else:
            sums = np.zeros((count.size, flat.shape[1]))
            np.add.at(sums, units, flat)
            total = sums.sum(axis=0)
            whole.append(weight * float((total**2).sum()) / n)
            gone.append(weight * ((total - sums) ** 2).sum(axis=1) / left)
    return np.array(whole), np.array(gone).T


def _squares(
    totals: Floats,
    names: tuple[str, ...],
    effects: list[Effect],
    nested: Mapping[str, str],
    sizes: Mapping[str, int],
    objects: Floats | None = None,
) -> dict[Effect, Floats]:
    """Mean squares from uncorrected sums of squares, one row a table."""
    place = {frozenset(names[a] for a in axes): i for i, axes in enumerate(_sets(names))}
    found = {}
    for effect in effects:
        inner = set(effect) - {nested[n] for n in effect if n in nested}
        fixed = effect - inner
        total = np.zeros(totals.shape[0])
        for size in range(len(inner) + 1):
            for chosen in combinations(sorted(inner), size):
                sign = (-1) ** (len(inner) - size)
                total = total + sign * totals[:, place[fixed | set(chosen)]]
        degrees = _degrees(effect, sizes, nested)
        if objects is not None and names[0] in effect:
            scaled = degrees / (sizes[names[0]] - 1) * (objects - 1)
            found[effect] = total / scaled
        else:
            found[effect] = total / degrees
    return found


def _variances(
    squares: Mapping[Effect, Floats],
    effects: list[Effect],
    names: tuple[str, ...],
    sizes: Mapping[str, int],
    objects: Floats | None = None,
) -> dict[Effect, Floats]:
    """Solve E MS(e) = sum over effects f that hold e of variance(f) times the sizes outside f."""
    found: dict[Effect, Floats] = {}
    for effect in sorted(effects, key=len, reverse=True):
        rest = squares[effect]
        for other, variance in found.items():
            if effect < other:
                rest = rest - variance * _outside(other, names, sizes, objects)
        found[effect] = rest / _outside(effect, names, sizes, objects)
    return {e: found[e] for e in effects}


def _outside(
    effect: Effect, names: tuple[str, ...], sizes: Mapping[str, int], objects: Floats | None
) -> Floats:
    product = prod(sizes[n] for n in names[1:] if n not in effect)
    if names[0] in effect:
        return np.asarray(float(product))
    return np.asarray(product * (sizes[names[0]] if objects is None else objects), dtype=np.float64)


def _left_out(
    totals: Floats,
    names: tuple[str, ...],
    effects: list[Effect],
    nested: Mapping[str, str],
    sizes: Mapping[str, int],
    units: Codes,
) -> Floats:
    objects = (sizes[names[0]] - np.bincount(units)).astype(np.float64)
    if (objects < 2).any():
        return np.full((objects.size, len(effects)), np.nan)
    squares = _squares(totals, names, effects, nested, sizes, objects)
    values = _variances(squares, effects, names, sizes, objects)
    return np.column_stack([values[e] for e in effects])


def d_study(
    study: GStudy, sizes: Mapping[str, int] | None = None, fixed: Sequence[str] = ()
) -> DStudy:
    """Return the errors and coefficients of a design.

    Parameters
    ----------
    study : GStudy
        The variances.
    sizes : dict, optional
        Levels of each facet in the design (of a nested facet: within each level above); the
        study's own where left out.
    fixed : sequence of str
        Facets whose levels are kept.

    Returns
    -------
    DStudy
    """
    planned = {f: (sizes or {}).get(f, study.sizes[f]) for f in study.facets}
    unknown = [n for n in (*(sizes or {}), *fixed) if n not in study.facets]
    if unknown or min(planned.values()) < 1:
        raise InputError("D-study", "facets", f"{dict(sizes or {})}", f"use {study.facets}, from 1")
    whole = np.array([[study.variances[e] for e in study.effects]])
    value = _coefficients(study, whole, planned, set(fixed))
    gone = _coefficients(study, study.deleted, planned, set(fixed))
    return DStudy(
        planned,
        float(value[0][0]),
        float(value[1][0]),
        float(value[2][0]),
        _coefficient(value[0] / (value[0] + value[1]), gone[0] / (gone[0] + gone[1])),
        _coefficient(value[0] / (value[0] + value[2]), gone[0] / (gone[0] + gone[2])),
    )


def _coefficients(
    study: GStudy, variances: Floats, sizes: Mapping[str, int], fixed: set[str]
) -> tuple[Floats, Floats, Floats]:
    """Universe score variance, relative and absolute error, one row a set of variances."""
    universe, relative, extra = (np.zeros(variances.shape[0]) for _ in range(3))
    for place, effect in enumerate(study.effects):
        facets = effect - {study.objects}
        share = np.maximum(variances[:, place], 0) / prod(sizes[f] for f in facets)
        if study.objects in effect and facets <= fixed:
            universe = universe + share
        elif study.objects in effect:
            relative = relative + share
        elif not facets <= fixed:
            extra = extra + share
    return universe, relative, relative + extra


def _coefficient(value: Floats, deleted: Floats) -> Estimated:
    point, units = float(value[0]), deleted.size
    if not 0 < point < 1:
        return without_interval(point, units, "at an end of its range")
    if units < MIN_ITEMS:
        return without_interval(point, units, f"fewer than {MIN_ITEMS} items or tasks")
    if not ((deleted > 0) & (deleted < 1)).all():
        return without_interval(point, units, "at an end of its range without a single item")
    se, _ = influence_se(jackknife_influence(_LOGIT.to(deleted)))
    return Estimated(point, se, units - 1, units, "jackknife of log(signal/error), t", _LOGIT)


def component_interval(study: GStudy, effect: Effect, level: float = 0.95) -> Interval | Undefined:
    """Return the interval of a variance that holds the objects, by deleting objects or tasks.

    Effects of facets alone get none: objects do not tell how the levels of a facet vary.

    Parameters
    ----------
    study : GStudy
        The variances.
    effect : frozenset of str
        Names of the effect.
    level : float
        Confidence level.

    Returns
    -------
    Interval in squared scale units, or Undefined with the reason.
    """
    if study.objects not in effect:
        return Undefined(f"{study.objects}s do not tell how {study.name(effect)} varies")
    deleted = study.deleted[:, study.effects.index(effect)]
    if deleted.size < MIN_ITEMS or not np.isfinite(deleted).all():
        return Undefined(f"fewer than {MIN_ITEMS} items or tasks")
    value = study.variances[effect]
    if value <= 0 or (deleted <= 0).any():
        se, units = influence_se(jackknife_influence(deleted))
        return Estimated(value, se, units - 1, units, "jackknife, t").interval(level)
    se, units = influence_se(jackknife_influence(np.log(deleted)))
    scale = Scale("log", np.log, np.exp)
    return Estimated(value, se, units - 1, units, "jackknife of log, t", scale).interval(level)


def curve(
    study: GStudy, facet: str, sizes: Sequence[int], fixed: Sequence[str] = ()
) -> list[DStudy]:
    """Return the designs that differ in one facet's size, the others as in the study.

    Parameters
    ----------
    study : GStudy
        The variances.
    facet : str
        The facet whose size changes.
    sizes : sequence of int
        Its sizes.
    fixed : sequence of str
        Facets whose levels are kept.

    Returns
    -------
    list of DStudy, one a size.
    """
    return [d_study(study, {facet: size}, fixed) for size in sizes]


def drop_one(
    scores: Floats, facets: Sequence[str], facet: str, reach: Callable[[DStudy], float]
) -> list[float]:
    """Return `reach` of the design without each level of `facet` in turn, same sizes planned.

    The level whose absence raises the coefficient most is the one to drop. `scores` as in
    `g_study`; nan where the rest has no estimate.

    Parameters
    ----------
    scores : array, shape (n, levels of each facet)
        As in `g_study`.
    facets : sequence of str
        Names of the facets.
    facet : str
        The facet whose levels are left out in turn.
    reach : callable
        From a DStudy to the number that is compared, e.g. its Phi.

    Returns
    -------
    list of float, one a level.
    """
    axis = 1 + list(facets).index(facet)
    planned = dict(zip(facets, scores.shape[1:], strict=True))
    found = []
    for level in range(scores.shape[axis]):
        rest = g_study(np.delete(scores, level, axis=axis), facets)
        found.append(float("nan") if isinstance(rest, Undefined) else reach(d_study(rest, planned)))
    return found
