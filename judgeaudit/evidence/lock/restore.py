"""Putting input files back as they were frozen; what stood there is kept beside (IO).

Each file whose bytes are not the lock's, or that is gone, is written again from its frozen copy.
The edited one is kept as `NAME.edited`, `NAME.edited-2` ..., never over another.
"""

from __future__ import annotations

import difflib
import itertools
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from judgeaudit.canonical import digest
from judgeaudit.design.draft import FROZEN_NAMES
from judgeaudit.design.layout import FROZEN
from judgeaudit.evidence.lock.disk import read_lock
from judgeaudit.evidence.lock.sources import check_frozen, input_names, parse_frozen
from judgeaudit.evidence.log.files import sweep
from judgeaudit.model import JSON

MOST_LINES = 200
"""How many lines of a difference are shown; the kept file has all of it."""


@dataclass(frozen=True, slots=True)
class Restored:
    """One input file: where, what differed line by line, and where the edited bytes are kept."""

    path: Path
    difference: tuple[str, ...]
    kept: Path | None

    def to_dict(self) -> dict[str, JSON]:
        """Return JSON values."""
        kept = None if self.kept is None else str(self.kept)
        return {"path": str(self.path), "difference": list(self.difference), "kept": kept}


def changed_inputs(root: Path) -> Iterator[tuple[Path, bytes]]:
    """Yield the input files that are not as frozen, each with its frozen bytes.

    Raises `EvidenceError` where the frozen copies are not what the lock says.
    """
    folder = root / FROZEN
    lock = read_lock(folder)
    files = check_frozen(folder, lock.document)
    registration = parse_frozen(folder, files).whole().registration
    for role, name in input_names(registration).items():
        frozen, path = files[FROZEN_NAMES[role]], root / name
        if not path.is_file() or digest(path.read_bytes()) != digest(frozen):
            yield path, frozen


def restore(root: Path) -> tuple[Restored, ...]:
    """Put every changed input file back; returns what was changed, nothing where none was."""
    return tuple(_restore(path, frozen) for path, frozen in list(changed_inputs(root)))


def _restore(path: Path, frozen: bytes) -> Restored:
    kept = None
    difference: tuple[str, ...] = ("the file was missing",)
    if path.is_file():
        edited = path.read_bytes()
        difference = tuple(_difference(frozen, edited, path.name))
        kept = _keep(path, edited)
    path.parent.mkdir(parents=True, exist_ok=True)
    sweep(path)
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    _write_new(part, frozen)
    os.replace(part, path)
    return Restored(path, difference, kept)


def _difference(frozen: bytes, edited: bytes, name: str) -> Iterator[str]:
    before, after = (data.decode("utf-8", "replace").splitlines() for data in (frozen, edited))
    lines = difflib.unified_diff(before, after, f"frozen/{name}", name, lineterm="", n=1)
    yield from itertools.islice(lines, MOST_LINES)
    if next(lines, None) is not None:
        yield f"... more than {MOST_LINES} lines differ"


def _keep(path: Path, data: bytes) -> Path:
    names = itertools.chain(["edited"], (f"edited-{number}" for number in itertools.count(2)))
    for name in names:
        kept = path.with_name(f"{path.name}.{name}")
        try:
            _write_new(kept, data)
        except FileExistsError:
            continue
        return kept
    raise AssertionError("names do not end")


def _write_new(path: Path, data: bytes) -> None:
    with path.open("xb") as stream:
        stream.write(data)
        stream.flush()
        os.fsync(stream.fileno())
