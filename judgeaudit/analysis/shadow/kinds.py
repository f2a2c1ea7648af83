"""What is told of each kind of call: never pooled over kinds, exploratory by derivation.

* The items of a kind are the harness's calls that were asked again and are no retry of a read or
  unread answer (`calls`); the runs are the answer that the harness got and its re-asks. They go
  through the analyses of any table; equal bytes are one cluster, so that the effective n is that of
  distinct bodies.
* `later` is by how much original and re-ask differ more often than re-ask and re-ask do.
* Bodies that came in several sessions are compared between these, on the harness's own first
  answers: sessions on other days are other windows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from judgeaudit.analysis.build import Context
from judgeaudit.analysis.estimate import Estimate
from judgeaudit.analysis.exploratory import PartReport, Wish, explore
from judgeaudit.analysis.question import Question
from judgeaudit.analysis.shadow.calls import classes
from judgeaudit.analysis.shadow.systems import System, systems_of
from judgeaudit.readings.sheet import Coded, Long
from judgeaudit.stats.excess import asked_later

MOSTLY = 0.5
_NS = 1e9


@dataclass(frozen=True, slots=True)
class KindReport:
    """One kind of call at one target.

    `classes` counts the harness's own calls by class; `readings` all readings by `ok` or reason.
    `lags` are the least, median and greatest seconds from an answer to its re-ask; `load` the
    median numbers of calls in flight, of originals and of re-asks; `cached` the shares of prompt
    tokens that came from a cache, of both; `equal_ids` how many re-asks carried the reply's or
    the request's id of their original. Any of them is None where nothing was reported.
    """

    name: str
    endpoint: str
    value: str
    calls: int
    bodies: int
    chosen: int
    reasked: int
    classes: Mapping[str, int]
    readings: Mapping[str, int]
    models: tuple[str, ...]
    part: PartReport | None = None
    later: Estimate | None = None
    lags: tuple[float, float, float] | None = None
    load: tuple[float, float] | None = None
    cached: tuple[float | None, float | None] = (None, None)
    equal_ids: int = 0
    between: PartReport | None = None
    systems: System | None = None
    hint: str = ""

    @property
    def says_nothing(self) -> bool:
        """True where no estimate of repeatability has a value."""
        return self.part is None or all(e.value is None for e in self.part.estimates)


@dataclass(frozen=True, slots=True)
class ShadowReport:
    """What a log says of the judges in it."""

    source: str
    sessions: tuple[str, ...]
    kinds: tuple[KindReport, ...]
    value: str | None
    notes: tuple[str, ...] = field(default=())

    @property
    def says_nothing(self) -> bool:
        """True where nothing can be said of any kind."""
        return all(kind.says_nothing for kind in self.kinds)


def reports(calls: pd.DataFrame, wish: Wish, hints: Mapping[str, str]) -> list[KindReport]:
    """Return a report of each kind of call at each target, most calls first.

    `calls` has the columns of `calls.CALLS`; `hints` says by kind how its answers could be read.
    """
    told = classes(calls)
    found = []
    for (endpoint, kind), part in calls.groupby(["endpoint", "kind"], sort=False, observed=True):
        found.append(_report(str(kind), str(endpoint), part, told, wish, hints.get(str(kind), "")))
    return sorted(found, key=lambda report: (-report.calls, report.name, report.endpoint))


def _report(
    name: str, endpoint: str, part: pd.DataFrame, told: pd.Series, wish: Wish, hint: str
) -> KindReport:
    own = part[part["condition"].eq("harness")]
    again = part[part["condition"].eq("reask")]
    counts = told.reindex(own.index).value_counts()
    taken = own[told.reindex(own.index).isin(["first", "repeat"])]
    used = part[part["origin"].isin(set(again["origin"]) & set(taken["call_id"]))]
    kind = value_kind(part)
    return KindReport(
        name=name,
        endpoint=endpoint,
        value=kind,
        calls=len(own),
        bodies=int(own["body"].nunique()),
        chosen=int(again["origin"].nunique()),
        reasked=len(again),
        classes={str(label): int(count) for label, count in counts.items()},
        readings=_readings(part),
        models=tuple(sorted(set(part["model_returned"].dropna()))),
        part=_explored(used, kind, name, wish) if len(used) else None,
        later=_later(used, kind) if len(used) else None,
        lags=_lags(part),
        load=_load(own[own["call_id"].isin(used["origin"])], again),
        cached=(_cached(own), _cached(again)),
        equal_ids=_equal_ids(used),
        between=_between(taken, kind, name, wish),
        systems=systems_of(taken, used, kind),
        hint=hint,
    )


def value_kind(part: pd.DataFrame) -> str:
    """Return what a kind's answers are: `number`, `category` or `text`, whichever most are."""
    valid = part[part["status"].eq("ok")]
    if not len(valid):
        return "text"
    if valid["number"].notna().mean() > MOSTLY:
        return "number"
    return "category" if valid["category"].notna().mean() > MOSTLY else "text"


def _readings(part: pd.DataFrame) -> dict[str, int]:
    found = part["reason"].where(part["status"].ne("ok"), "ok").value_counts()
    return {str(name): int(count) for name, count in found.items()}


def long_of(
    rows: pd.DataFrame, kind: str, source: str, *, item: str, run: str, windows: bool = False
) -> Long:
    """Return calls as a table of readings: `item` and `run` name columns; bodies are the tasks."""
    there = rows["status"].eq("ok") & rows[kind].notna()
    reason = rows["reason"].where(~there).fillna("unparsed").where(~there)
    ids = _coded(rows["call_id"])
    return Long(
        source=source,
        kind="score" if kind == "number" else "verdict",
        item=_coded(rows[item]),
        run=_coded(rows[run]),
        reason=_coded(reason),
        values=rows["number"].where(there).to_numpy(float) if kind == "number" else None,
        answers=None if kind == "number" else _coded(rows[kind].where(there)),
        window=_coded(rows["session"]) if windows else None,
        day=_coded(rows["day"].astype(str)) if windows else None,
        task=_coded(rows["body"]),
        declared={"body_sha256": _coded(rows["body"])},
        calls={"call_id": ids},
    )


def _coded(column: pd.Series) -> Coded:
    codes, labels = pd.factorize(column, sort=True)
    return Coded(codes.astype(np.int32), [str(label) for label in labels])


def _explored(used: pd.DataFrame, kind: str, name: str, wish: Wish) -> PartReport:
    return explore(long_of(used, kind, name, item="origin", run="repeat"), wish).parts[0]


def _later(used: pd.DataFrame, kind: str) -> Estimate:
    wide = pd.DataFrame(
        {
            "origin": used["origin"],
            "repeat": used["repeat"],
            "code": pd.factorize(used[kind].where(used["status"].eq("ok")))[0],
        }
    ).pivot(index="origin", columns="repeat", values="code")
    wide = wide.reindex(columns=[0, 1, 2]).fillna(-1).astype(np.int64)
    bodies = used[used["repeat"].eq(0)].set_index("origin")["body"].reindex(wide.index)
    clusters = pd.factorize(bodies)[0]
    repeated = bool(bodies.duplicated().any())
    said = Context("asked_later", Question(over="all"), {"items": len(wide)})
    found = asked_later(wide[0].to_numpy(), wide[[1, 2]].to_numpy(), clusters if repeated else None)
    return said.of(found, target="this session's calls")


def _lags(part: pd.DataFrame) -> tuple[float, float, float] | None:
    again = part[part["condition"].eq("reask")]
    if not len(again):
        return None
    ended = part[part["condition"].eq("harness")].set_index("call_id")["ended_at"]
    seconds = (again["reserved_at"] - again["origin"].map(ended)).dropna() / _NS
    if not len(seconds):
        return None
    return float(seconds.min()), float(seconds.median()), float(seconds.max())


def _load(own: pd.DataFrame, again: pd.DataFrame) -> tuple[float, float] | None:
    if not (own["in_flight"].notna().any() and again["in_flight"].notna().any()):
        return None
    return float(own["in_flight"].median()), float(again["in_flight"].median())


def _cached(rows: pd.DataFrame) -> float | None:
    told = rows[rows["cached_tokens"].notna() & rows["prompt_tokens"].notna()]
    prompt = float(told["prompt_tokens"].sum())
    return float(told["cached_tokens"].sum()) / prompt if prompt else None


def _equal_ids(used: pd.DataFrame) -> int:
    first = used[used["repeat"].eq(0)].set_index("origin")
    again = used[used["repeat"].gt(0)]
    equal = [
        again[name].notna() & again[name].eq(again["origin"].map(first[name]))
        for name in ("reply_id", "request_id")
    ]
    return int((equal[0] | equal[1]).sum())


def _between(taken: pd.DataFrame, kind: str, name: str, wish: Wish) -> PartReport | None:
    """Return what the bodies that came in several sessions say; None where there are none."""
    first = taken.sort_values("reserved_at").drop_duplicates(["session", "body"])
    several = first.groupby("body")["session"].transform("nunique").ge(2)
    if not several.any():
        return None
    rows = first[several].assign(run="1")
    long = long_of(rows, kind, name, item="body", run="run", windows=True)
    return explore(long, wish).parts[0]
