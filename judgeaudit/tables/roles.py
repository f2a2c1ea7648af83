"""Which column of a table plays which part, and what its words mean.

`Roles` is what a person says; `resolved` is what follows from it and from the header: the item's
and the repeat's column by their usual names (told), and one or several columns of values.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, get_args

from judgeaudit.errors import InputError
from judgeaudit.readings.sheet import Kind
from judgeaudit.tables import header as names
from judgeaudit.tables.cells import NOTHING_DECLARED, Words
from judgeaudit.tables.source import Source

Across = Literal["repeat", "order", "window"]
VALUES = get_args(Kind)


@dataclass(frozen=True, slots=True)
class Roles:
    """Which column plays which part. `item` and `by` may name several columns.

    `value` is a column's name, or several with commas between, with `*` for any characters: a wide
    table, whose columns of values are what `across` says (repeats unless it says otherwise).
    `decimal` is the decimal mark of numbers in text, None where the column is to show it.
    """

    kind: Kind
    value: str
    item: tuple[str, ...] = ()
    repeat: str | None = None
    by: tuple[str, ...] = ()
    window: str | None = None
    day: str | None = None
    condition: str | None = None
    order: str | None = None
    gold: str | None = None
    group: str | None = None
    task: str | None = None
    digest: str | None = None
    words: Words = NOTHING_DECLARED
    decimal: str | None = None
    across: Across = "repeat"
    notes: list[str] = field(default_factory=list)

    def identifiers(self) -> list[str]:
        """Return the columns whose cells are names: each stands as it is written."""
        single = (
            self.repeat,
            self.window,
            self.day,
            self.condition,
            self.order,
            self.group,
            self.task,
        )
        return list(dict.fromkeys([*self.item, *self.by, *(name for name in single if name)]))

    def named(self) -> list[str]:
        """Return every column that was named, but those of values."""
        more = [name for name in (self.gold, self.digest) if name]
        return list(dict.fromkeys([*self.identifiers(), *more]))

    def value_parts(self) -> list[str]:
        """Return the names and patterns by which the columns of values can be meant."""
        parts = [part.strip() for part in self.value.split(",") if part.strip()]
        return list(dict.fromkeys([self.value, *parts]))

    def wanted(self) -> list[str]:
        """Return every name and pattern that a reader should keep."""
        return list(dict.fromkeys([*self.named(), *self.value_parts()]))

    def lists(self) -> list[str]:
        """Return the columns whose cells may be lists."""
        return self.value_parts() if self.kind == "ranking" else []


def roles_of(options: Mapping[str, Any], command: str) -> Roles:
    """Return the roles that options or keywords give; raises `InputError` without one value.

    `missing`, `label` and `invalid` are words, one text with commas or a sequence.
    """
    given = [(kind, name) for kind in VALUES if (name := options.get(kind))]
    if len(given) != 1:
        raise InputError(
            command,
            found="no value column" if not given else f"{len(given)} value columns",
            remedy="give exactly one of --score, --verdict, --ranking, --probability COLUMN",
        )
    kind, value = given[0]
    words = Words(
        *(frozenset(_words(options.get(name))) for name in ("missing", "label", "invalid"))
    )
    if twice := (words.missing | words.invalid) & words.labels:
        raise InputError(command, "--label", f"{min(twice)!r} is declared both ways", "choose one")
    names_of = ("repeat", "window", "day", "condition", "order", "gold", "group", "task", "digest")
    single: dict[str, Any] = {name: options.get(name) for name in names_of}
    return Roles(
        kind=kind,
        value=value,
        item=_names(options.get("item")),
        by=_names(options.get("by")),
        words=words,
        decimal=_one_of(options, "decimal", (".", ","), command),
        across=_one_of(options, "across", get_args(Across), command) or "repeat",
        **single,
    )


def _names(text: str | None) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip()) if text else ()


def _words(given: str | Sequence[str] | None) -> list[str]:
    parts = given.split(",") if isinstance(given, str) else given or ()
    return [part.strip() for part in parts if part.strip()]


def _one_of(options: Mapping[str, Any], name: str, allowed: Sequence[str], command: str) -> Any:
    value = options.get(name)
    if value is not None and value not in allowed:
        one = " or ".join(allowed)
        raise InputError(command, f"--{name}", f"found {value!r}", f"give {one}")
    return value


def resolved(source: Source, roles: Roles, files: int) -> tuple[Roles, tuple[str, ...]]:
    """Return the roles with item and repeat found by their usual names, and the value columns."""
    values = _value_columns(source, roles)
    item, repeat = roles.item, roles.repeat
    if not item:
        item = (_usual("item", source),)
        roles.notes.append(f"item: column {item[0]!r} (by its name; --item says otherwise)")
    wide = len(values) > 1
    if wide and getattr(roles, roles.across) is not None:
        found = f"{len(values)} columns of values are one {roles.across} each"
        remedy = f"leave out --{roles.across}, or say what they are with --across"
        raise InputError(source.path.name, f"--{roles.across}", found, remedy)
    free = [name for name in names.USUAL["repeat"] if name not in (*item, *roles.by, roles.window)]
    may_guess = files == 1 and roles.order is None and not (wide and roles.across == "repeat")
    if repeat is None and may_guess:
        repeat = next((name for name in free if name in source.header), None)
        if repeat:
            roles.notes.append(f"repeat: column {repeat!r} (by its name; --repeat says otherwise)")
    return replace(roles, item=item, repeat=repeat), values


def _value_columns(source: Source, roles: Roles) -> tuple[str, ...]:
    if roles.value in source.header:
        return (roles.value,)
    found: list[str] = []
    taken = set(roles.named())
    for part in roles.value_parts()[1:] or [roles.value]:
        here = [n for n in source.header if n and n not in taken and names.matches(n, [part])]
        if not here:
            raise names.missing(source.path.name, part, source.header)
        found += here
    return tuple(dict.fromkeys(found))


def _usual(role: str, source: Source) -> str:
    for name in names.USUAL[role]:
        if name in source.header:
            return name
    raise InputError(
        source.path.name,
        "",
        f"no column for the {role}",
        f"say --{role} COLUMN; {source.columns()}",
    )


def check_columns(source: Source, roles: Roles, values: Sequence[str]) -> None:
    """Raise `InputError` for a column that was named and is not there, with the nearest names."""
    for name in [*roles.named(), *values]:
        if name not in source.header:
            raise names.missing(source.path.name, name, source.header)
