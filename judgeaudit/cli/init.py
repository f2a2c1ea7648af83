"""`judgeaudit init`: a study that passes `prereg check`, ready to edit."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from judgeaudit.cli.exits import ExitCode, exits
from judgeaudit.cli.output import AsJson, document, lines, remark
from judgeaudit.errors import InputError

if TYPE_CHECKING:
    from judgeaudit.study.init import Made


@exits
def init(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="A new or empty folder.")],
    protocol: Annotated[
        str | None, typer.Option(help="ranking, score, verdict, label-pair ..., or a .toml file.")
    ] = None,
    from_log: Annotated[
        Path | None,
        typer.Option("--from", help="A gateway's log: its recorded requests, byte for byte."),
    ] = None,
    kind: Annotated[str | None, typer.Option(help="With --from: the kind of call.")] = None,
    value: Annotated[
        str | None, typer.Option(help="With --from: how answers are read, '$.score', 'GRADE:'.")
    ] = None,
    scale: Annotated[
        str | None, typer.Option(help="With --from: the scale of numbers, LOW,HIGH.")
    ] = None,
    items: Annotated[
        Path | None, typer.Option(help="Your items: .jsonl, .json (an array) or .csv.")
    ] = None,
    id_: Annotated[str | None, typer.Option("--id", help="The column that names an item.")] = None,
    candidates: Annotated[
        str | None, typer.Option(help="The columns that hold candidates, e.g. output_1,output_2.")
    ] = None,
    gold: Annotated[str | None, typer.Option(help="The column with the right answer.")] = None,
    group: Annotated[str | None, typer.Option(help="What rankings are formed within.")] = None,
    task: Annotated[str | None, typer.Option(help="What items are nested in.")] = None,
    orders: Annotated[
        Literal["as_given", "both"] | None, typer.Option(help="Orders in which a pair is asked.")
    ] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Take the first N rows only.")] = None,
    prompt: Annotated[
        Path | None, typer.Option(help="Your prompt, with {field} placeholders; {{ for a brace.")
    ] = None,
    text: Annotated[
        list[str] | None,
        typer.Option(help="A text of the protocol's stages from a file, NAME=FILE; repeatable."),
    ] = None,
    structured: Annotated[
        bool | None,
        typer.Option(help="Ask for an answer by JSON schema; the default at embedded:local."),
    ] = None,
    n: Annotated[int | None, typer.Option(min=1, help="Size of a generated battery.")] = None,
    seed: Annotated[int, typer.Option(help="Seed of a generated battery.")] = 1,
    api: Annotated[
        str, typer.Option(help="What is spoken there: openai.chat, anthropic.messages ...")
    ] = "openai.chat",
    base_url: Annotated[
        str | None, typer.Option(help="An address, embedded:SCENARIO or embedded:local.")
    ] = None,
    model: Annotated[str | None, typer.Option(help="The model's name at that address.")] = None,
    key_env: Annotated[
        str | None, typer.Option(help="The environment variable that holds the key.")
    ] = None,
    as_json: AsJson = False,
) -> ExitCode:
    """Make a study that passes `prereg check`, ready to edit.

    Without --items a battery is generated; without --base-url and --model the judge is simulated.

    With --from and --kind the requests are those that a gateway recorded.

    Example: judgeaudit init my-study --protocol verdict --items pairs.json
    --candidates output_1,output_2 --gold label --prompt prompt.txt --base-url embedded:local
    """
    if from_log is not None:
        from judgeaudit.study.from_log import init_from_log

        if kind is None or protocol is not None or items is not None:
            found = "--kind is missing" if kind is None else "--protocol or --items beside it"
            raise InputError("--from", found=found, remedy="give --from LOG --kind NAME")
        made = init_from_log(
            directory,
            from_log,
            kind=kind,
            n=n,
            seed=seed,
            value=value,
            scale=scale,
            base_url=base_url,
            key_env=key_env,
        )
        _say(made, as_json)
        return ExitCode.DONE
    if protocol is None:
        raise InputError("--protocol", found="missing", remedy="name one, or give --from LOG")
    from judgeaudit.study.init import init as make

    made = make(
        directory,
        protocol,
        items=items,
        id=id_,
        candidates=_columns(candidates),
        gold=gold,
        group=group,
        task=task,
        orders=orders,
        limit=limit,
        prompt=prompt,
        texts=_texts(text or []),
        structured=structured,
        n=n,
        seed=seed,
        api=api,
        base_url=base_url,
        model=model,
        key_env=key_env,
    )
    _say(made, as_json)
    return ExitCode.DONE


def _columns(text: str | None) -> tuple[str, ...]:
    return tuple(part.strip() for part in (text or "").split(",") if part.strip())


def _texts(given: list[str]) -> dict[str, Path]:
    found = {}
    for text in given:
        name, sign, file = text.partition("=")
        if not sign:
            raise InputError("--text", found=repr(text), remedy="write NAME=FILE")
        found[name] = Path(file)
    return found


def _say(made: Made, as_json: bool) -> None:
    if as_json:
        document(
            {
                "study": str(made.folder),
                "files": made.files,
                "items": made.items,
                "controls": made.controls,
                "notes": made.notes,
            }
        )
        return
    files = ", ".join(made.files)
    lines([f"{made.folder}: {made.items} items, {made.controls} controls: {files}"])
    for note in made.notes:
        remark(f"note: {note}")
    edit = made.folder / "registration.toml"
    remark(f"next: edit {edit}; judgeaudit prereg check {made.folder}")
