"""Builders of memory-luck tables: a cell's answers as a string, one letter a world.

w the worse tool, b the better one, ? a reply that names none, - no memory, ! no reply.
"""

import csv
from pathlib import Path

import numpy as np
import pandas as pd

from judgeaudit.analysis.luck.answers import Answers
from judgeaudit.readings.table import checked

CHOICES = {"w": "worse", "b": "better"}
REASONS = {"?": "unparsed", "-": "no_memory", "!": "no_reply"}


def rows_of(endpoint, cell, answers, draw=0):
    for world, letter in enumerate(answers):
        yield {
            "endpoint": endpoint,
            "item": f"w{world}",
            "arm": cell,
            "draw": draw,
            "stage": 2,
            "status": "ok" if letter in CHOICES else "invalid",
            "category": CHOICES.get(letter),
            "reason": REASONS.get(letter),
        }


def luck_table(**endpoints):
    """`luck_table(a={"unlucky.FF": "wbb"})`; a list of strings holds several draws a cell."""
    rows = []
    for endpoint, cells in endpoints.items():
        for cell, answers in cells.items():
            draws = [answers] if isinstance(answers, str) else answers
            for draw, letters in enumerate(draws):
                rows += rows_of(endpoint, cell, letters, draw)
    return checked(pd.DataFrame(rows))


def small_table():
    """The committed table of three endpoints and twelve worlds."""
    with (Path(__file__).parent / "luck_small.csv").open(encoding="utf-8") as file:
        rows = [row for line in csv.DictReader(file) for row in rows_of(*line.values())]
    return checked(pd.DataFrame(rows))


def answers_from(names, y):
    """Answers of many studies at once: `y` is studies x cells x worlds of 0/1, one call each."""
    worse = np.asarray(y, dtype=np.int64)
    ones = np.ones_like(worse)
    studies, worlds = (tuple(map(str, range(k))) for k in (worse.shape[0], worse.shape[2]))
    return Answers(studies, tuple(names), worlds, worse, ones, ones, np.zeros_like(worse), {})
