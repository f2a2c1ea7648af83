"""Several providers of one task, never pooled (A-S2 of CE).

* `max_same_day_median`: the greatest of the endpoints' same-day medians of agreement. CE's reading
  `platform_class`: every endpoint's valid rate at least .95 and this number below .95, so that the
  lack of repeatability is no single provider's. Undefined where a valid rate falls below.
* `fingerprint_difference`: agreement of pairs of readings with the same fingerprint less that of
  pairs with different ones, within strata of probe and lag between windows, where both kinds occur.
  Unstratified, a provider that changes its fingerprint at night is confounded with the night.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from judgeaudit.analysis import exact
from judgeaudit.analysis.build import Context, context
from judgeaudit.analysis.estimate import Estimate
from judgeaudit.analysis.grid import Grid, Ints, column_pairs, layout
from judgeaudit.analysis.question import Question
from judgeaudit.analysis.resample import MIN_CLUSTERS, cluster_interval
from judgeaudit.analysis.time.days import day_within
from judgeaudit.analysis.time.windows import METRIC, comparer_of
from judgeaudit.readings.table import probes
from judgeaudit.statistic import WHOLE, Statistic, number, words

Floats = NDArray[np.float64]
VALID_RATE = 0.95
PLATFORM_CLASS, NOT_PLATFORM_CLASS = "platform_class", "not_platform_class"


def max_same_day_median(table: pd.DataFrame, question: Question) -> list[Estimate]:
    """Return the greatest same-day median over endpoints; by endpoint in the details."""
    asked = probes(table)
    said = context("max_same_day_median", asked, question)
    rates: dict[str, float] = {}
    medians: dict[str, exact.Number] = {}
    for endpoint, part in asked.groupby("endpoint", sort=False):
        rates[str(endpoint)] = float(part["status"].eq("ok").mean())
        first = day_within(part, question)[0]
        if first.value is not None:
            medians[str(endpoint)] = first.exact if first.exact is not None else first.value
    details = {
        "valid_rates": rates,
        "same_day_medians": {name: float(value) for name, value in medians.items()},
    }
    n = {**said.n, "endpoints": len(rates)}
    low = [name for name, rate in rates.items() if rate < question.number("valid", VALID_RATE)]
    if low:
        why = f"valid rate below {VALID_RATE:g} at {', '.join(low)}"
        return [said.none(why, details=details, n=n)]
    if len(medians) < len(rates) or not medians:
        lacking = ", ".join(sorted(set(rates) - set(medians)))
        return [said.none(f"no two windows on a day at {lacking}", details=details, n=n)]
    value = max(medians.values())
    reading = PLATFORM_CLASS if value < question.number("below", VALID_RATE) else NOT_PLATFORM_CLASS
    return [
        said.plain(
            float(value),
            "no interval: a greatest of few endpoints",
            exact=exact.as_exact(value),
            details={**details, "reading": reading},
            n=n,
            cluster="endpoint",
            target="these endpoints",
        )
    ]


def fingerprint_difference(part: pd.DataFrame, question: Question) -> list[Estimate]:
    """Return same-fingerprint less different-fingerprint agreement, stratified by probe and lag."""
    said = context("fingerprint_difference", part, question)
    if "fingerprint" not in part or part["fingerprint"].isna().all():
        return [said.none("no reply carries a fingerprint")]
    grid = layout(part)
    strata = _strata(grid, question)
    n = {**said.n, "pairs": len(strata), "strata": 0}
    if strata.empty:
        return [said.none("no pair of readings has two fingerprints", n=n)]
    raw = strata.groupby("same")["alike"].mean()
    details = {
        "same_fingerprint": float(raw[True]) if True in raw.index else None,
        "different_fingerprint": float(raw[False]) if False in raw.index else None,
        "fingerprints": int(part["fingerprint"].nunique()),
    }
    both = _differences(strata)
    if not len(both):
        why = "no probe has pairs of both kinds at one lag"
        return [said.none(why, n=n, details=details)]
    n["strata"] = len(both)
    return [_weighted(said, both, grid, question, n, details)]


def _strata(grid: Grid, question: Question) -> pd.DataFrame:
    """Return one row a compared pair: probe, lag between its windows, same fingerprint, alike."""
    comparer = comparer_of(grid, question)
    prints = np.append(pd.factorize(grid.part["fingerprint"])[0], -1)[grid.index]
    order = {w: k for k, w in enumerate(pd.unique(grid.columns["window"]))}
    at = grid.columns["window"].map(order).to_numpy()
    found = []
    for a, b in column_pairs(grid.columns, "all"):
        both = grid.valid[:, a] & grid.valid[:, b] & (prints[:, a] >= 0) & (prints[:, b] >= 0)
        rows = np.flatnonzero(both)
        if rows.size:
            alike = comparer.alike(grid.index[rows, a], grid.index[rows, b]) / comparer.of[rows]
            same = prints[rows, a] == prints[rows, b]
            found.append(
                pd.DataFrame(
                    {"row": rows, "lag": abs(int(at[b] - at[a])), "same": same, "alike": alike}
                )
            )
    return pd.concat(found, ignore_index=True) if found else pd.DataFrame()


def _differences(strata: pd.DataFrame) -> pd.DataFrame:
    cells = strata.groupby(["row", "lag", "same"])["alike"].agg(["mean", "size"]).unstack("same")
    whole = cells.dropna()
    if whole.empty or whole.shape[1] < 4:
        return pd.DataFrame()
    one, two = whole[("size", True)], whole[("size", False)]
    return pd.DataFrame(
        {
            "row": whole.index.get_level_values("row"),
            "difference": (whole[("mean", True)] - whole[("mean", False)]).to_numpy(),
            "weight": (one * two / (one + two)).to_numpy(),
        }
    )


def _weighted(
    said: Context,
    both: pd.DataFrame,
    grid: Grid,
    question: Question,
    n: dict[str, int],
    details: Mapping[str, object],
) -> Estimate:
    difference, weight = both["difference"].to_numpy(float), both["weight"].to_numpy(float)
    clusters: Ints = grid.clusters(question.cluster)[both["row"].to_numpy()]

    def mean(chosen: Ints) -> float:
        return float(difference[chosen] @ weight[chosen] / weight[chosen].sum())

    interval = cluster_interval(mean, clusters, rng=question.rng(), level=question.level)
    whole = mean(np.arange(difference.size))
    return said.bounded(whole, interval, n=n, details=details, seed=question.seed)


_provider = partial(
    Statistic,
    reads=(),
    kind="plain",
    claims=words("ranking top1 pairwise verdict choice score"),
    over=WHOLE,
    needs=words("windows"),
    better="",
    unit="share",
    subject="precision",
    covered=None,
    answers=(),
    defaults=frozenset(),
    told=frozenset(),
    example=None,
    per_pair=False,
    floor=False,
    kappa=None,
    redesigns=frozenset(),
    why_no_gate="",
)

STATISTICS = (
    _provider(
        name="max_same_day_median",
        compute=max_same_day_median,
        bounds=(0.0, 1.0),
        least_units=0,
        label="the endpoints' greatest agreement of two windows of a day",
        params=(
            METRIC,
            number("valid", "least share of valid readings of every endpoint", 0, 1),
            number("below", "value below which it reads platform_class", 0, 1),
        ),
        whole_table=True,
        greatest=True,
    ),
    _provider(
        name="fingerprint_difference",
        compute=fingerprint_difference,
        bounds=(-1.0, 1.0),
        least_units=MIN_CLUSTERS,
        label="agreement with the same fingerprint less that with another",
        params=(METRIC,),
        whole_table=False,
        greatest=False,
    ),
)
