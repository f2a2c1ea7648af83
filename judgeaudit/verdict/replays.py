"""Repeats that are one call told several times: an answer out of a cache is no second measurement.

Two valid readings of one request (endpoint, arm and item; its body's digest where it is known) are
one call told twice where

* the provider gave both the same request id, or the reply the same id and the same time of making
  (an API whose replies name no time: the same id);
* or the later one came with a cache's word that it answered itself (column `cache`).

An id that stands on answers to different requests is no id: such a server gives every reply the
same one, and nothing follows from it. Readings of a simulated endpoint are not held against each
other: it is a function of seed, body and time, and its ids name the body.

Nothing is left out of an estimate here. The readings are kept, and told as a bar of the statistics
that would count them as repeats.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pandas as pd

IDS = (("request_id",), ("reply_id", "created"), ("reply_id",))
"""Columns that name one call, those of `reply_id` alone only where no reply tells its time."""

CACHE = "cache"


@dataclass(frozen=True, slots=True)
class Replayed:
    """How many readings of how many are a call that stands in the table already, and by what."""

    readings: int
    of: int
    by: str
    example: str

    def sentence(self) -> str:
        """Return it in words."""
        return (
            f"{self.readings} of {self.of} repeats are one call told again: {self.by}, e.g. item "
            f"{self.example!r}; ask past the cache, or the judge's own variation is not measured"
        )


def replayed(valid: pd.DataFrame) -> Iterator[Replayed]:
    """Yield what shows that repeats of one endpoint are one call; `valid` are its readings."""
    requests = _requests(valid)
    later = requests.duplicated()
    for columns in IDS:
        if not set(columns) <= set(valid) or (columns == ("reply_id",) and _timed(valid)):
            continue
        names = valid[list(columns)].astype(object)
        again = _twice(names, requests)
        if again.any():
            told = f"equal {' and '.join(_WORDS[name] for name in columns)}"
            yield _found(valid, again, later, told)
            return
    if CACHE in valid:
        hit = valid[CACHE].notna() & later
        if hit.any():
            word = str(valid.loc[hit, CACHE].iloc[0])
            yield _found(valid, hit, later, f"{word!r} says that a cache answered")


_WORDS = {"request_id": "request id", "reply_id": "reply id", "created": "time of making"}


def _requests(valid: pd.DataFrame) -> pd.Series:
    body = valid.get("body_sha256")
    known = valid["item"].astype(str) if body is None else body.where(body.notna(), valid["item"])
    return known.astype(str) + "\x1f" + valid["arm"].astype(str)


def _timed(valid: pd.DataFrame) -> bool:
    return "created" in valid and bool(valid["created"].notna().any())


def _twice(names: pd.DataFrame, requests: pd.Series) -> pd.Series:
    """Return which rows have a name that an earlier row of the same request has, and no other."""
    whole = names.notna().all(axis=1)
    key = names.fillna("").astype(str).agg("\x1f".join, axis=1).where(whole)
    used_by = requests.groupby(key).transform("nunique")
    return whole & used_by.eq(1) & key.duplicated() & key.notna()


def _found(valid: pd.DataFrame, again: pd.Series, later: pd.Series, by: str) -> Replayed:
    item = str(valid.loc[again, "item"].iloc[0])
    return Replayed(int(again.sum()), int(later.sum()), by, item)
