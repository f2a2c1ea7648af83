"""From what an estimator on arrays gives back to an `Estimate` with its counts and its words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from judgeaudit.analysis.estimate import Estimate, undefined
from judgeaudit.analysis.question import Question
from judgeaudit.stats.dominance import distinct
from judgeaudit.stats.interval import Interval, Undefined

if TYPE_CHECKING:
    import pandas as pd


NOT_OVER_TASKS = "over tasks was asked for, and this statistic has none over tasks"


class HasInterval(Protocol):
    """A value that can give its interval at any level."""

    @property
    def value(self) -> float:
        """The estimate itself."""
        ...

    def interval(self, level: float = 0.95) -> Interval | Undefined:
        """Return the interval, or why there is none."""
        ...


@dataclass(frozen=True, slots=True)
class Context:
    """What every estimate of one analysis on one part of the table says alike.

    `nested` says that several items lie in one task. `of` takes the number of independent units
    from the estimator; where tasks were asked for and it took items, there is no interval.
    """

    analysis: str
    question: Question
    n: Mapping[str, int] = field(default_factory=dict)
    excluded: Mapping[str, int] = field(default_factory=dict)
    details: Mapping[str, object] = field(default_factory=dict)
    nested: bool = False

    def common(self) -> dict[str, Any]:
        """Return the fields that an `Estimate` takes from here."""
        return {
            "level": self.question.level,
            # Only a day decomposition has windows as its units; elsewhere the item is the unit.
            "cluster": "item" if self.question.cluster == "window" else self.question.cluster,
            "n": dict(self.n),
            "excluded": dict(self.excluded),
            "details": dict(self.details),
        }

    def none(self, why: str, **fields: Any) -> Estimate:
        """Return the undefined estimate, saying `why` in words."""
        return undefined(self.analysis, why, **(self.common() | fields))

    def plain(self, value: float, caveat: str, **fields: Any) -> Estimate:
        """Return an estimate without an interval; `caveat` says why."""
        caveats = (caveat, *fields.pop("caveats", ())) if caveat else fields.pop("caveats", ())
        given = self.common() | {"method": "none"} | fields
        return Estimate(self.analysis, float(value), caveats=caveats, **given)

    def bounded(self, value: float, interval: Interval | Undefined, **fields: Any) -> Estimate:
        """Return an estimate with the interval, or with the reason why there is none."""
        if isinstance(interval, Undefined):
            return self.plain(value, f"no interval: {interval.reason}", **fields)
        given = self.common() | {"method": interval.method, "level": interval.level} | fields
        return Estimate(self.analysis, float(value), low=interval.low, high=interval.high, **given)

    def of(self, found: HasInterval | Undefined, **fields: Any) -> Estimate:
        """Return the estimate of what an estimator found."""
        if isinstance(found, Undefined):
            return self.none(found.reason, **fields)
        told = self._of_estimator(found, fields)
        interval = found.interval(self.question.level)
        if isinstance(interval, Interval) and self._ignores_tasks(found, fields):
            interval = Undefined(NOT_OVER_TASKS)
        return self.bounded(found.value, interval, **told)

    def _of_estimator(self, found: HasInterval, fields: dict[str, Any]) -> dict[str, Any]:
        """Return the fields with the independent units that the estimator itself counted."""
        if not getattr(found, "clustered", False):
            return fields
        units = "tasks" if self.question.cluster in ("task", "world") else "items"
        counted = {**fields.get("n", self.n), units: int(found.n)}  # type: ignore[attr-defined]
        return {**fields, "n": counted}

    def _ignores_tasks(self, found: HasInterval, fields: dict[str, Any]) -> bool:
        """Return whether tasks were asked for and the estimator took each item as its own."""
        of_tasks = self.nested and self.question.cluster in ("task", "world")
        return of_tasks and "cluster" not in fields and getattr(found, "clustered", None) is False


def context(analysis: str, part: pd.DataFrame, question: Question, **details: object) -> Context:
    """Return the context of an analysis of one endpoint's rows of the table."""
    n = {
        "items": int(part["item"].nunique()),
        "tasks": int(part["task"].nunique()),
        "observations": len(part),
        "valid": int(part["status"].eq("ok").sum()),
        "windows": int(part["window"].nunique()),
    }
    invalid = part.loc[part["status"].eq("invalid"), "reason"]
    excluded = {str(reason): int(count) for reason, count in invalid.value_counts().items()}
    return Context(analysis, question, n, excluded, details, n["tasks"] < n["items"])


def scale_use(values: np.ndarray[Any, np.dtype[np.float64]]) -> dict[str, object]:
    """Return how a scale was used: number of levels and the shares at both ends."""
    seen = values[~np.isnan(values)]
    if not seen.size:
        return {}
    return {
        "levels": int(distinct(seen).size),
        "top_level": float(seen.max()),
        "top_share": float((seen == seen.max()).mean()),
        "bottom_share": float((seen == seen.min()).mean()),
    }


def category_use(values: pd.Series) -> dict[str, object]:
    """Return how categories were used: number of levels and the share of the commonest."""
    counts = values.dropna().value_counts()
    counts = counts[counts > 0]  # a coded column also lists the labels of other parts
    if counts.empty:
        return {}
    return {
        "levels": len(counts),
        "top_level": str(counts.index[0]),
        "top_share": float(counts.iloc[0] / counts.sum()),
    }
