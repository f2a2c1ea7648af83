"""The options that say which column of a table plays which part, for every command on tables."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from judgeaudit.errors import InputError

if TYPE_CHECKING:
    from judgeaudit.tables.read import Roles


def _option(flag: str, text: str) -> Any:
    return typer.Option(flag, help=text)


Targets = Annotated[
    list[Path],
    typer.Argument(help="A study's folder, or table files: .csv, .tsv, .parquet, .jsonl."),
]
Item = Annotated[str | None, _option("--item", "Item column(s): a or a,b.")]
Repeat = Annotated[str | None, _option("--repeat", "Column that numbers the runs.")]
Score = Annotated[str | None, _option("--score", "Column with scores.")]
Verdict = Annotated[str | None, _option("--verdict", "Column with verdicts.")]
Ranking = Annotated[str | None, _option("--ranking", "Column with rankings.")]
Probability = Annotated[str | None, _option("--probability", "Column with probabilities.")]
By = Annotated[str | None, _option("--by", "Column(s) that split the table, e.g. judge: a or a,b.")]
Window = Annotated[str | None, _option("--window", "Column with the window or day.")]
Order = Annotated[str | None, _option("--order", "Column with the candidates' order.")]
Gold = Annotated[str | None, _option("--gold", "Column with the right answer.")]
Group = Annotated[
    str | None, _option("--group", "Column: the set from which a best item is picked.")
]
Task = Annotated[
    str | None,
    _option("--task", "Column: what items are nested in, e.g. a task with several answers."),
]
Digest = Annotated[
    str | None,
    _option("--digest", "Column that is equal where requests were: a digest, or the prompt."),
]
Gap = Annotated[
    float | None, _option("--gap", "A difference of two items: how many readings resolve it?")
]
PassAt = Annotated[float | None, _option("--pass-at", "A pass mark on the scores.")]

VALUES = ("score", "verdict", "ranking", "probability")


def is_study(targets: list[Path], options: dict[str, Any], command: str) -> bool:
    """Return whether a command is about a study; `options` are all that tables take.

    Raises `InputError` for a study beside something else, or with an option of tables.
    """
    if not any(path.is_dir() for path in targets):
        return False
    if len(targets) > 1:
        raise InputError(command, found="a study and more", remedy="give one study, or tables")
    if any(value is not None for value in options.values()):
        raise InputError(
            targets[0],
            found="a study takes no options: its registration says what is computed",
            remedy="leave them out",
        )
    return True


def roles_of(options: dict[str, str | None], command: str) -> Roles:
    """Return the roles that the column options give; raises `InputError` without one value."""
    from judgeaudit.tables.read import Roles

    given = [(kind, name) for kind in VALUES if (name := options.get(kind))]
    if len(given) != 1:
        raise InputError(
            command,
            found="no value column" if not given else f"{len(given)} value columns",
            remedy="give exactly one of --score, --verdict, --ranking, --probability COLUMN",
        )
    kind, value = given[0]
    item, by = _names(options.get("item")), _names(options.get("by"))
    single = {k: v for k, v in options.items() if k not in (*VALUES, "item", "by")}
    return Roles(kind=kind, value=value, item=item, by=by, **single)  # type: ignore[arg-type]  # kind is one of `VALUES`


def _names(text: str | None) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip()) if text else ()
