"""Same day against other day (rule A-S1 of CE, and its replication over more days).

* `day_within`, `day_between`: the median of A(w, w') over pairs of windows of one day, and over
  pairs of two days. A is the agreement of two windows over the probes.
* `day_difference`: d = the first less the second. CE's bands: |d| < .03 `nondeterminism_floor`,
  d >= .10 `systematic_cross_day`.
* `day_spread`: the greatest less the least of the days' own medians; it names the least stable day.

Each is given twice: for *these probes* (window bootstrap) and for *probes like these* (task and
window bootstrap). The one that the question's target names comes first.
"""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from judgeaudit.analysis import exact
from judgeaudit.analysis.build import Context, context
from judgeaudit.analysis.estimate import Estimate
from judgeaudit.analysis.question import Question
from judgeaudit.analysis.time.daysplit import RESAMPLES, Draws, bootstrap, relabel
from judgeaudit.analysis.time.windows import METRIC, WindowAgreement, window_agreement
from judgeaudit.statistic import WHOLE, Statistic, number, words
from judgeaudit.stats.interval import Interval, Undefined
from judgeaudit.stats.spread import chance_by_dealing

THESE, LIKE_THESE = "these probes", "probes like these"
BAND = 0.03
MIN_WINDOWS_A_DAY = 2
FEW_TASKS = 8


def day_difference(part: pd.DataFrame, question: Question) -> list[Estimate]:
    """Return d = median agreement within days less between days, for both targets.

    Details: both medians, the days' own medians and their spread, the share of resamples with
    |d| inside `params.band` (default .03), and the relabelling of days.
    """
    found, said, missing = _prepare("day_difference", part, question)
    within, between = (_medians(found, same) for same in (True, False))
    if within is None or between is None:
        return [said.none(MISSING_PAIRS)]
    value = within - between
    details = {
        "within": _text(within),
        "between": _text(between),
        **_day_details(found),
        **_relabelling(found, question),
    }
    return _both_targets(found, said, question, value, "difference", missing, details)


def day_within(part: pd.DataFrame, question: Question) -> list[Estimate]:
    """Return the median agreement of two windows of one day, for both targets, and by day."""
    found, said, missing = _prepare("day_within", part, question)
    value = _medians(found, True)
    if value is None:
        return [said.none(MISSING_PAIRS)]
    details = _day_details(found)
    whole = _both_targets(found, said, question, value, "within", missing, details)
    return [*whole, *(_of_day(said, day, median) for day, median in day_medians(found).items())]


def day_between(part: pd.DataFrame, question: Question) -> list[Estimate]:
    """Return the median agreement of two windows of different days, for both targets."""
    found, said, missing = _prepare("day_between", part, question)
    value = _medians(found, False)
    if value is None:
        return [said.none(MISSING_PAIRS)]
    return _both_targets(found, said, question, value, "between", missing, {})


def day_spread(part: pd.DataFrame, question: Question) -> list[Estimate]:
    """Return the greatest less the least of the days' own medians, naming the least stable day."""
    found, said, _ = _prepare("day_spread", part, question)
    by_day = day_medians(found)
    if len(by_day) < 2:
        return [said.none("needs two days with two windows each")]
    spread = max(by_day.values()) - min(by_day.values())
    chance = _by_chance(found, question, float(spread))
    return [
        said.plain(
            float(spread),
            "no interval: a range of few days has none worth printing",
            exact=spread,
            cluster="window",
            target=THESE,
            details=_day_details(found) | chance,
            caveats=_null_words(chance),
            seed=question.seed,
        )
    ]


def _by_chance(found: WindowAgreement, question: Question, spread: float) -> dict[str, Any]:
    """Return how often windows dealt to days at random spread more than the band, and this much."""
    band, values = question.number("band", BAND), found.values()
    apart = ~np.eye(len(found.names), dtype=bool)
    if np.isnan(values[apart]).any():
        return {}
    above = chance_by_dealing(values, found.days, band, rng=question.rng())
    as_large = chance_by_dealing(values, found.days, spread - 1e-9, rng=question.rng())
    if isinstance(above, Undefined) or isinstance(as_large, Undefined):
        return {}
    return {"band": band, "chance_above_band": above, "chance_as_large": as_large}


def _null_words(chance: dict[str, Any]) -> tuple[str, ...]:
    if not chance:
        return ()
    return (
        f"by chance alone, days with the same windows dealt at random spread more than "
        f"{chance['band']:g} in {chance['chance_above_band']:.0%}, and as much as here in "
        f"{chance['chance_as_large']:.0%}, of 2,000 deals",
    )


MISSING_PAIRS = "needs two windows on a day and windows on two days"


def _prepare(
    name: str, part: pd.DataFrame, question: Question
) -> tuple[WindowAgreement, Context, float | None]:
    found = window_agreement(part, question)
    said = context(name, part, question)
    n = {
        **said.n,
        "windows": len(found.names),
        "days": len(set(found.days.tolist())),
        "probes": found.probes,
        "pairs_within": len(found.pairs(same_day=True)),
        "pairs_between": len(found.pairs(same_day=False)),
    }
    missing = 1 - found.compared / found.planned if found.planned else None
    return found, Context(name, question, n, said.excluded), missing


def _medians(found: WindowAgreement, same_day: bool) -> Fraction | None:
    values = [found.exact[pair] for pair in found.pairs(same_day=same_day)]
    return exact.as_exact(exact.median(values)) if values else None


def day_medians(found: WindowAgreement) -> dict[int, Fraction]:
    """Return each day's median agreement of two of its windows."""
    by_day: dict[int, list[Fraction]] = {}
    for a, b in found.pairs(same_day=True):
        by_day.setdefault(int(found.days[a]), []).append(found.exact[a, b])
    medians = {day: exact.median(values) for day, values in sorted(by_day.items())}
    return {day: value for day, value in medians.items() if isinstance(value, Fraction)}


def _day_details(found: WindowAgreement) -> dict[str, Any]:
    by_day = day_medians(found)
    if not by_day:
        return {}
    least = min(by_day, key=lambda day: by_day[day])
    spread = max(by_day.values()) - min(by_day.values())
    medians = {str(day): _text(value) for day, value in by_day.items()}
    return {"day_medians": medians, "day_spread": _text(spread), "least_stable_day": least}


def _text(value: Fraction) -> float:
    return round(float(value), 12)


def _relabelling(found: WindowAgreement, question: Question) -> dict[str, Any]:
    if len(found.exact) < len(found.names) * (len(found.names) - 1) // 2:
        return {"relabelling": "undefined: some pairs of windows have no agreement"}
    result = relabel(found.values(), found.days, rng=question.rng())
    return {
        "relabellings": int(result.differences.size),
        "relabelling_exact": result.exact,
        "relabelling_as_large": round(result.as_large, 12),
        "relabelling_largest": round(result.largest, 12),
    }


def _both_targets(
    found: WindowAgreement,
    said: Context,
    question: Question,
    value: Fraction,
    which: str,
    missing: float | None,
    details: dict[str, Any],
) -> list[Estimate]:
    """Return the estimate for these probes and for probes like these, the asked target first."""
    estimates = [
        _for_target(found, said, question, value, which, missing, details, tasks=tasks)
        for tasks in (False, True)
    ]
    return estimates if question.target == THESE else estimates[::-1]


def _for_target(
    found: WindowAgreement,
    said: Context,
    question: Question,
    value: Fraction,
    which: str,
    missing: float | None,
    details: dict[str, Any],
    *,
    tasks: bool,
) -> Estimate:
    interval, draws = _interval(found, question, which, tasks)
    more: dict[str, Any] = {}
    if draws is not None and which == "difference":
        band = question.number("band", BAND)
        told = draws.difference[~np.isnan(draws.difference)]
        more["share_in_band"] = float((np.abs(told) < band).mean())
        more["undefined_resamples"] = int(draws.difference.size - told.size)
    return said.bounded(
        float(value),
        interval,
        exact=value,
        cluster="task and window" if tasks else "window",
        target=LIKE_THESE if tasks else THESE,
        details={**details, **more},
        missing=missing,
        seed=question.seed,
    )


def _interval(
    found: WindowAgreement, question: Question, which: str, tasks: bool
) -> tuple[Interval | Undefined, Draws | None]:
    _, sizes = np.unique(found.days, return_counts=True)
    if sizes.min() < MIN_WINDOWS_A_DAY + 1:
        return Undefined(
            "fewer than 3 windows on a day: resampling them drops too many pairs"
        ), None
    if tasks and found.sums.shape[0] < FEW_TASKS:
        return Undefined(f"fewer than {FEW_TASKS} tasks"), None
    draws = bootstrap(found.sums, found.weights, found.days, rng=question.rng(), tasks=tasks)
    values: NDArray[np.float64] = getattr(draws, which)
    values = values[~np.isnan(values)]
    if values.size < 0.99 * RESAMPLES:
        return Undefined("undefined in more than 1 % of the resamples"), draws
    tail = (1 - question.level) / 2
    low, high = np.quantile(values, [tail, 1 - tail])
    unit = "task and window" if tasks else "window"
    return Interval(float(low), float(high), question.level, f"{unit} bootstrap, percentile"), draws


def _of_day(said: Context, day: int, median: Fraction) -> Estimate:
    return said.plain(
        float(median),
        "no interval: pairs of a day's few windows",
        exact=median,
        scope=f"day={day}",
        cluster="window",
        target=THESE,
    )


_day = partial(
    Statistic,
    reads=(),
    claims=words("ranking top1 pairwise verdict choice score"),
    over=WHOLE,
    unit="share",
    subject="precision",
    covered=None,
    answers=(),
    defaults=frozenset(),
    told=frozenset(),
    example=None,
    per_pair=False,
    whole_table=False,
    floor=False,
    kappa=None,
    greatest=False,
    redesigns=frozenset(),
    why_no_gate="",
)

STATISTICS = (
    _day(
        name="day_difference",
        least_units=1,
        compute=day_difference,
        kind="plain",
        bounds=(-1.0, 1.0),
        needs=words("windows days"),
        better="",
        label="agreement within a day less that between days",
        params=(METRIC, number("band", "half width of the band whose share is told", 0, 1)),
    ),
    _day(
        name="day_within",
        least_units=1,
        compute=day_within,
        kind="plain",
        bounds=(0.0, 1.0),
        needs=words("windows"),
        better="high",
        label="agreement of two windows of a day, median",
        params=(METRIC,),
    ),
    _day(
        name="day_between",
        least_units=1,
        compute=day_between,
        kind="plain",
        bounds=(0.0, 1.0),
        needs=words("windows days"),
        better="high",
        label="agreement of windows of two days, median",
        params=(METRIC,),
    ),
    _day(
        name="day_spread",
        least_units=0,
        compute=day_spread,
        kind="positive",
        bounds=(0.0, 1.0),
        needs=words("windows days"),
        better="low",
        label="spread of the days' own agreement",
        params=(METRIC, number("band", "spread that chance is told for", 0, 1)),
    ),
)
