"""What the commands do, for notebooks: a study's readings and verdicts, anybody's table, estimates.

`judgeaudit` exports these names and imports this module on first use, so that importing the package
costs nothing. Nothing here decides what the commands would not: thresholds come from registrations
alone, and what no registration names is exploratory.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from judgeaudit.analysis.catalogue import compute
from judgeaudit.analysis.estimate import Estimate
from judgeaudit.analysis.exploratory import Report, Wish, explore
from judgeaudit.analysis.frame import estimates_frame
from judgeaudit.analysis.question import Over, Question
from judgeaudit.design.frozen import FrozenStudy
from judgeaudit.verdict import Findings, decide

__all__ = [
    "analyze_table",
    "decide",
    "estimate",
    "estimates",
    "load_readings",
    "load_study",
    "verdicts",
]

TableSource = str | os.PathLike[str] | pd.DataFrame


def load_study(folder: str | os.PathLike[str]) -> FrozenStudy:
    """Return a frozen study; raises `EvidenceError` where a file is not what its lock says."""
    from judgeaudit.evidence.lock.files import load_frozen

    return load_frozen(Path(folder))


def load_readings(study: FrozenStudy) -> pd.DataFrame:
    """Return one row a planned call of the sealed runs, joined with gold and truth of its item.

    The columns are those of `judgeaudit.readings.table.COLUMNS`; what came back invalid is a row
    with a reason. Raises `EvidenceError` where a sealed file differs from its manifest,
    `UndefinedEstimate` where nothing is sealed.
    """
    from judgeaudit.study.sealed import sealed_runs_of, study_table

    sealed_runs_of(study)
    return study_table(study)


def verdicts(study: FrozenStudy) -> Findings:
    """Return what the registration's gates, rules and analyses say of the sealed runs.

    Raises as `load_readings` does.
    """
    from judgeaudit.study.results import analyse

    return analyse(study).findings


def estimate(
    name: str,
    readings: pd.DataFrame,
    *,
    over: Over = "all",
    level: float = 0.95,
    where: Mapping[str, str] | None = None,
    **params: object,
) -> list[Estimate]:
    """Return one statistic of the catalogue over a table of readings, by endpoint.

    `readings` has at least the columns `item`, `status` and a value column (see `load_readings`);
    `over` says which pairs are compared, `where` narrows by columns, `params` are those that a gate
    may set. The estimates are exploratory. Raises `InputError` naming what is unknown or missing.
    """
    from judgeaudit.readings.table import checked

    return compute(name, checked(readings), Question(over=over, level=level, params=params), where)


def analyze_table(
    source: TableSource | Sequence[str | os.PathLike[str]],
    *,
    item: str | None = None,
    repeat: str | None = None,
    score: str | None = None,
    verdict: str | None = None,
    ranking: str | None = None,
    probability: str | None = None,
    by: str | None = None,
    window: str | None = None,
    order: str | None = None,
    gold: str | None = None,
    group: str | None = None,
    task: str | None = None,
    digest: str | None = None,
    missing: str | Sequence[str] | None = None,
    label: str | Sequence[str] | None = None,
    invalid: str | Sequence[str] | None = None,
    decimal: str | None = None,
    across: str | None = None,
    gap: float | None = None,
    pass_at: float | None = None,
) -> Report:
    """Return what `judgeaudit analyze` finds in a table: a file, several runs' files, or a frame.

    The keywords are the command's options, names of columns; exactly one of `score`, `verdict`,
    `ranking`, `probability` is given. `missing`, `label` and `invalid` are words (one text with
    commas, or a sequence). Raises `InputError` naming row or column.
    """
    from judgeaudit.tables.read import read_frame, read_long
    from judgeaudit.tables.roles import roles_of

    columns: dict[str, Any] = dict(
        item=item, repeat=repeat, score=score, verdict=verdict, ranking=ranking,
        probability=probability, by=by, window=window, order=order, gold=gold, group=group,
        task=task, digest=digest, missing=missing, label=label, invalid=invalid, decimal=decimal,
        across=across,
    )  # fmt: skip
    roles, wish = roles_of(columns, "analyze_table"), Wish(gap=gap, pass_at=pass_at)
    if isinstance(source, pd.DataFrame):
        return explore(read_frame(source, roles), wish)
    paths = [source] if isinstance(source, str | os.PathLike) else list(source)
    return explore(read_long([Path(path) for path in paths], roles), wish)


def estimates(found: Report | Findings | Iterable[Estimate]) -> pd.DataFrame:
    """Return estimates as a table, one row each; the columns are `analysis.frame.COLUMNS`."""
    known: Any = found.estimates if isinstance(found, Report | Findings) else found
    return estimates_frame(known)
