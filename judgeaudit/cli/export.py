"""`judgeaudit export`: a study, or anybody's table, as files for a paper's supplement."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from judgeaudit.cli import table_options as table
from judgeaudit.cli.exits import ExitCode, exits
from judgeaudit.cli.export_output import tell
from judgeaudit.cli.output import AsJson
from judgeaudit.errors import InputError

FORMATS = ("parquet",)


@exits
def export(
    targets: table.Targets,
    to: Annotated[str, typer.Option("--to", help=f"Format: {', '.join(FORMATS)}.")] = FORMATS[0],
    out: Annotated[
        Path | None, typer.Option("--out", help="New folder; default: `supplement` at the target.")
    ] = None,
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
    as_json: AsJson = False,
) -> ExitCode:
    """Write attempts, readings, estimates and verdicts as files that any tool opens.

    Each column carries its sentence, each file the digests of what it was made from, and a
    README says what each file and row is. The folder is written whole or not at all.

    Example: judgeaudit export my-study --to parquet --out supplement
    """
    if to not in FORMATS:
        raise InputError("--to", found=f"{to!r}", remedy=f"formats: {', '.join(FORMATS)}")
    columns = dict(
        item=item, repeat=repeat, score=score, verdict=verdict, ranking=ranking,
        probability=probability, by=by, window=window, day=day,
        condition=condition, order=order, gold=gold, group=group,
        task=task, digest=digest, missing=missing, label=label, invalid=invalid, decimal=decimal,
        across=across,
    )  # fmt: skip
    wished: dict[str, Any] = {"gap": gap, "pass_at": pass_at, "also": also}
    if table.is_study(targets, {**columns, **wished}, "export"):
        from judgeaudit.study.export_study import export_study

        return tell(export_study(targets[0], out or targets[0] / "supplement"), as_json)
    from judgeaudit.study.export_table import export_table

    folder = out or targets[0].with_name(f"{targets[0].stem}-supplement")
    return tell(export_table(targets, columns, folder, **wished), as_json)
