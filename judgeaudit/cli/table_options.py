"""The options that say which column of a table plays which part, for every command on tables."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from judgeaudit.errors import InputError


def _option(flag: str, text: str) -> Any:
    return typer.Option(flag, help=text)


Targets = Annotated[
    list[Path],
    typer.Argument(
        help="A study's folder, or tables: .csv .tsv .jsonl .json .parquet .feather .xlsx"
    ),
]
Item = Annotated[str | None, _option("--item", "Item column(s): a or a,b.")]
Repeat = Annotated[str | None, _option("--repeat", "Column that numbers the runs.")]
Score = Annotated[
    str | None, _option("--score", "Column with scores; several (a,b or 'run*') in a wide table.")
]
Verdict = Annotated[str | None, _option("--verdict", "Column with verdicts.")]
Ranking = Annotated[
    str | None, _option("--ranking", "Column with rankings: b > a > c, b,a,c or a JSON list.")
]
Probability = Annotated[str | None, _option("--probability", "Column with probabilities.")]
By = Annotated[str | None, _option("--by", "Column(s) that split the table, e.g. judge: a or a,b.")]
Window = Annotated[str | None, _option("--window", "Column with the window: one stretch of time.")]
Day = Annotated[
    str | None, _option("--day", "Column with the number of the day that a window is on.")
]
Condition = Annotated[
    str | None, _option("--condition", "Column with the condition, e.g. quiet or loaded.")
]
Also = Annotated[
    str | None, _option("--also", "Further statistics by their catalogue names: a or a,b.")
]
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

Missing = Annotated[
    str | None, _option("--missing", "Words that are no answer: a or a,b (beside NA, None, null).")
]
Label = Annotated[
    str | None, _option("--label", "Words that are answers although they look like none, e.g. NA.")
]
Failed = Annotated[
    str | None, _option("--invalid", "Labels that tell of a failure and are no reading: a or a,b.")
]
Decimal = Annotated[str | None, _option("--decimal", "Decimal mark of numbers in text: . or ,")]
Across = Annotated[
    str | None,
    _option("--across", "What several value columns are: repeat (default), order or window."),
]


def is_gateway_log(targets: list[Path], options: dict[str, Any]) -> bool:
    """Return whether a command is about a gateway's log; `options` are those of tables alone."""
    if len(targets) != 1 or not targets[0].is_dir():
        return False
    from judgeaudit.study.gateway_log import is_log

    if not is_log(targets[0]):
        return False
    if any(value is not None for value in options.values()):
        told = "a gateway's log takes --value, --gap and --pass-at alone"
        raise InputError(targets[0], found=told, remedy="leave the others out")
    return True


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
