"""Builders of small tables, so that a test shows its readings and nothing else."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest

from judgeaudit.readings.table import checked


def table(rows, **common) -> pd.DataFrame:
    """A checked table of `rows` (dicts); a row without a value is invalid, `unparsed`."""
    values = {"number", "category", "ranking", "text"}
    full = []
    for row in rows:
        row = {**common, **row}
        valid = any(row.get(name) is not None for name in values)
        row.setdefault("status", "ok" if valid else "invalid")
        if not valid:
            row.setdefault("reason", "unparsed")
        full.append(row)
    return checked(pd.DataFrame(full))


def verdicts(**items: str) -> pd.DataFrame:
    """`verdicts(q1="AAB")` is item q1 judged three times; "?" is an unparsed verdict."""
    return table(
        {"item": item, "repeat": k, "category": None if c == "?" else c}
        for item, given in items.items()
        for k, c in enumerate(given)
    )


def rankings(pairs) -> pd.DataFrame:
    """One item a pair of rankings, read in two windows of two days."""
    rows = []
    for i, pair in enumerate(pairs):
        for day, ranking in enumerate(pair, start=1):
            rows.append(
                {"item": f"p{i:03d}", "day": day, "window": f"d{day}w1", "ranking": ranking}
            )
    return table(rows)


def swapped(ranking: tuple[str, ...], distance: int) -> tuple[str, ...]:
    """`ranking` at Kendall distance `distance`, by that many adjacent swaps of bubble sort."""
    found = list(ranking)
    for end in range(len(found) - 1, 0, -1):
        for k in range(end):
            if distance == 0:
                return tuple(found)
            found[k], found[k + 1] = found[k + 1], found[k]
            distance -= 1
    return tuple(found)


@pytest.fixture(scope="session")
def build():
    """The builders above: `build.table`, `build.verdicts`, `build.rankings`, `build.swapped`."""
    return SimpleNamespace(table=table, verdicts=verdicts, rankings=rankings, swapped=swapped)


@pytest.fixture(scope="session")
def luck():
    """Builders of memory-luck tables: `luck.table`, `luck.small`, `luck.answers`."""
    path = Path(__file__).with_name("luck_builders.py")
    spec = importlib.util.spec_from_file_location("luck_builders", path)
    builders = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(builders)
    return SimpleNamespace(
        table=builders.luck_table, small=builders.small_table, answers=builders.answers_from
    )
