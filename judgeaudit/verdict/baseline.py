"""A study held against a sealed baseline: whether the judge has moved, or the items.

Only an anchor can tell. An anchor is a request of one endpoint and item whose body is byte for byte
the same in both studies: if its answers change, the judge has. An item whose body differs, and one
that is in one study only, has moved itself and says nothing about the judge.

* Verdicts and rankings: the excess disagreement across the two studies over that within them
  (`stats.excess`), which is 0 for a judge that has not moved, however noisy. It needs two readings
  of an anchor in both. Scores: the mean over anchors of later less earlier (`stats.drift`).
* `watch.margin` is what the consumer tolerates. Pass if the interval of level 1 - 2 alpha lies
  inside it, fail if it lies outside, else inconclusive. Without a margin a move that is found
  fails, and finding none is inconclusive: it is no absence.
* An exact agreement of all anchors has no interval; the bound on the share of such requests that
  differ decides: at most the margin, or for scores, whose margin is no share, `MOST_SCORES`.
* Items that moved fail no gate; they are counted, and what they did to the mean score is told.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from judgeaudit.readings.table import probes
from judgeaudit.stats.drift import mean_shift
from judgeaudit.stats.excess import excess_disagreement
from judgeaudit.stats.interval import Undefined
from judgeaudit.stats.scaled import Estimated, disagreement_bound
from judgeaudit.verdict.verdicts import Outcome, overall
from judgeaudit.verdict.words import number

ALPHA = 0.05
MOST_SCORES = 0.05
KEYS = ["endpoint", "item", "arm", "body_sha256"]


@dataclass(frozen=True, slots=True)
class Moved:
    """What the anchors of one endpoint say of the judge."""

    endpoint: str
    outcome: Outcome
    says: str
    anchors: int
    estimate: float | None = None
    low: float | None = None
    high: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return JSON values."""
        return {
            "endpoint": self.endpoint,
            "outcome": self.outcome.value,
            "says": self.says,
            "anchors": self.anchors,
            "estimate": self.estimate,
            "low": self.low,
            "high": self.high,
        }


@dataclass(frozen=True, slots=True)
class Items:
    """How the battery moved: items with another body, new ones, those that are gone."""

    changed: int
    added: int
    removed: int

    @property
    def moved(self) -> bool:
        """Return whether any item did."""
        return bool(self.changed or self.added or self.removed)

    def sentence(self) -> str:
        """Return it in words."""
        if not self.moved:
            return "the items have not moved: every request is the same"
        return (
            f"the items have moved: {self.changed} asked with another body, {self.added} new, "
            f"{self.removed} gone"
        )


def compare(now: pd.DataFrame, before: pd.DataFrame, margin: float | None) -> dict[str, Any]:
    """Return the comparison as a document with `outcome` and `says`.

    Both tables need the column `body_sha256`; stopped and invalid readings are left out.
    """
    here, there = _valid(now), _valid(before)
    anchors = _pairs(here).intersection(_pairs(there))
    items = items_moved(probes(now), probes(before))
    found = [
        _judge(name, part, there[there["endpoint"].eq(name)], anchors, margin)
        for name, part in here.groupby("endpoint", sort=False)
    ]
    outcome = overall(one.outcome for one in found)
    models = _models(here, there)
    says = [one.says for one in found] or ["no valid reading to compare"]
    says += [items.sentence(), *_scores(here, there, items), *models]
    return {
        "outcome": outcome.value,
        "says": "; ".join(says),
        "judge": [one.to_dict() for one in found],
        "items": {"changed": items.changed, "added": items.added, "removed": items.removed},
        "anchors": len(anchors),
        "margin": margin,
        "models": list(models),
    }


def _valid(table: pd.DataFrame) -> pd.DataFrame:
    asked = probes(table)
    return asked[asked["status"].eq("ok") & asked["body_sha256"].notna()]


def _pairs(table: pd.DataFrame) -> pd.MultiIndex:
    return pd.MultiIndex.from_frame(table[KEYS].drop_duplicates())


def items_moved(now: pd.DataFrame, before: pd.DataFrame) -> Items:
    """Return how the planned items differ, invalid ones included."""
    new, old = set(now["item"]), set(before["item"])
    bodies = [t.groupby("item")["body_sha256"].agg(frozenset) for t in (now, before)]
    changed = sum(bodies[0][item] != bodies[1][item] for item in new & old)
    return Items(changed, len(new - old), len(old - new))


def _judge(
    endpoint: object,
    now: pd.DataFrame,
    before: pd.DataFrame,
    anchors: pd.MultiIndex,
    margin: float | None,
) -> Moved:
    name = str(endpoint)
    one, two = (t[pd.MultiIndex.from_frame(t[KEYS]).isin(anchors)] for t in (now, before))
    count = int(one[["item", "arm"]].drop_duplicates().shape[0])
    if not count:
        says = f"cannot tell whether {name} has moved: no request is the same in both"
        return Moved(name, Outcome.UNDEFINED, says, 0)
    scores = one["number"].notna().all() and two["number"].notna().all()
    found = _shift(one, two) if scores else _excess(one, two)
    what = "mean score moved by" if scores else "excess disagreement is"
    if isinstance(found, Undefined):
        says = f"cannot tell whether {name} has moved: {found.reason}"
        return Moved(name, Outcome.UNDEFINED, says, count)
    return _held(name, what, found, count, margin)


def _held(name: str, what: str, found: Estimated, count: int, margin: float | None) -> Moved:
    interval = found.interval(1 - 2 * ALPHA)
    if isinstance(interval, Undefined):
        if found.value == 0 and margin is not None:
            return _exact(name, count, margin, scores=what.startswith("mean"))
        says = f"cannot tell whether {name} has moved: {interval.reason}"
        return Moved(name, Outcome.INCONCLUSIVE, says, count, found.value)
    low, high = interval.low, interval.high
    limit = margin or 0.0
    told = (
        f"on {count} anchors {what} {number(found.value)} (90% interval {number(low)} to "
        f"{number(high)})"
    )
    if low > limit or high < -limit:
        outcome, head = Outcome.FAIL, f"{name} has moved"
    elif margin is not None and -margin < low and high < margin:
        outcome, head = Outcome.PASS, f"{name} has not moved by {margin:g} or more"
    else:
        outcome, head = Outcome.INCONCLUSIVE, f"cannot tell whether {name} has moved"
        told += "" if margin is not None else "; register watch.margin to be able to say it has not"
    return Moved(name, outcome, f"{head}: {told}", count, found.value, low, high)


def _exact(name: str, count: int, margin: float, *, scores: bool) -> Moved:
    """Return what anchors say that are all exactly as they were: the bound on their share decides.

    Two anchors leave 1 - .05^(1/2) = 77.6 % of such requests open, 59 leave 5 %.
    """
    most = disagreement_bound(count).high
    limit = MOST_SCORES if scores else margin
    told = (
        f"all {count} anchors are exactly as they were (fewer than {most:.1%} of such requests "
        "differ)"
    )
    if most <= limit:
        return Moved(name, Outcome.PASS, f"{name} has not moved: {told}", count, 0.0, high=most)
    says = f"cannot tell whether {name} has moved: {told}; {limit:.1%} is asked, keep more anchors"
    return Moved(name, Outcome.INCONCLUSIVE, says, count, 0.0, high=most)


def _shift(now: pd.DataFrame, before: pd.DataFrame) -> Estimated | Undefined:
    cells = [_rows(t, "number") for t in (before, now)]
    both = sorted(set(cells[0]) & set(cells[1]))
    wide = [_wide([found[key] for key in both], np.nan) for found in cells]
    return mean_shift(wide[0], wide[1])


def _excess(now: pd.DataFrame, before: pd.DataFrame) -> Estimated | Undefined:
    columns = ("category", "ranking", "label", "text")
    column = next((c for c in columns if now[c].notna().all()), None)
    if column is None:
        return Undefined("the readings have no value of one kind")
    levels: dict[str, int] = {}
    coded = [
        t.assign(code=[levels.setdefault(str(v), len(levels)) for v in t[column]])
        for t in (before, now)
    ]
    cells = [_rows(t, "code") for t in coded]
    both = sorted(set(cells[0]) & set(cells[1]))
    first, second = (_wide([found[key] for key in both], -1.0) for found in cells)
    found = excess_disagreement(first.astype(np.int64), second.astype(np.int64), len(levels))
    return found if isinstance(found, Undefined) else found.excess


def _rows(table: pd.DataFrame, column: str) -> dict[tuple[str, str], list[float]]:
    grouped = table.groupby(["item", "arm"], sort=False)[column]
    return {(str(i), str(a)): values.astype(float).tolist() for (i, a), values in grouped}


def _wide(rows: list[list[float]], empty: float) -> np.ndarray[Any, np.dtype[np.float64]]:
    width = max((len(row) for row in rows), default=0)
    return np.array([row + [empty] * (width - len(row)) for row in rows], float)


def _scores(now: pd.DataFrame, before: pd.DataFrame, items: Items) -> Iterator[str]:
    """Yield what the items' move did to the mean score, where there are scores."""
    scored = all(len(t) and t["number"].notna().all() for t in (now, before))
    if items.moved and scored:
        means = [t.groupby("item")["number"].mean().mean() for t in (now, before)]
        yield f"the mean of all items went from {number(means[1])} to {number(means[0])}"


def _models(now: pd.DataFrame, before: pd.DataFrame) -> list[str]:
    """Return a sentence where replies name other models than before."""
    if "model_returned" not in now or "model_returned" not in before:
        return []
    names = [sorted(set(t["model_returned"].dropna().astype(str))) for t in (now, before)]
    if names[0] == names[1]:
        return []
    told = [", ".join(found) or "none" for found in names]
    return [f"replies name {told[0]}, in the baseline {told[1]}"]
