"""A folder written whole or not at all: filled beside its place, put there in one step."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from judgeaudit.errors import InputError


@contextmanager
def whole_folder(target: Path, option: str = "--out") -> Iterator[Path]:
    """Give a folder to fill; it becomes `target` when the block ends, or is removed if it raises.

    Raises `InputError` where `target` is there and not an empty folder.
    """
    _refuse_taken(target, option)
    part = target.absolute().with_name(f".{target.absolute().name}.part-{os.getpid()}")
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
