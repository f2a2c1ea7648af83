"""A study as it is being written: bytes in, documents or problems out.

Nothing here stops at the first problem. What could not be read is None (or left out) and its
problems are listed; `Draft.whole` gives the documents of a sound draft and raises otherwise.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar, get_args

from pydantic import BaseModel, ValidationError

from judgeaudit.battery import items_from_bytes
from judgeaudit.design.base import read_toml
from judgeaudit.design.document import Registration
from judgeaudit.design.protocol import ProtocolDocument
from judgeaudit.design.salvage import salvaged
from judgeaudit.errors import InputError, Problem, RegistrationError
from judgeaudit.model import Item

M = TypeVar("M", bound=BaseModel)

ROLES = ("registration", "protocol", "battery", "controls", "pilot")
"""What a study's input files are to it."""

FROZEN_NAMES = {
    "registration": "registration.toml",
    "protocol": "protocol.toml",
    "battery": "items.jsonl",
    "controls": "controls.jsonl",
    "pilot": "pilot.json",
}
"""The names that the copies have in `frozen/`, whatever the study calls the originals."""


@dataclass(frozen=True, slots=True)
class Source:
    """One input file: its path as the study writes it, and its bytes."""

    path: str
    data: bytes


@dataclass(frozen=True, slots=True)
class Inputs:
    """The documents of a study in which every file could be read."""

    registration: Registration
    protocol: ProtocolDocument
    items: tuple[Item, ...]
    controls: tuple[Item, ...]


@dataclass(frozen=True)
class Draft:
    """A study's input files by role, what was read from them, and what could not be.

    A registration with faults is here without them (`salvage`): for checks, never for a freeze.
    """

    root: Path
    sources: Mapping[str, Source]
    registration: Registration | None = None
    protocol: ProtocolDocument | None = None
    items: tuple[Item, ...] = ()
    controls: tuple[Item, ...] = ()
    problems: tuple[Problem, ...] = field(default=())

    def whole(self) -> Inputs:
        """Return the documents; raises `RegistrationError` with every problem of reading them."""
        if self.problems or self.registration is None or self.protocol is None:
            raise RegistrationError(self.root, self.problems)
        return Inputs(self.registration, self.protocol, self.items, self.controls)


def parse_document(model: type[M], source: Source) -> tuple[M | None, list[Problem]]:
    """Return a TOML document as `model`, or None and every problem with its key path."""
    try:
        return model.model_validate(read_toml(source.path, source.data)), []
    except InputError as error:
        key = ", ".join(part for part in (error.source, error.place) if part)
        return None, [Problem(key, error.found, error.remedy)]
    except ValidationError as error:
        return None, translated(model, error)


def salvaged_document(model: type[M], source: Source) -> M | None:
    """Return what is left of a TOML document without its faults, to check the rest of a study."""
    try:
        return salvaged(model, read_toml(source.path, source.data))
    except InputError:
        return None


def parse_items(source: Source) -> tuple[tuple[Item, ...], list[Problem]]:
    """Return a battery's items, or the first problem with its line."""
    try:
        return items_from_bytes(source.path, source.data), []
    except InputError as error:
        key = ", ".join(part for part in (error.source, error.place) if part)
        return (), [Problem(key, error.found, error.remedy)]


def translated(model: type[BaseModel], error: ValidationError) -> list[Problem]:
    """Return pydantic's findings as problems: key path, what was found, what is allowed."""
    faults: list[dict[str, Any]] = [dict(fault) for fault in error.errors(include_url=False)]
    return [
        Problem(key_path(fault["loc"]), _found(fault), _allowed(model, fault)) for fault in faults
    ]


def key_path(location: Iterable[str | int]) -> str:
    """Return `endpoints[0].base_url` for `("endpoints", 0, "base_url")`."""
    text = ""
    for part in location:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text or "document"


def _found(fault: Mapping[str, Any]) -> str:
    if fault["type"] == "extra_forbidden":
        return "unknown key"
    if fault["type"] == "missing":
        return "missing"
    if fault["type"] == "value_error":
        return str(fault["msg"]).removeprefix("Value error, ")
    return f"found {shown(fault['input'])}"


def shown(value: Any) -> str:
    """Return a value as it may stand in one line of a message."""
    text = str(value) if not isinstance(value, str) else repr(value)
    return text if len(text) <= 60 else text[:59] + "…"


def _allowed(model: type[BaseModel], fault: Mapping[str, Any]) -> str:
    if fault["type"] == "extra_forbidden":
        names = _fields_at(model, fault["loc"][:-1])
        return f"known here: {', '.join(names)}" if names else "remove it"
    if fault["type"] == "value_error":
        return ""
    if fault["type"] == "missing":
        return "this key must be given"
    if fault["type"] == "model_type":
        return f"give a table with keys of: {', '.join(_fields_at(model, fault['loc']))}"
    return str(fault["msg"])


def _fields_at(model: type[BaseModel], location: Sequence[str | int]) -> list[str]:
    """Return the keys that the table at `location` may have; empty where it is no model."""
    here: Any = model
    for part in location:
        if isinstance(part, int):
            continue
        known = getattr(here, "model_fields", {}).get(part)
        here = _model_in(known.annotation) if known is not None else None
    return sorted(here.model_fields) if here is not None else []


def _model_in(annotation: Any) -> Any:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next(filter(None, map(_model_in, get_args(annotation))), None)
