"""`judgeaudit analyze`: a study by its registration, or anybody's table, exploratory."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from judgeaudit.cli import table_options as table
from judgeaudit.cli.exits import ExitCode, exits
from judgeaudit.cli.output import AsJson
from judgeaudit.errors import InputError


@exits
def analyze(
    targets: table.Targets,
    item: table.Item = None,
    repeat: table.Repeat = None,
    score: table.Score = None,
    verdict: table.Verdict = None,
    ranking: table.Ranking = None,
    probability: table.Probability = None,
    by: table.By = None,
    window: table.Window = None,
    day: table.Day = None,
    condition: table.Condition = None,
    order: table.Order = None,
    gold: table.Gold = None,
    group: table.Group = None,
    task: table.Task = None,
    digest: table.Digest = None,
    missing: table.Missing = None,
    label: table.Label = None,
    invalid: table.Failed = None,
    decimal: table.Decimal = None,
    across: table.Across = None,
    gap: table.Gap = None,
    pass_at: table.PassAt = None,
    also: table.Also = None,
    out: Annotated[
        Path | None, typer.Option("--out", help="Write the estimates: .parquet or .csv.")
    ] = None,
    value: Annotated[
        str | None,
        typer.Option("--value", help="A gateway's log: how answers are read, '$.score', 'GRADE:'."),
    ] = None,
    items: Annotated[
        Path | None,
        typer.Option("--items", help="Write which items flip, and how: .parquet or .csv."),
    ] = None,
    as_json: AsJson = False,
) -> ExitCode:
    """Compute what a study registered, or describe a table of judge outputs or a gateway's log.

    A study takes no options but --items: what it computes stands in its registration. Several
    table files without --repeat are one run each.

    Example: judgeaudit analyze scores.csv --item item --repeat run --score score
    """
    columns = dict(
        item=item, repeat=repeat, score=score, verdict=verdict, ranking=ranking,
        probability=probability, by=by, window=window, day=day,
        condition=condition, order=order, gold=gold, group=group,
        task=task, digest=digest, missing=missing, label=label, invalid=invalid, decimal=decimal,
        across=across,
    )  # fmt: skip
    if table.is_gateway_log(targets, {**columns, "also": also, "out": out, "items": items}):
        from judgeaudit.cli.analyze_log import analyze_log

        return analyze_log(targets[0], value, gap, pass_at, as_json)
    if value is not None:
        raise InputError("--value", found="no gateway's log", remedy="name a column with --score")
    if table.is_study(
        targets, {**columns, "gap": gap, "pass_at": pass_at, "also": also, "out": out}, "analyze"
    ):
        from judgeaudit.cli.analyze_study import analyze_study

        return analyze_study(targets[0], as_json, items)
    from judgeaudit.cli.analyze_table import tell
    from judgeaudit.study.table import explore_files

    report = explore_files(
        targets, columns, gap=gap, pass_at=pass_at, also=also, out=out, items=items
    )
    return tell(report, [path for path in (out, items) if path], as_json)
