"""How one planned call is asked: its stage, its cell, its readout, its item's fields.

An arm's name says both what the cell is and how the readout asks:

* no cells: the readout's own arm (`-`, `forward`, `ab` ...);
* cells: the cell's name where the readout has one arm only, else `CELL:ARM`.

A cell may bring a prompt, a readout, options and texts of its own; what it leaves out is the
stage's. Its fields join the item's before the readout sees the item, `"@name"` standing for the
item's field; then the texts, each filled from all of these and from the texts before it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from judgeaudit.design.base import plain
from judgeaudit.design.protocol import Cell, Decoding, PromptSpec, ProtocolDocument, Stage
from judgeaudit.errors import InputError
from judgeaudit.instrument import readout as readouts
from judgeaudit.instrument.readout import Prompt, Readout
from judgeaudit.instrument.readout.interface import fill
from judgeaudit.model import JSON, SOLE_ARM, Item

ITEM_FIELD = "@"
"""What a cell's field value starts with to name an item's field instead of literal text."""


@dataclass(frozen=True)
class Asking:
    """One way of asking in one stage: a cell (None where the stage has none) and its readout."""

    stage: int
    cell: Cell | None
    prompt: PromptSpec
    readout: Readout
    decoding: Decoding
    texts: Mapping[str, str] = field(default_factory=dict)

    def arm_of(self, readout_arm: str) -> str:
        """Return the arm's name in plan and log."""
        if self.cell is None:
            return readout_arm
        return self.cell.name if readout_arm == SOLE_ARM else f"{self.cell.name}:{readout_arm}"

    def readout_arm(self, arm: str) -> str:
        """Return the readout's own arm in an arm's name."""
        if self.cell is None:
            return arm
        return arm.partition(":")[2] or SOLE_ARM

    def item(
        self,
        item: Item,
        taken: Mapping[str, str] | None = None,
        instead: Mapping[str, str] | None = None,
    ) -> Item:
        """Return the item with the cell's fields, what was taken from earlier stages, and texts.

        `instead` are texts that stand in the place of those of the same name.

        Without `taken` a cell that takes something has no texts yet, for they may show it. Raises
        `InputError` where the cell or a text names a field that is not there.
        """
        fields = {**item.fields, **_own_fields(item, self.cell), **(taken or {})}
        if taken is not None or self.cell is None or not self.cell.take:
            for name, text in {**self.texts, **(instead or {})}.items():
                fields[name] = fill(f"text {name!r}", text, fields)
        return replace(item, fields=fields)

    def repeats(self, scheduled: int) -> int:
        """Return how often the same bytes are asked within a window."""
        return max(scheduled, self.cell.repeats if self.cell else 1)


def _own_fields(item: Item, cell: Cell | None) -> dict[str, JSON]:
    if cell is None:
        return {}
    return {name: _field(item, cell, value) for name, value in cell.fields.items()}


def _field(item: Item, cell: Cell, value: str) -> JSON:
    if not value.startswith(ITEM_FIELD):
        return value
    name = value[len(ITEM_FIELD) :]
    if name not in item.fields:
        raise InputError(
            f"item {item.id!r}",
            f"cell {cell.name!r}",
            f"field {name!r} is not in this item",
            "add the field, or write the text itself without @",
        )
    return item.fields[name]


@dataclass(frozen=True)
class Asker:
    """All ways of asking of a protocol, built once."""

    stages: tuple[tuple[Asking, ...], ...]

    @classmethod
    def of(cls, protocol: ProtocolDocument) -> Asker:
        """Build every readout; raises `RegistrationError` or `InputError` on the first bad one."""
        stages = enumerate(protocol.all_stages(), 1)
        return cls(tuple(tuple(askings(number, stage)) for number, stage in stages))

    def find(self, stage: int, arm: str) -> Asking:
        """Return how a call of `stage` and `arm` is asked."""
        cell = arm.partition(":")[0]
        for asking in self.stages[stage - 1]:
            if asking.cell is None or asking.cell.name == cell:
                return asking
        raise InputError("protocol", f"stage {stage}", f"no cell for arm {arm!r}")


def askings(number: int, stage: Stage) -> Iterator[Asking]:
    """Yield a stage's ways of asking, one a cell, in the order of the document."""
    cells: list[Cell | None] = [*stage.cells] or [None]
    for cell in cells:
        prompt = (cell and cell.prompt) or stage.prompt
        texts = {**stage.texts, **(cell.texts if cell is not None else {})}
        yield Asking(number, cell, prompt, _readout(stage, cell, prompt), stage.decoding, texts)


def _readout(stage: Stage, cell: Cell | None, prompt: PromptSpec) -> Readout:
    kind, options = readout_of(stage, cell)
    return readouts.build(kind, Prompt(prompt.system, prompt.user), options)


def readout_of(stage: Stage, cell: Cell | None) -> tuple[str, dict[str, Any]]:
    """Return the readout's name and its options as JSON values.

    A cell with a readout of its own does not inherit the stage's options, which are another's.
    """
    if cell is not None and cell.readout is not None:
        return cell.readout, plain(cell.options or {})
    options = cell.options if cell is not None and cell.options is not None else stage.options
    return stage.readout, plain(options)
