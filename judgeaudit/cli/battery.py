"""`judgeaudit battery`: items from a seed, and what the linter says of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from judgeaudit.cli.exits import ExitCode, exits
from judgeaudit.cli.output import AsJson, document, lines, remark
from judgeaudit.errors import InputError


@exits
def battery(
    kind: Annotated[
        str | None, typer.Argument(help="Which kind; without it, the kinds there are.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="The file to write, one item a line.")] = None,
    n: Annotated[int, typer.Option(min=1, help="How many, of what the kind counts.")] = 20,
    seed: Annotated[int, typer.Option(help="The same seed gives the same bytes.")] = 1,
    option: Annotated[
        list[str] | None, typer.Option(help="An option of this kind, NAME=JSON; may be repeated.")
    ] = None,
    as_json: AsJson = False,
) -> ExitCode:
    """Write items from a seed; an unfit battery is refused. Without KIND, list the kinds.

    Example: judgeaudit battery traces --n 8 --seed 1 --out items.jsonl
    """
    from judgeaudit.study.battery import kinds, write_battery

    if kind is None:
        found_kinds = kinds()
        if as_json:
            document(found_kinds)
        else:
            lines(
                [
                    f"{one['name']}: {one['about']}; --n counts {one['counts']}"
                    for one in found_kinds
                ]
            )
        return ExitCode.DONE
    if out is None:
        raise InputError("--out", found="missing", remedy="name the file to write")
    options = dict(_option(text) for text in option or [])
    found = write_battery(kind, out, n=n, seed=seed, options=options)
    if as_json:
        document(found.to_dict())
        return ExitCode.DONE
    lines([f"{out}: {found.items} items", *map(str, found.findings)])
    for name, value in found.report.items():
        remark(f"{name}: {json.dumps(value, ensure_ascii=False)}")
    remark(f"next: judgeaudit init DIR --protocol NAME --items {out}")
    return ExitCode.DONE


def _option(text: str) -> tuple[str, Any]:
    """Return NAME and value; a value that is no JSON is a text."""
    name, sign, value = text.partition("=")
    if not sign or not name:
        raise InputError("--option", found=repr(text), remedy="write NAME=VALUE")
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value
