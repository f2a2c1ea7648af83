"""The protocol of a new study: a built-in one or a person's file, with a prompt of their own."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from judgeaudit.canonical import read_regular
from judgeaudit.design.asking import Asker
from judgeaudit.design.builtin_protocols import protocol_source
from judgeaudit.design.draft import Source, parse_document
from judgeaudit.design.edit import with_option, with_prompt, with_structure, with_text
from judgeaudit.design.protocol import ProtocolDocument
from judgeaudit.errors import InputError, RegistrationError
from judgeaudit.instrument.readout import Readout
from judgeaudit.instrument.readout.interface import Prompt
from judgeaudit.model import Item


def chosen_protocol(
    name: str, prompt: Path | None, orders: str | None, structured: bool
) -> tuple[Source, ProtocolDocument]:
    """Return a protocol's file as the choices change it, and what it says.

    `name` is a built-in protocol or a file; `prompt` a file that replaces its prompt; `structured`
    asks for the answer by JSON schema. Raises `InputError` or `RegistrationError` naming the place.
    """
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


def with_texts(source: Source, given: Mapping[str, Path]) -> tuple[Source, ProtocolDocument]:
    """Return a protocol with the texts of its stages taken from files, by name."""
    for name, file in given.items():
        source = with_text(source, name, _utf8(file).strip())
    return source, _parsed(source)


def _parsed(source: Source) -> ProtocolDocument:
    parsed, problems = parse_document(ProtocolDocument, source)
    if parsed is None:
        raise RegistrationError(source.path, problems)
    return parsed


def _prompt_text(path: Path) -> str:
    text = _utf8(path)
    try:
        Prompt(None, text)
    except InputError as error:
        place = error.place.removeprefix("user, ")
        raise InputError(path, place, error.found, error.remedy) from error
    return text


def _utf8(path: Path) -> str:
    try:
        return read_regular(path).decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(path, f"byte {error.start}", "not UTF-8") from error


def refuse_unfilled(
    protocol: ProtocolDocument,
    items: tuple[Item, ...],
    prompt: str,
    file: Path | None,
    *,
    own_prompt: bool = False,
) -> None:
    """Raise `InputError` for a placeholder that an item does not fill, naming both lines.

    Without a prompt of the person's own the next step is to write one; where rows have no
    candidates and the readout wants some, it is to name their columns.
    """
    for asking in Asker.of(protocol).stages[0]:
        if asking.cell is not None:
            continue
        for item in items:
            faults = asking.readout.problems(item)
            unfilled = [text for text in faults if text.startswith("prompt: ")]
            if unfilled:
                raise _unfilled(asking.readout, item, prompt, file, unfilled[0], own_prompt)
            if file is not None and not item.candidates and faults:
                raise _without_candidates(item, file, faults[0])


def _without_candidates(item: Item, file: Path, fault: str) -> InputError:
    columns = ", ".join(item.fields) or "none"
    remedy = f"name the columns that hold candidates: --candidates A,B; columns there: {columns}"
    return InputError(file, f"item {item.id!r}", fault, remedy)


def _unfilled(
    readout: Readout, item: Item, prompt: str, file: Path | None, fault: str, own_prompt: bool
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
    line = next(
        (f", {unit} {item.meta[unit]}" for unit in ("line", "row") if unit in item.meta), ""
    )
    return InputError(
        prompt,
        place.removeprefix("user, "),
        f"placeholder {{{name}}} has no field in {file or 'the battery'}{line} (item {item.id!r})",
        f"fields there: {', '.join(sorted(have))}"
        + ("" if own_prompt else "; write a prompt that shows them: --prompt FILE"),
    )
