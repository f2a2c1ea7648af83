"""What the commands do, for notebooks: a study from `init` to verdict, anybody's table, estimates.

`judgeaudit` exports these names and imports this module on first use, so that importing the package
costs nothing. The commands call the same functions. Nothing here decides what the commands would
not: thresholds come from registrations alone, and what no registration names is exploratory.

What takes long tells a `progress` callback (`judgeaudit.study.progress`; `print` is one), what goes
wrong is raised as a `JudgeauditError`, and nothing is printed.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from judgeaudit.analysis.catalogue import compute
from judgeaudit.analysis.estimate import Estimate
from judgeaudit.analysis.exploratory import Report, explore
from judgeaudit.analysis.frame import estimates_frame
from judgeaudit.analysis.items import items_frame
from judgeaudit.analysis.question import Over, Question
from judgeaudit.design.frozen import FrozenStudy
from judgeaudit.errors import InputError, JudgeauditError
from judgeaudit.readings.table import checked
from judgeaudit.study.amend import amend
from judgeaudit.study.analyze import analyze
from judgeaudit.study.check import check
from judgeaudit.study.export_study import export_study
from judgeaudit.study.export_table import export_table
from judgeaudit.study.folders import Folder
from judgeaudit.study.freeze import freeze
from judgeaudit.study.gate import gate
from judgeaudit.study.gate_table import gate_table
from judgeaudit.study.init import init
from judgeaudit.study.look import show, status
from judgeaudit.study.monitor import monitor
from judgeaudit.study.oc import oc
from judgeaudit.study.pilot import pilot
from judgeaudit.study.power import power
from judgeaudit.study.results import Analysed, analyse, item_changes
from judgeaudit.study.run import run
from judgeaudit.study.sealed import load, sealed_runs_of, study_table
from judgeaudit.study.stamp import stamp
from judgeaudit.study.supplement_files import Exported
from judgeaudit.study.table import check_wish, wish_of
from judgeaudit.study.verify import verify
from judgeaudit.tables.raw import check_files
from judgeaudit.tables.read import read_frame, read_long
from judgeaudit.tables.roles import roles_of
from judgeaudit.verdict import Findings, decide

__all__ = [
    "JudgeauditError",
    "amend",
    "analyze",
    "analyze_table",
    "check",
    "decide",
    "estimate",
    "estimates",
    "export",
    "freeze",
    "gate",
    "gate_table",
    "init",
    "items",
    "load_readings",
    "load_study",
    "monitor",
    "oc",
    "pilot",
    "power",
    "run",
    "show",
    "stamp",
    "status",
    "verdicts",
    "verify",
]

TableSource = str | os.PathLike[str] | pd.DataFrame


def load_study(folder: Folder) -> FrozenStudy:
    """Return a frozen study; raises `EvidenceError` where a file is not what its lock says."""
    return load(Path(folder))


def load_readings(study: FrozenStudy | Folder) -> pd.DataFrame:
    """Return one row a planned call of the sealed runs, joined with gold and truth of its item.

    `study` is a study's folder, or what `load_study` gave. The columns are those of
    `judgeaudit.readings.table.COLUMNS`; what came back invalid is a row with a reason. Raises
    `EvidenceError` where a sealed file differs from its manifest, `UndefinedEstimate` where nothing
    is sealed.
    """
    frozen = _frozen(study)
    sealed_runs_of(frozen)
    return study_table(frozen)


def _frozen(study: FrozenStudy | Folder) -> FrozenStudy:
    if isinstance(study, FrozenStudy):
        return study
    if not isinstance(study, str | os.PathLike):
        raise InputError("study", found=type(study).__name__, remedy="give a study's folder")
    return load_study(study)


def verdicts(study: FrozenStudy | Folder) -> Findings:
    """Return what the registration's gates, rules and analyses say of the sealed runs.

    `study` is a study's folder, or what `load_study` gave. Raises as `load_readings` does.
    """
    return analyse(_frozen(study)).findings


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
    day: str | None = None,
    condition: str | None = None,
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
    also: str | Sequence[str] | None = None,
) -> Report:
    """Return what `judgeaudit analyze` finds in a table: a file, several runs' files, or a frame.

    The keywords are the command's options, names of columns; exactly one of `score`, `verdict`,
    `ranking`, `probability` is given. `missing`, `label` and `invalid` are words (one text with
    commas, or a sequence). Raises `InputError` naming row or column.
    """
    columns: dict[str, Any] = dict(
        item=item, repeat=repeat, score=score, verdict=verdict, ranking=ranking,
        probability=probability, by=by, window=window, day=day,
        condition=condition, order=order, gold=gold, group=group,
        task=task, digest=digest, missing=missing, label=label, invalid=invalid, decimal=decimal,
        across=across,
    )  # fmt: skip
    paths: list[Path] = []
    if not isinstance(source, pd.DataFrame):
        given = [source] if isinstance(source, str | os.PathLike) else source
        paths = [Path(path) for path in given]
        check_files(paths)
    roles, wish = roles_of(columns, "analyze_table"), wish_of(gap, pass_at, also)
    check_wish(wish, roles)
    if isinstance(source, pd.DataFrame):
        return explore(read_frame(source, roles), wish)
    return explore(read_long(paths, roles), wish)


def estimates(
    found: FrozenStudy | Folder | Analysed | Report | Findings | Iterable[Estimate],
) -> pd.DataFrame:
    """Return estimates as a table, one row each; the columns are `analysis.frame.COLUMNS`.

    `found` is a study's folder, what `load_study`, `analyze`, `analyze_table` or `verdicts` gave,
    or estimates. Raises `InputError` for anything else, and as `load_readings` does for a study.
    """
    if isinstance(found, str | os.PathLike | FrozenStudy):
        return estimates_frame(verdicts(found).estimates)
    known: Any = found.findings if isinstance(found, Analysed) else found
    known = known.estimates if isinstance(known, Report | Findings) else known
    known = list(known) if isinstance(known, Iterable) else [known]
    strangers = [one for one in known if not isinstance(one, Estimate)]
    if strangers:
        what = f"{type(found).__name__} with {type(strangers[0]).__name__}"
        raise InputError("estimates", found=what, remedy="give a study's folder, or a result")
    return estimates_frame(known)


def items(found: FrozenStudy | Folder | Analysed | Report | pd.DataFrame) -> pd.DataFrame:
    """Return which items changed their answers: from what to what, how often (`analysis.items`).

    `found` is a study's folder, what `load_study`, `analyze` or `analyze_table` gave, or readings
    as `load_readings` gives them. Raises `InputError` for anything else.
    """
    if isinstance(found, Report):
        return found.items()
    if isinstance(found, pd.DataFrame):
        return items_frame(checked(found))
    return item_changes(found if isinstance(found, Analysed) else analyse(_frozen(found)))


def export(
    source: Folder,
    *,
    out: Folder | None = None,
    columns: Mapping[str, Any] | None = None,
) -> Exported:
    """Write a study, or a table's file, as Parquet files with a README: a paper's supplement.

    `columns` says of a table which column plays which part, by the keywords of `analyze_table`.
    `out` is a new folder, by default `supplement` beside the source; it is written whole or not at
    all. Raises `InputError` where it is taken.
    """
    path = Path(source)
    if path.is_dir():
        return export_study(path, Path(out or path / "supplement"))
    folder = out or path.with_name(f"{path.stem}-supplement")
    return export_table([path], columns or {}, Path(folder))
