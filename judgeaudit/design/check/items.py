"""Checks of protocol and items: readouts, templates, fields, and every request once composed.

One fault often meets hundreds of items: the same finding is reported once, with the first items
that have it and how many more there are.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain

from judgeaudit.design.asking import Asker, Asking, readout_of
from judgeaudit.design.bodies import BodyKey, Composer
from judgeaudit.design.protocol import Cell, ProtocolDocument, Stage
from judgeaudit.design.walk import not_json_problems
from judgeaudit.errors import InputError, Problem
from judgeaudit.instrument.readout import Prompt, options_problems
from judgeaudit.model import Item

SHOWN = 3
"""How many items stand behind one finding before the rest are only counted."""

TAKEN = "(taken from an earlier stage)"
"""Stands for a text that is not known before its stage has run."""


def protocol_problems(protocol: ProtocolDocument) -> Iterator[Problem]:
    """Yield what is wrong with the protocol alone: readouts, options, templates, takes."""
    yield from not_json_problems("protocol", protocol.model_dump())
    stages = protocol.all_stages()
    for number, stage in enumerate(stages, 1):
        key = f"protocol.stages[{number - 1}]" if protocol.stages else "protocol"
        yield from _asking_problems(key, stage, None)
        for position, cell in enumerate(stage.cells):
            here = f"{key}.cells[{position}]"
            yield from _asking_problems(here, stage, cell)
            yield from _take_problems(here, cell, number, stages)


def _asking_problems(key: str, stage: Stage, cell: Cell | None) -> Iterator[Problem]:
    kind, options = readout_of(stage, cell)
    for problem in options_problems(kind, options):
        yield Problem(f"{key}.{_option_key(problem.key)}", problem.found, problem.allowed)
    prompt = stage.prompt if cell is None else cell.prompt
    if prompt is not None:
        yield from _template_problems(f"{key}.prompt, ", prompt.system, prompt.user)
    for name, text in (stage.texts if cell is None else cell.texts).items():
        yield from _template_problems(f"{key}.texts.{name}, ", None, text)


def _template_problems(key: str, system: str | None, user: str) -> Iterator[Problem]:
    try:
        Prompt(system, user)
    except InputError as error:
        yield Problem(f"{key}{error.place}", error.found, error.remedy)


def _option_key(key: str) -> str:
    return "readout" if key == "kind" else f"options.{key}" if key != "options" else key


def _take_problems(key: str, cell: Cell, number: int, stages: Sequence[Stage]) -> Iterator[Problem]:
    for position, take in enumerate(cell.take):
        here = f"{key}.take[{position}]"
        if not take.stage < number:
            yield Problem(f"{here}.stage", f"found {take.stage}", f"a stage before {number}")
            continue
        cells = [earlier.name for earlier in stages[take.stage - 1].cells]
        if take.cell not in cells:
            yield Problem(f"{here}.cell", f"found {take.cell!r}", f"one of {', '.join(cells)}")


def prompt_problems(asker: Asker) -> Iterator[Problem]:
    """Yield what templates lack for their readouts."""
    for asking in chain.from_iterable(asker.stages):
        for problem in asking.readout.prompt_problems():
            yield Problem(f"{where(asking)}{problem.key}", problem.found, problem.allowed)


def where(asking: Asking) -> str:
    """Return the head of a key path for one way of asking."""
    stage = f"stage {asking.stage}: " if asking.stage > 1 else ""
    return stage + (f"cell {asking.cell.name!r}: " if asking.cell else "")


def item_problems(
    asker: Asker,
    protocol: ProtocolDocument,
    items: Sequence[Item],
    controls: Sequence[Item],
) -> Iterator[Problem]:
    """Yield items that cannot be asked as the protocol wants."""
    yield from _identity_problems(items, controls)
    found: dict[tuple[str, str], list[str]] = defaultdict(list)
    for asking in chain.from_iterable(asker.stages):
        for item in chain(items, controls):
            for fault in _faults(asking, item):
                found[where(asking), fault].append(item.id)
    for (head, fault), ids in found.items():
        yield Problem(f"{head}{named(ids)}", fault)


def _identity_problems(items: Sequence[Item], controls: Sequence[Item]) -> Iterator[Problem]:
    if not items:
        yield Problem("battery.file", "no items", "a battery holds at least one")
    seen: set[str] = set()
    for item in chain(items, controls):
        if item.id in seen:
            yield Problem(f"item {item.id!r}", "duplicate id", "give every item an id of its own")
        seen.add(item.id)
        if not _encodable(item.id, item.group, item.task):
            yield Problem(
                f"item {item.id!r}",
                "a lone surrogate in id, group or task",
                "write whole characters",
            )
    for item in controls:
        if "control" not in item.meta:
            yield Problem(
                f"control {item.id!r}",
                "meta.control is missing",
                'say which control it is, e.g. "identical" or "gold"',
            )


def _encodable(*texts: str) -> bool:
    try:
        return bool("".join(texts).encode("utf-8"))
    except UnicodeEncodeError:
        return False


def _faults(asking: Asking, item: Item) -> list[str]:
    taken = {take.field: TAKEN for take in asking.cell.take} if asking.cell else {}
    try:
        return list(asking.readout.problems(asking.item(item, taken)))
    except InputError as error:
        return [str(error)]


def named(ids: Sequence[str]) -> str:
    """Return `item 'a'`, or `items 'a', 'b', 'c' and 7 more`."""
    unique = list(dict.fromkeys(ids))
    text = ", ".join(map(repr, unique[:SHOWN]))
    more = f" and {len(unique) - SHOWN} more" if len(unique) > SHOWN else ""
    return f"item{'s' if len(unique) > 1 else ''} {text}{more}"


def compose_problems(
    composer: Composer, items: Iterable[Item], sizes: dict[BodyKey, int], bodies: set[str]
) -> Iterator[Problem]:
    """Compose every request; yield those that cannot be.

    Fills `sizes` with each request's body bytes, and `bodies` with the digests of different bodies.
    """
    found: dict[tuple[str, str], list[str]] = defaultdict(list)
    shown = list(items)
    prompts: dict[tuple[int, str], set[str]] = defaultdict(set)
    for stage in range(1, len(composer.asker.stages) + 1):
        for key, item in composer.keys(stage, shown):
            asking = composer.asker.find(stage, key[3])
            taken = {take.field: TAKEN for take in asking.cell.take} if asking.cell else {}
            try:
                body = composer.compose(key[0], stage, item, key[3], taken)
                for instead in withouts(asking):
                    composer.compose(key[0], stage, item, key[3], taken, instead)
                sizes[key] = len(body.request.body)
                bodies.add(body.body_sha256)
                if "control" not in item.meta:
                    prompts[stage, key[3]].add(body.prompt_sha256)
            except InputError as error:
                found[str(error), _about_item(error)].append(item.id)
    for (text, about_item), ids in found.items():
        yield Problem(named(ids), text) if about_item else _of_endpoint(text)
    asked = {item.id for item in shown if "control" not in item.meta}
    yield from _blind_problems(composer, prompts, len(asked))


def withouts(asking: Asking) -> list[dict[str, str]]:
    """Return the texts that stand in where a reading of an earlier stage is lost."""
    takes = asking.cell.take if asking.cell is not None else []
    return [take.without for take in takes if take.lost_lesson == "ask_without"]


def _blind_problems(
    composer: Composer, prompts: Mapping[tuple[int, str], set[str]], items: int
) -> Iterator[Problem]:
    """Yield templates that show nothing of the item: one question asked many times."""
    for (stage, arm), seen in prompts.items():
        if items > 1 and len(seen) == 1:
            head = where(composer.asker.find(stage, arm))
            found = f"all {items} items give the same prompt"
            yield Problem(f"{head}prompt", found, "show {fields} of them")


def _about_item(error: InputError) -> str:
    return "" if error.source.startswith("endpoint ") else "item"


def _of_endpoint(text: str) -> Problem:
    head, _, rest = text.partition(": ")
    return Problem(head, rest)
