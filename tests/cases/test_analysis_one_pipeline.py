"""One pipeline: a study's table and the same readings as a person's table say the same.

The readings are exported as a CSV with a person's column names and read back; every statistic of
the catalogue is then taken by both doors.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from judgeaudit.analysis.asked import asked
from judgeaudit.analysis.catalogue import NAMES
from judgeaudit.analysis.exploratory import Wish, explore
from judgeaudit.analysis.question import Question
from judgeaudit.readings.table import checked
from judgeaudit.tables.read import read_long
from judgeaudit.tables.roles import roles_of

ANSWERS = {
    "score": ("number", "score"),
    "verdict": ("category", "verdict"),
    "ranking": ("ranking", "ranking"),
    "probability": ("number", "probability"),
}
KEPT_OUT = {"controls"}
"""A person's table has no controls."""


def readings(kind: str) -> pd.DataFrame:
    """24 groups of 3 items, two days with two windows each, 3 repeats, two orders, 5 % missing."""
    rng = np.random.default_rng(20261201)
    rows = []
    for day in (1, 2):
        for window in (1, 2):
            for item in range(72):
                level = 1 + (item * 7) % 4
                for arm in ("fwd", "rev"):
                    for repeat in range(3):
                        rows.append(
                            {
                                "item": f"i{item}",
                                "group": f"g{item // 3}",
                                "task": f"t{item // 6}",
                                "day": day,
                                "window": f"d{day}w{window}",
                                "arm": arm,
                                "repeat": repeat,
                                "gold": _gold(kind, item),
                            }
                            | _answer(kind, level, rng)
                        )
    return pd.DataFrame(rows)


def _gold(kind: str, item: int) -> str:
    return "A" if kind in ("verdict", "ranking") else str(1 + (item * 7) % 4)


def _answer(kind: str, level: int, rng: np.random.Generator) -> dict[str, object]:
    if rng.random() < 0.05:
        return {"status": "invalid", "reason": "empty"}
    if kind == "score":
        return {"status": "ok", "number": float(level + rng.integers(0, 2))}
    if kind == "probability":
        return {"status": "ok", "number": round(min(0.99, level / 5 + rng.random() / 5), 3)}
    if kind == "verdict":
        return {"status": "ok", "category": "A" if rng.random() < level / 5 else "B"}
    swap = rng.random() < 0.2
    return {"status": "ok", "ranking": ("B", "A", "C") if swap else ("A", "B", "C")}


@pytest.fixture(scope="module", params=ANSWERS)
def doors(request, tmp_path_factory):
    """One kind's readings as a study's table, and by name what `analyze TABLE` says of them."""
    kind = request.param
    column, role = ANSWERS[kind]
    frame = readings(kind)
    cells = frame[column]
    if kind == "ranking":
        cells = cells.map(" > ".join, na_action="ignore")
    told = frame.drop(columns=[column, "status", "reason"]).assign(**{role: cells})
    path = tmp_path_factory.mktemp("table") / "readings.csv"
    told.to_csv(path, index=False)
    names = dict(item="item", repeat="repeat", group="group", task="task", gold="gold")
    names |= dict(window="window", day="day", order="arm") | {role: role}
    also = tuple(name for name in NAMES if name not in KEPT_OUT)
    report = explore(read_long([path], roles_of(names, "test")), Wish(also=also))
    return checked(frame), report.estimates


@pytest.mark.parametrize("name", sorted(set(NAMES) - KEPT_OUT))
def test_a_table_says_of_every_statistic_what_the_study_says(doors, name):
    """case T14: one interval, one value, one set of words, whichever door was taken."""
    table, told = doors
    here = asked(name, table, Question(over="all", cluster="task"))
    there = [e for e in told if e.analysis in {one.analysis for one in here}]

    assert [said(e) for e in there if e.asked_by == ""] == [said(e) for e in here]


def said(e):
    """Return what an estimate says, without the caveat that only a table's facets give."""
    caveats = tuple(text for text in e.caveats if not text.startswith("runs shift"))
    return (e.analysis, e.scope, e.over, e.value, e.low, e.high, e.method, caveats, e.undefined)
