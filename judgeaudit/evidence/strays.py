"""What lies in an evidence folder without belonging there, and what is only a link.

Links are told wherever they stand: bytes outside the folder can change without the folder. Nothing
is followed and nothing is read.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from pathlib import Path

from judgeaudit.evidence.log.files import leftover_of
from judgeaudit.evidence.log.finding import Defect, Finding

NO_MANIFEST = "nothing here lists such a file"


def beside(folder: Path, known: Collection[str]) -> Iterator[Finding]:
    """Yield links and whatever is none of `known`, paths relative to `folder` with `/`.

    A folder is known if something known lies in it, or if it is named with a `/` at its end: then
    what it holds is looked at elsewhere.
    """
    yield from _within(folder, "", set(known))


def _within(folder: Path, prefix: str, known: set[str]) -> Iterator[Finding]:
    if not folder.is_dir():
        return
    for entry in sorted(os.scandir(folder), key=lambda entry: entry.name):
        name, path = f"{prefix}{entry.name}", Path(entry.path)
        if entry.is_symlink():
            detail = f"a link to {os.readlink(path)}: its bytes are kept elsewhere"
            yield Finding(Defect.LINK, path, detail)
        elif not entry.is_dir():
            if name not in known:
                yield Finding(Defect.STRAY, path, _told(entry.name))
        elif f"{name}/" not in known:
            inner = f"{name}/"
            if any(one.startswith(inner) for one in known):
                yield from _within(path, inner, known)
            else:
                yield Finding(Defect.STRAY, path, "nothing here lists such a folder")


def _told(name: str) -> str:
    if (of := leftover_of(name)) is None:
        return NO_MANIFEST
    return f"left of {of} by a write that was interrupted; the command takes it away, run again"
