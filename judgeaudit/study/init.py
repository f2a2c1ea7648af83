"""A new study on disk: a registration, a protocol, items and controls that pass `check`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from judgeaudit.battery import Battery, build_battery
from judgeaudit.battery.controls import controls_for
from judgeaudit.battery.foreign import Columns, format_of, items_from_rows, read_rows
from judgeaudit.battery.items import holds_items, items_from_bytes
from judgeaudit.canonical import read_regular
from judgeaudit.design.asking import Asker
from judgeaudit.design.base import plain
from judgeaudit.design.protocol import ProtocolDocument
from judgeaudit.design.scaffold import EndpointChoice, Origin, scaffold
from judgeaudit.endpoint.server import PREFIX
from judgeaudit.endpoint.simulated.question import LOOKED_FOR, understand
from judgeaudit.endpoint.simulated.scenarios import scenario
from judgeaudit.errors import InputError
from judgeaudit.instrument.readout import READOUTS
from judgeaudit.model import Item
from judgeaudit.study.folders import Folder, refuse_existing, write_study
from judgeaudit.study.protocol_file import chosen_protocol, refuse_unfilled, with_texts
from judgeaudit.study.sound import statistics

LOCAL = "embedded:local"
"""The small local judge, which seldom keeps to a form that nothing enforces."""


@dataclass(frozen=True, slots=True)
class Made:
    """A study that was made: its folder, its files, how many items and controls it has."""

    folder: Path
    files: tuple[str, ...]
    items: int
    controls: int
    notes: tuple[str, ...]


def init(
    folder: Folder,
    protocol: str,
    *,
    items: Folder | None = None,
    id: str | None = None,
    candidates: Sequence[str] = (),
    gold: str | None = None,
    group: str | None = None,
    task: str | None = None,
    orders: Literal["as_given", "both"] | None = None,
    limit: int | None = None,
    prompt: Folder | None = None,
    texts: Mapping[str, Path] | None = None,
    structured: bool | None = None,
    n: int | None = None,
    seed: int = 1,
    api: str = "openai.chat",
    base_url: str | None = None,
    model: str | None = None,
    key_env: str | None = None,
) -> Made:
    """Make a study in a new or empty folder that passes `check`, ready to edit.

    `protocol` is a built-in one (`verdict`, `score`, `ranking` ...) or a `.toml` file. Without
    `items` a battery of `n` is generated from `seed`; without `base_url` and `model` the judge is
    simulated. `id`, `candidates`, `gold`, `group` and `task` name fields of the items' rows.
    Raises `InputError` or `RegistrationError` naming file, place and what to do; nothing is
    written then.
    """
    directory = Path(folder)
    refuse_existing(directory)
    structured = base_url == LOCAL if structured is None else structured
    prompt_file = None if prompt is None else Path(prompt)
    source, parsed = chosen_protocol(protocol, prompt_file, orders, structured)
    if texts:
        source, parsed = with_texts(source, texts)
    own = None if items is None else Path(items)
    if own is None:
        battery, origin = _generated(parsed, n, seed, limit)
    else:
        columns = Columns(id, tuple(candidates), gold, group, task, limit)
        battery, origin = _own(own, columns)
    shown = str(prompt_file or source.path)
    refuse_unfilled(parsed, battery.items, shown, own, own_prompt=prompt_file is not None)
    controls, without = _controls(parsed, battery)
    _refuse_unknown_judge(base_url)
    endpoint = EndpointChoice(api, base_url, model, key_env)
    files = scaffold(directory, source, battery.items, controls, endpoint, origin, statistics())
    write_study(directory, files)
    notes = [*map(str, battery.report.get("notes", ())), *without]
    notes += _not_understood(parsed, battery.items[0], endpoint)
    return Made(directory, tuple(sorted(files)), len(battery.items), len(controls), tuple(notes))


def _generated(
    protocol: ProtocolDocument, n: int | None, seed: int, limit: int | None
) -> tuple[Battery, Origin]:
    defaults = plain(protocol.battery_defaults)
    if "kind" not in defaults:
        raise InputError("--items", found="missing", remedy="this protocol has no battery")
    kind, size = defaults.pop("kind"), defaults.pop("n", 20)
    defaults.pop("seed", None)
    battery = build_battery(kind, n or size, seed, **defaults)
    if limit is not None:
        battery = replace(battery, items=battery.items[:limit])
    note = f"Generated: judgeaudit battery {kind} --n {n or size} --seed {seed}"
    return battery, Origin(kind, note, seed)


def _own(path: Path, columns: Columns) -> tuple[Battery, Origin]:
    """Return a person's rows as items; a file that `battery --out` wrote holds items already."""
    data = read_regular(path)
    rows = read_rows(path, data, format_of(path.name))
    if holds_items(cells for _, cells in rows) and columns == Columns(limit=columns.limit):
        items = items_from_bytes(path, data)[: columns.limit]
        kind = str(items[0].meta.get("battery", "user"))
        return Battery(items), Origin(kind, f"Read from {path.name}, a file of items.")
    battery = items_from_rows(path, rows, columns)
    return battery, Origin("user", f"Made from {path.name} by `judgeaudit init`.")


def _controls(protocol: ProtocolDocument, battery: Battery) -> tuple[tuple[Item, ...], list[str]]:
    """Return the controls that these items can carry, or none and the reason."""
    try:
        record = READOUTS[protocol.all_stages()[-1].readout].record
        return controls_for(record.controls, battery.items), []
    except InputError as error:
        return (), [f"no controls: {error}"]


def _not_understood(
    protocol: ProtocolDocument, item: Item, endpoint: EndpointChoice
) -> Iterator[str]:
    """Yield that the simulated judge takes this prompt for free text, where that is so."""
    url = endpoint.base_url
    if protocol.stages or url == LOCAL or (url is not None and not url.startswith(PREFIX)):
        return
    readout = next(iter(Asker.of(protocol).stages[0])).readout
    ask = readout.ask(item, readout.arms(item)[0])
    messages = [(message.role, message.content) for message in ask.messages]
    asked = understand(messages, ask.json_schema, ask.top_logprobs is not None)
    if readout.record.column != "text" and asked is not None and asked.kind == "text":
        yield (
            "the simulated judge reads no closed question in this prompt and will write prose that "
            f"cannot be read as an answer ({LOOKED_FOR}); a real model may do better"
        )


def _refuse_unknown_judge(base_url: str | None) -> None:
    """Raise `InputError` for an embedded judge there is none of."""
    if base_url is None or not base_url.startswith(PREFIX) or base_url == LOCAL:
        return
    try:
        scenario(base_url.removeprefix(PREFIX))
    except InputError as error:
        raise InputError("--base-url", base_url, error.found, error.remedy) from error
