"""Writing files that have to last: synced, whole, never over another."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Protocol


class JournalFile(Protocol):
    """A file that grows at its end. `write` may be lost until `sync` returns."""

    def write(self, data: bytes) -> None:
        """Append all of `data`."""
        ...

    def sync(self) -> None:
        """Return once everything written is on the disk."""
        ...

    def close(self) -> None:
        """Let go of the file."""
        ...


Opener = Callable[[Path], JournalFile]
"""Opens an existing file for appending."""


class DiskFile:
    """A real file, unbuffered: what was written survives the process, what was synced the power."""

    def __init__(self, path: Path) -> None:
        self._descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | getattr(os, "O_BINARY", 0))

    def write(self, data: bytes) -> None:
        """Append all of `data`; a short write is continued."""
        view = memoryview(data)
        while view:
            view = view[os.write(self._descriptor, view) :]

    def sync(self) -> None:
        """Return once everything written is on the disk."""
        sync_descriptor(self._descriptor)

    def close(self) -> None:
        """Close the descriptor; a second time does nothing."""
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)


def sync_descriptor(descriptor: int) -> None:
    """Return once the file's bytes are on the disk."""
    if sys.platform == "darwin":
        import fcntl

        # fsync(2) on macOS leaves bytes in the drive's cache.
        fcntl.fcntl(descriptor, fcntl.F_FULLFSYNC)
    else:
        os.fsync(descriptor)


def sync_path(path: Path) -> None:
    """Return once a file's bytes, or a folder's entries, are on the disk."""
    if os.name == "nt" and path.is_dir():
        return  # Windows opens no folders; its rename is durable by itself
    descriptor = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
    try:
        sync_descriptor(descriptor)
    finally:
        os.close(descriptor)


def create(path: Path, data: bytes) -> None:
    """Let a new file appear whole and durable, or not at all.

    It is written under a temporary name, synced, then linked, which refuses to overwrite; where a
    file system has no links, it is created in place, exclusively. Raises FileExistsError.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    _write(temporary, "wb", data)
    try:
        os.link(temporary, path)
    except FileExistsError:
        raise
    except OSError:
        _write(path, "xb", data)
    finally:
        temporary.unlink()
    sync_path(path.parent)


def _write(path: Path, mode: str, data: bytes) -> None:
    with path.open(mode) as stream:
        stream.write(data)
        stream.flush()
        sync_descriptor(stream.fileno())


def publish(folder: Path, final: Path) -> None:
    """Give a finished folder its final name, durably, its files read-only.

    `rename` refuses a folder that holds anything, so nothing is ever overwritten, and the run
    appears with all its files or not at all. (Linking file by file would leave half a run.)
    Raises FileExistsError.
    """
    for path in sorted(folder.iterdir()):
        sync_path(path)
        path.chmod(0o444)
    sync_path(folder)
    if final.exists():
        raise FileExistsError(f"{final} exists")
    folder.rename(final)
    sync_path(final.parent)
