"""Folders written whole or not at all: filled beside their place, put there in one step."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from judgeaudit.errors import InputError
from judgeaudit.evidence.log.files import sweep_folders, working_folder
from judgeaudit.tables.write import replace_whole

Folder = str | os.PathLike[str]
"""A path as callers may give it."""


@contextmanager
def whole_folder(target: Path, option: str = "--out") -> Iterator[Path]:
    """Give a folder to fill; it becomes `target` when the block ends, or is removed if it raises.

    Raises `InputError` where `target` is there and not an empty folder.
    """
    _refuse_taken(target, option)
    above, prefix = target.absolute().parent, f".{target.absolute().name}.part-"
    if above.is_dir():
        sweep_folders(above, prefix)
    part = above / f"{prefix}{os.getpid()}"
    part.mkdir(parents=True)
    try:
        yield part
        _refuse_taken(target, option)
        if target.is_dir():
            target.rmdir()
        os.rename(part, target)
    except BaseException:
        shutil.rmtree(part, ignore_errors=True)
        raise


def _refuse_taken(target: Path, option: str) -> None:
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise InputError(
            target,
            found="there is something already, and nothing is overwritten",
            remedy=f"name another folder with {option}, or remove it",
        )


def refuse_existing(directory: Path) -> None:
    """Raise `InputError` for a path that is taken."""
    if directory.is_dir() and any(directory.iterdir()):
        raise InputError(directory, found="not empty", remedy="name a new or an empty folder")
    if directory.exists() and not directory.is_dir():
        raise InputError(directory, found="not a folder", remedy="name a new or an empty folder")
    above = next(path for path in directory.absolute().parents if path.exists())
    if not above.is_dir():
        raise InputError(directory, found=f"{above} is a file", remedy="name another folder")


def write_study(directory: Path, files: Mapping[str, bytes]) -> None:
    """Write a study whole or not at all."""
    directory.parent.mkdir(parents=True, exist_ok=True)
    with working_folder(directory.parent, ".init-") as name:
        folder = name / "study"
        folder.mkdir()
        for file, data in files.items():
            (folder / file).write_bytes(data)
        if directory.is_dir():
            directory.rmdir()  # it is empty; a rename onto it works on POSIX alone
        folder.rename(directory)


READ_ONLY = frozenset({errno.EROFS, errno.EACCES, errno.EPERM})


def unless_read_only(folder: Path, write: Callable[[], object]) -> str:
    """Write, and return "" or, where a folder cannot be written to, that nothing was written."""
    try:
        write()
    except OSError as error:
        if error.errno not in READ_ONLY:
            raise
        return f"nothing was written: {folder}: {os.strerror(error.errno)}"
    return ""


def write_text(path: Path, text: str) -> None:
    """Write a file whole, with the folders above it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    replace_whole(path, lambda part: part.write_text(text, encoding="utf-8"))
