"""Parts of one table against each other: two judges, models or prompts on the same items.

Rules of this module:

* Only items that both parts have are compared; each pair of parts says how many. With more than
  `MOST_PARTS` parts nothing is compared pair by pair.
* Scores: the correlation of single readings, the difference of the two reliabilities on the same
  items, the correlation without either's noise, and bias with limits of agreement on item means.
* A panel: items x judges x runs in judges, complete items; Phi of the mean of one reading from each
  judge, and a grid of what k judges with m readings reach (D-study).
* Verdicts: how often two readings, one of each, differ, and kappa of the first readings.
* Differences of reliabilities carry p values, Holm over all pairs. An interval that misses 0 says
  that this pair differs; the adjusted p value says so for the whole set.
* What two parts agree on is no truth: both may be wrong alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from judgeaudit.analysis.build import Context
from judgeaudit.analysis.estimate import Estimate
from judgeaudit.analysis.question import Question
from judgeaudit.readings.sheet import Sheet
from judgeaudit.stats.agreement import effective_proportion
from judgeaudit.stats.attenuation import correct_attenuation
from judgeaudit.stats.gstudy import d_study, g_study
from judgeaudit.stats.interval import Undefined
from judgeaudit.stats.judges import bland_altman
from judgeaudit.stats.multiplicity import holm
from judgeaudit.stats.ranks import (
    RankReliability,
    difference,
    spearman_between,
    spearman_within,
)
from judgeaudit.stats.ties import settle
from judgeaudit.stats.weighted import weighted_kappa

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
MOST_PARTS = 6
LABELS = {
    "judges_spearman": "same order by both (Spearman, one reading of each)",
    "judges_reliability_difference": "reliability of the first less the second (Spearman)",
    "judges_corrected": "the same order without either's noise",
    "judges_bias": "mean of the first less the second (scale units)",
    "judges_proportional_bias": "slope of that difference on the mean of both",
    "judges_differ": "verdicts of the two differ",
    "judges_kappa": "Cohen's kappa between the two, first readings",
    "judges_panel": "reliability of the panel's mean score, one reading of each (Phi)",
}
"""What people read for each comparison; two parts are no endpoint, so none is in the catalogue."""


def between_parts(sheets: Sequence[Sheet], question: Question) -> tuple[Estimate, ...]:
    """Return the comparisons of every pair of parts that share items."""
    if not 2 <= len(sheets) <= MOST_PARTS or sheets[0].long.kind == "ranking":
        return ()
    numbers = sheets[0].long.kind in ("score", "probability")
    compare = _scores if numbers else _verdicts
    found: list[Estimate] = []
    for first, second in combinations(sheets, 2):
        common = np.intersect1d(first.items, second.items)
        if not common.size:
            continue
        scope = f"{first.scope} against {second.scope}"
        said = Context("", question, {"items": int(common.size)})
        rows = tuple(np.searchsorted(s.items, common) for s in (first, second))
        tasks = first.per_item(first.long.task)
        of_tasks = None if tasks is None else tasks[rows[0]]
        if of_tasks is not None:
            said = replace(said, question=replace(question, cluster="task"))
        made = compare(first, second, (rows[0], rows[1]), of_tasks, said)
        found += [replace(e, scope=scope) for e in made]
    panel = _panel(sheets, question) if numbers else []
    return (*_adjusted(found), *panel)


def _panel(sheets: Sequence[Sheet], question: Question) -> list[Estimate]:
    """Return Phi of the panel's mean score, and what other numbers of judges and runs reach."""
    common = reduce(np.intersect1d, [sheet.items for sheet in sheets])
    runs = min(sheet.index.shape[1] for sheet in sheets)
    if common.size < 3 or runs < 2:
        return []
    tables = [s.scores()[np.searchsorted(s.items, common), :runs] for s in sheets]
    cube = np.stack(tables, axis=1)
    whole = ~np.isnan(cube).any(axis=(1, 2))
    said = Context("judges_panel", question, {"items": int(whole.sum())})
    study = g_study(cube[whole], ["judge", "run"], nested={"run": "judge"})
    if isinstance(study, Undefined):
        return [said.none(study.reason, scope="panel")]
    reached = d_study(study, {"judge": len(sheets), "run": 1})
    grid = [
        [k, m, (d := d_study(study, {"judge": k, "run": m})).relative.value, d.absolute.value]
        for k in range(1, MOST_PARTS + 1)
        for m in (1, 2, 4)
    ]
    parts = {study.name(e): v for e, v in study.variances.items()}
    details = {"relative": reached.relative.value, "grid": grid, "variances": parts}
    few = "the interval speaks of items like these, and not of judges like these"
    return [said.of(reached.absolute, details=details, scope="panel", caveats=(few,))]


def _named(said: Context, name: str) -> Context:
    return replace(said, analysis=name)


def _scores(
    first: Sheet, second: Sheet, rows: tuple[Ints, Ints], tasks: Ints | None, said: Context
) -> list[Estimate]:
    x, y = settle(first.scores()[rows[0]]), settle(second.scores()[rows[1]])
    crossed = spearman_between(x, y, clusters=tasks)
    own = [spearman_within(each, clusters=tasks) for each in (x, y)]
    found = [
        _named(said, "judges_spearman").of(
            crossed if isinstance(crossed, Undefined) else crossed.estimate
        )
    ]
    found.append(_reliabilities(own[0], own[1], tasks, said))
    found.append(_corrected(crossed, own[0], own[1], tasks, said))
    return found + _bias(x, y, tasks, said)


def _reason(*found: RankReliability | Undefined) -> str:
    return next((each.reason for each in found if isinstance(each, Undefined)), "")


def _reliabilities(
    one: RankReliability | Undefined,
    other: RankReliability | Undefined,
    tasks: Ints | None,
    said: Context,
) -> Estimate:
    named = _named(said, "judges_reliability_difference")
    if isinstance(one, Undefined) or isinstance(other, Undefined):
        return named.none(_reason(one, other))
    found = difference(one, other, tasks)
    if isinstance(found, Undefined):
        return named.none(found.reason)
    below, above = found.p_below(0.0), found.p_above(0.0)
    if isinstance(below, Undefined) or isinstance(above, Undefined):
        return named.of(found)
    return named.of(found, details={**said.details, "p": min(1.0, 2 * min(below, above))})


def _corrected(
    crossed: RankReliability | Undefined,
    one: RankReliability | Undefined,
    other: RankReliability | Undefined,
    tasks: Ints | None,
    said: Context,
) -> Estimate:
    named = _named(said, "judges_corrected")
    if isinstance(crossed, Undefined) or isinstance(one, Undefined) or isinstance(other, Undefined):
        return named.none(_reason(crossed, one, other))
    found = correct_attenuation(
        crossed.estimate, one.estimate, other.estimate, same_window=False, clusters=tasks
    )
    if isinstance(found, Undefined):
        return named.none(found.reason)
    above = ("above 1: no possible correlation; noise was overcorrected",)
    return named.of(found.estimate).with_caveats(*(above if found.above_one else ()))


def _bias(x: Floats, y: Floats, tasks: Ints | None, said: Context) -> list[Estimate]:
    found = bland_altman(_means(x), _means(y), tasks, level=said.question.level)
    named = _named(said, "judges_bias")
    if isinstance(found, Undefined):
        return [named.none(found.reason)]
    details = {**said.details, "limits": [found.low, found.high]}
    n = {**said.n, "items": found.items}
    slope = _named(said, "judges_proportional_bias")
    return [named.of(found.bias, details=details, n=n), slope.of(found.slope, n=n)]


def _means(scores: Floats) -> Floats:
    counts = (~np.isnan(scores)).sum(axis=1)
    means = np.full(counts.size, np.nan)
    np.divide(np.nansum(scores, axis=1), counts, out=means, where=counts > 0)
    return means


def _verdicts(
    first: Sheet, second: Sheet, rows: tuple[Ints, Ints], tasks: Ints | None, said: Context
) -> list[Estimate]:
    x, y = _answers(first)[rows[0]], _answers(second)[rows[1]]
    q = max(2, int(max(x.max(initial=0), y.max(initial=0))) + 1)
    unlike = np.zeros(x.shape[0])
    compared = np.zeros(x.shape[0])
    for a in x.T:
        for b in y.T:
            both = (a >= 0) & (b >= 0)
            compared += both
            unlike += both & (a != b)
    with np.errstate(invalid="ignore", divide="ignore"):
        shares = np.where(compared > 0, unlike / compared, np.nan)
    return [
        _named(said, "judges_differ").of(effective_proportion(shares, compared, tasks)),
        _named(said, "judges_kappa").of(weighted_kappa(x[:, 0], y[:, 0], q, tasks=tasks)),
    ]


def _answers(sheet: Sheet) -> Ints:
    """Return answers as codes of the whole table, -1 where there is no valid one."""
    answers = sheet.long.answers
    assert answers is not None
    codes = np.append(answers.codes, -1)[sheet.index].astype(np.int64)
    return np.where(sheet.valid, codes, -1)


def _adjusted(found: Sequence[Estimate]) -> list[Estimate]:
    tested = [e for e in found if "p" in e.details]
    if not tested:
        return list(found)
    after = iter(holm([float(str(e.details["p"])) for e in tested]).tolist())
    return [e.with_details(adjusted_p=next(after)) if "p" in e.details else e for e in found]
