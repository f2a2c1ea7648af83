"""A table's header: names as they can be asked for, the usual names, the nearest of a missing one.

Blanks around a name count for nothing where the names stay distinct without them; a name that is
used must stand once. A column without a name cannot be asked for.
"""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from judgeaudit.errors import InputError

USUAL: Mapping[str, tuple[str, ...]] = {
    "item": ("item", "item_id", "question_id", "example_id", "id"),
    "repeat": ("repeat", "run", "replicate", "trial", "run_id", "pass"),
}
"""Names by which an item's and a repeat's column are known without an option."""

_USUAL = frozenset(name for names in USUAL.values() for name in names)


def clean(path: Path, raw: Sequence[str]) -> list[str]:
    """Return names without blanks around them; raises `InputError` for one that stands twice."""
    names = [name.strip() for name in raw]
    if len(set(names)) < len(names) and len(set(raw)) == len(raw):
        names = list(raw)
    twice = [name for name in names if name.strip() and names.count(name) > 1]
    if twice:
        raise InputError(path.name, "row 1", f"column {twice[0]!r} stands twice", "rename one")
    return names


def chosen(names: Iterable[str], wanted: Sequence[str], known: Collection[str]) -> list[str]:
    """Return the columns to read: those wanted (names or patterns with *), known or usual."""
    return [
        name
        for name in names
        if name and (matches(name, wanted) or name.lower() in known or name in _USUAL)
    ]


def matches(name: str, wanted: Iterable[str]) -> bool:
    """Return whether a name is one of `wanted`, where `*` and `?` stand for any characters."""
    return any(name == one or (("*" in one or "?" in one) and fnmatchcase(name, one))
               for one in wanted)  # fmt: skip


def found_by(names: Collection[str], wanted: Sequence[str]) -> tuple[int, int]:
    """Return how many of `wanted` a header answers, and how many usual names it holds."""
    answered = sum(any(matches(name, [one]) for name in names) for one in wanted)
    return answered, len(_USUAL & set(names))


def missing(source: str, name: str, names: Sequence[str]) -> InputError:
    """Return the error of a column that is not there, with the nearest names that are."""
    folded = {one.casefold().replace(" ", "_"): one for one in names if one}
    near = difflib.get_close_matches(name.casefold().replace(" ", "_"), folded, 2, 0.75)
    told = f"nearest: {', '.join(repr(folded[one]) for one in near)}; " if near else ""
    return InputError(source, f"column {name!r}", "missing", told + columns(names))


def columns(names: Sequence[str]) -> str:
    """Return the names that there are, for a message."""
    return f"columns: {', '.join(names[:20])}" + (" ..." if len(names) > 20 else "")
