"""`judgeaudit analyze`: a study by its registration, or anybody's table, exploratory."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from judgeaudit.cli.exits import ExitCode, exits
from judgeaudit.cli.output import AsJson
from judgeaudit.errors import InputError

if TYPE_CHECKING:
    from judgeaudit.cli.read_table import Roles

Targets = Annotated[
    list[Path],
    typer.Argument(help="A study's folder, or table files: .csv, .tsv, .parquet, .jsonl."),
]


def _column(flag: str, text: str) -> Any:
    return typer.Option(flag, help=text, rich_help_panel=None)


@exits
def analyze(
    targets: Targets,
    item: Annotated[str | None, _column("--item", "Item column(s): a or a,b.")] = None,
    repeat: Annotated[str | None, _column("--repeat", "Column that numbers the runs.")] = None,
    score: Annotated[str | None, _column("--score", "Column with scores.")] = None,
    verdict: Annotated[str | None, _column("--verdict", "Column with verdicts.")] = None,
    ranking: Annotated[str | None, _column("--ranking", "Column with rankings.")] = None,
    probability: Annotated[
        str | None, _column("--probability", "Column with probabilities.")
    ] = None,
    by: Annotated[str | None, _column("--by", "Column(s) that split the table: a or a,b.")] = None,
    window: Annotated[str | None, _column("--window", "Column with the window or day.")] = None,
    order: Annotated[str | None, _column("--order", "Column with the candidates' order.")] = None,
    gold: Annotated[str | None, _column("--gold", "Column with the right answer.")] = None,
    group: Annotated[str | None, _column("--group", "Column: what a best is picked from.")] = None,
    task: Annotated[str | None, _column("--task", "Column: what items are nested in.")] = None,
    digest: Annotated[
        str | None, _column("--digest", "Column equal for equal requests: digest or prompt.")
    ] = None,
    gap: Annotated[
        float | None, typer.Option("--gap", help="A gap between two items to resolve.")
    ] = None,
    pass_at: Annotated[
        float | None, typer.Option("--pass-at", help="A pass mark on the scores.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", help="Write the estimates: .parquet or .csv.")
    ] = None,
    as_json: AsJson = False,
) -> ExitCode:
    """Compute what a study registered, or describe a table of judge outputs.

    A study takes no options: what it computes stands in its registration. Several table files
    without --repeat are one run each.

    Example: judgeaudit analyze scores.csv --item item --repeat run --score score
    """
    values = {"score": score, "verdict": verdict, "ranking": ranking, "probability": probability}
    others = (item, repeat, by, window, order, gold, group, task, digest, gap, pass_at, out)
    if any(path.is_dir() for path in targets):
        _refuse_options(targets, [*values.values(), *others])
        from judgeaudit.cli.analyze_study import analyze_study

        return analyze_study(targets[0], as_json)
    from judgeaudit.analysis.exploratory import Wish
    from judgeaudit.cli.analyze_table import analyze_table

    columns = {
        "repeat": repeat,
        "window": window,
        "order": order,
        "gold": gold,
        "group": group,
        "task": task,
        "digest": digest,
    }
    roles = _roles(values, item, by, columns)
    return analyze_table(targets, roles, Wish(gap=gap, pass_at=pass_at), out, as_json)


def _refuse_options(targets: list[Path], given: list[object]) -> None:
    if len(targets) > 1:
        raise InputError("analyze", found="a study and more", remedy="give one study, or tables")
    if any(value is not None for value in given):
        raise InputError(
            targets[0],
            found="a study takes no options: its registration says what is computed",
            remedy="leave them out",
        )


def _roles(
    values: dict[str, str | None], item: str | None, by: str | None, columns: dict[str, str | None]
) -> Roles:
    from judgeaudit.cli.read_table import Roles

    given = [(kind, name) for kind, name in values.items() if name]
    if len(given) != 1:
        raise InputError(
            "analyze",
            found="no value column" if not given else f"{len(given)} value columns",
            remedy="give exactly one of --score, --verdict, --ranking, --probability COLUMN",
        )
    kind, value = given[0]
    return Roles(kind=kind, value=value, item=_names(item), by=_names(by), **columns)  # type: ignore[arg-type]  # kind is one of the four keys


def _names(text: str | None) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip()) if text else ()
