"""What a rule would name by chance alone: its null, beside its outcome.

* Null: time has no effect. Each item's readings (in one arm, under one condition) are dealt anew
  over the windows, days and repeats in which it was asked; a missing reading is dealt with them.
  Statistic and bands are then taken as they are registered.
* It is told for rules that speak of time: over two windows or days, or of a statistic that needs
  windows or days. Elsewhere a rule has no null of this kind, and says so.
* `DEALS` deals: a share of .5 is known to .2 (two errors), one of .95 to .09.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from judgeaudit.analysis.catalogue import compute, statistic
from judgeaudit.analysis.question import Question
from judgeaudit.design.criteria import Rule
from judgeaudit.readings.table import VALUES
from judgeaudit.verdict.naming import heads_of, name_of

DEALS = 25
OVER_TIME = frozenset({"windows", "windows_same_day", "next_day", "other_day"})
DEALT_WITHIN = ["endpoint", "stage", "item", "arm", "condition"]


@dataclass(frozen=True, slots=True)
class Chance:
    """How often each name came, by endpoint, of `deals` deals."""

    shares: Mapping[str, Mapping[str, float]]
    deals: int

    def sentence(self, endpoint: str) -> str:
        """Return an endpoint's shares in words, the largest first."""
        found = sorted(self.shares.get(endpoint, {}).items(), key=lambda pair: -pair[1])
        told = ", ".join(f"{name} in {share:.0%}" for name, share in found)
        place = "" if endpoint == "all" else f" at {endpoint}"
        return (
            f"By chance alone{place} (readings dealt anew over their windows, {self.deals} deals) "
            f"it would be {told}."
        )


def speaks_of_time(rule: Rule) -> bool:
    """Return whether a rule's outcome would be another if windows or days had no effect."""
    return rule.over in OVER_TIME or bool({"windows", "days"} & statistic(rule.statistic).needs)


def chance_of(
    rule: Rule, table: pd.DataFrame, question: Question, deals: int = DEALS
) -> Chance | None:
    """Return what a rule would name by chance; None where it does not speak of time."""
    if not speaks_of_time(rule):
        return None
    rng = np.random.default_rng(question.seed)
    tally: dict[str, Counter[str]] = {}
    for _ in range(deals):
        found = compute(rule.statistic, dealt(table, rng), question, rule.where)
        for endpoint, estimate in heads_of(rule.statistic, found).items():
            tally.setdefault(endpoint, Counter())[name_of(rule, estimate)] += 1
    shares = {
        endpoint: {name: count / deals for name, count in names.items()}
        for endpoint, names in tally.items()
    }
    return Chance(shares, deals)


def dealt(table: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    """Return the table with each item's readings dealt anew over the times of its asking."""
    keys = [table[name].astype(str) for name in DEALT_WITHIN if name in table]
    codes = pd.factorize(pd.MultiIndex.from_arrays(keys))[0]
    places = np.lexsort((np.arange(len(table)), codes))
    sources = np.lexsort((rng.random(len(table)), codes))
    moved = [name for name in (*VALUES, "status", "reason") if name in table]
    order = np.empty(len(table), np.int64)
    order[places] = sources
    found = table.copy()
    for name in moved:
        found[name] = table[name].array.take(order)
    return found
