"""`judgeaudit init`: a study that passes `prereg check`, ready to edit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from judgeaudit.cli.exits import ExitCode, exits
from judgeaudit.cli.output import AsJson, document, lines, remark
from judgeaudit.errors import InputError

if TYPE_CHECKING:
    from judgeaudit.battery import Battery
    from judgeaudit.design.draft import Source
    from judgeaudit.design.protocol import ProtocolDocument
    from judgeaudit.design.scaffold import EndpointChoice, Origin
    from judgeaudit.instrument.readout import Readout
    from judgeaudit.model import Item


LOCAL = "embedded:local"
"""The small local judge, which seldom keeps to a form that nothing enforces."""


def _columns(text: str | None) -> tuple[str, ...]:
    return tuple(part.strip() for part in (text or "").split(",") if part.strip())


@exits
def init(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="A new or empty folder.")],
    protocol: Annotated[
        str, typer.Option(help="ranking, score, verdict, label-pair ..., or a .toml file.")
    ],
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
    api: Annotated[str, typer.Option(help="openai.chat or anthropic.messages.")] = "openai.chat",
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

    Example: judgeaudit init my-study --protocol verdict --items pairs.json
    --candidates output_1,output_2 --gold label --prompt prompt.txt --base-url embedded:local
    """
    from judgeaudit.battery.foreign import Columns
    from judgeaudit.design.scaffold import EndpointChoice, scaffold
    from judgeaudit.study.folders import refuse_existing, write_study
    from judgeaudit.study.sound import statistics

    refuse_existing(directory)
    if structured is None:
        structured = base_url == LOCAL
    source, parsed = _protocol(protocol, prompt, orders, structured)
    if text:
        source, parsed = _with_texts(source, text)
    columns = Columns(id_, _columns(candidates), gold, group, task, limit)
    if items is None:
        battery, origin = _generated(parsed, n, seed, limit)
    else:
        battery, origin = _own(items, columns)
    _refuse_unfilled(parsed, battery.items, str(prompt or source.path), items)
    controls, without = _controls(parsed, battery)
    _refuse_unknown_judge(base_url)
    endpoint = EndpointChoice(api, base_url, model, key_env)
    files = scaffold(directory, source, battery.items, controls, endpoint, origin, statistics())
    write_study(directory, files)
    notes = [*map(str, battery.report.get("notes", ())), *without]
    notes += _not_understood(parsed, battery.items[0], endpoint)
    _say(directory, files, len(battery.items), len(controls), notes, as_json)
    return ExitCode.DONE


def _refuse_unknown_judge(base_url: str | None) -> None:
    """Raise `InputError` for an embedded judge there is none of."""
    from judgeaudit.endpoint.server import PREFIX
    from judgeaudit.endpoint.simulated.scenarios import scenario

    if base_url is None or not base_url.startswith(PREFIX) or base_url == LOCAL:
        return
    try:
        scenario(base_url.removeprefix(PREFIX))
    except InputError as error:
        raise InputError("--base-url", base_url, error.found, error.remedy) from error


def _not_understood(
    protocol: ProtocolDocument, item: Item, endpoint: EndpointChoice
) -> Iterator[str]:
    """Yield that the simulated judge takes this prompt for free text, where that is so."""
    from judgeaudit.design.asking import Asker
    from judgeaudit.endpoint.server import PREFIX
    from judgeaudit.endpoint.simulated.question import LOOKED_FOR, understand

    url = endpoint.base_url
    if protocol.stages or url == LOCAL or (url is not None and not url.startswith(PREFIX)):
        return
    readout = next(iter(Asker.of(protocol).stages[0])).readout
    ask = readout.ask(item, readout.arms(item)[0])
    messages = [(message.role, message.content) for message in ask.messages]
    asked = understand(messages, ask.json_schema, ask.top_logprobs is not None)
    if readout.name != "text" and asked is not None and asked.kind == "text":
        yield (
            "the simulated judge reads no closed question in this prompt and will write prose that "
            f"cannot be read as an answer ({LOOKED_FOR}); a real model may do better"
        )


def _protocol(
    name: str, prompt: Path | None, orders: str | None, structured: bool
) -> tuple[Source, ProtocolDocument]:
    from judgeaudit.design.builtin_protocols import protocol_source
    from judgeaudit.design.edit import with_option, with_prompt, with_structure

    source = protocol_source(name)
    if prompt is not None:
        source = with_prompt(source, _prompt_text(prompt))
    if orders is not None:
        source = with_option(source, "orders", orders)
    parsed = _parsed(source)
    if structured and not parsed.stages:  # a person writes what each stage asks for
        source = with_structure(source, parsed.all_stages()[-1].readout)
        parsed = _parsed(source)
    return source, parsed


def _with_texts(source: Source, given: list[str]) -> tuple[Source, ProtocolDocument]:
    from judgeaudit.design.edit import with_text

    for text in given:
        name, sign, file = text.partition("=")
        if not sign:
            raise InputError("--text", found=repr(text), remedy="write NAME=FILE")
        source = with_text(source, name, _utf8(Path(file)).strip())
    return source, _parsed(source)


def _parsed(source: Source) -> ProtocolDocument:
    from judgeaudit.design.draft import parse_document
    from judgeaudit.design.protocol import ProtocolDocument
    from judgeaudit.errors import RegistrationError

    parsed, problems = parse_document(ProtocolDocument, source)
    if parsed is None:
        raise RegistrationError(source.path, problems)
    return parsed


def _prompt_text(path: Path) -> str:
    from judgeaudit.instrument.readout.interface import Prompt

    text = _utf8(path)
    try:
        Prompt(None, text)
    except InputError as error:
        place = error.place.removeprefix("user, ")
        raise InputError(path, place, error.found, error.remedy) from error
    return text


def _utf8(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(path, f"byte {error.start}", "not UTF-8") from error


def _generated(
    protocol: ProtocolDocument, n: int | None, seed: int, limit: int | None
) -> tuple[Battery, Origin]:
    from judgeaudit.battery import build_battery
    from judgeaudit.design.base import plain
    from judgeaudit.design.scaffold import Origin

    defaults = plain(protocol.battery_defaults)
    if "kind" not in defaults:
        raise InputError("--items", found="missing", remedy="this protocol has no battery")
    kind, size = defaults.pop("kind"), defaults.pop("n", 20)
    defaults.pop("seed", None)
    battery = build_battery(kind, n or size, seed, **defaults)
    if limit is not None:
        from dataclasses import replace

        battery = replace(battery, items=battery.items[:limit])
    note = f"Generated: judgeaudit battery {kind} --n {n or size} --seed {seed}"
    return battery, Origin(kind, note, seed)


def _own(path: Path, columns: object) -> tuple[Battery, Origin]:
    from judgeaudit.battery.foreign import Columns, format_of, items_from_rows, read_rows
    from judgeaudit.design.scaffold import Origin

    assert isinstance(columns, Columns)
    rows = read_rows(path, path.read_bytes(), format_of(path.name))
    battery = items_from_rows(path, rows, columns)
    return battery, Origin("user", f"Made from {path.name} by `judgeaudit init`.")


def _refuse_unfilled(
    protocol: ProtocolDocument, items: tuple[Item, ...], prompt: str, file: Path | None
) -> None:
    """Raise `InputError` for a placeholder that an item does not fill, naming both lines."""
    from judgeaudit.design.asking import Asker

    for asking in Asker.of(protocol).stages[0]:
        if asking.cell is not None:
            continue
        for item in items:
            faults = [text for text in asking.readout.problems(item) if text.startswith("prompt: ")]
            if faults:
                raise _unfilled(asking.readout, item, prompt, file, faults[0])


def _unfilled(
    readout: Readout, item: Item, prompt: str, file: Path | None, fault: str
) -> InputError:
    have = readout.fields(item, readout.arms(item)[0])
    lacking = ((n, p) for n, p in readout.prompt.places().items() if n not in have)
    name, place = next(lacking, (None, ""))
    if name is None:  # it lacks what the readout must show, not a field
        return InputError(
            prompt,
            found=f"{fault.removeprefix('prompt: ')} (item {item.id!r})",
            remedy=f"placeholders that can be used: {', '.join(sorted(have))}",
        )
    line = f", line {item.meta['line']}" if "line" in item.meta else ""
    return InputError(
        prompt,
        place.removeprefix("user, "),
        f"placeholder {{{name}}} has no field in {file or 'the battery'}{line} (item {item.id!r})",
        f"fields there: {', '.join(sorted(have))}",
    )


def _controls(protocol: ProtocolDocument, battery: Battery) -> tuple[tuple[Item, ...], list[str]]:
    """Return the controls that these items can carry, or none and the reason."""
    from judgeaudit.battery.controls import controls_for

    try:
        return controls_for(protocol.all_stages()[-1].readout, battery.items), []
    except InputError as error:
        return (), [f"no controls: {error}"]


def _say(
    directory: Path,
    files: Mapping[str, bytes],
    items: int,
    controls: int,
    notes: list[str],
    as_json: bool,
) -> None:
    if as_json:
        document(
            {
                "study": str(directory),
                "files": sorted(files),
                "items": items,
                "controls": controls,
                "notes": notes,
            }
        )
        return
    lines([f"{directory}: {items} items, {controls} controls: {', '.join(sorted(files))}"])
    for note in notes:
        remark(f"note: {note}")
    remark(f"next: edit {directory / 'registration.toml'}; judgeaudit prereg check {directory}")
