"""Writing files that have to last: synced, whole, never over another."""

from __future__ import annotations

import errno
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

from judgeaudit.errors import ExecutorBusy, GuardError


class JournalFile(Protocol):
    """A file that grows at its end, in one process's hands. `write` may be lost until `sync`."""

    locked: bool

    def write(self, data: bytes) -> None:
        """Append all of `data`."""
        ...

    def cut(self, length: int) -> None:
        """Drop what stands after the first `length` bytes."""
        ...

    def sync(self) -> None:
        """Return once everything written is on the disk."""
        ...

    def close(self) -> None:
        """Let go of the file."""
        ...


Opener = Callable[[Path], JournalFile]
"""Opens an existing file for appending."""


NO_LOCKS = frozenset({errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS, errno.EINVAL})
"""What a file system answers that has no locks."""

TAIL = 256
"""How many of the last bytes are compared before each append: the end of the chain's head."""


class DiskFile:
    """A real file, unbuffered: what was written survives the process, what was synced the power.

    One process writes it. The lock is on the file itself, so that it holds by whatever name or
    link the file is opened, and the system lets go of it when its holder ends. Before each append
    size, end and place of the file must be as this process left them: that holds also where a file
    system has no locks (`locked` is False there), and where the file was moved away meanwhile.
    Raises `ExecutorBusy` where another holds the file, `GuardError` where another has written.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._descriptor = os.open(path, os.O_RDWR | os.O_APPEND | getattr(os, "O_BINARY", 0))
        try:
            self.locked = _lock(self._descriptor, path)
            self._size = os.fstat(self._descriptor).st_size
            self._tail = self._end()
        except BaseException:
            self.close()
            raise

    def write(self, data: bytes) -> None:
        """Append all of `data`; a short write is continued."""
        self._check_mine()
        view = memoryview(data)
        while view:
            written = os.write(self._descriptor, view)
            self._size += written
            self._tail = (self._tail + bytes(view[:written]))[-TAIL:]
            view = view[written:]

    def cut(self, length: int) -> None:
        """Drop what stands after the first `length` bytes."""
        self._check_mine()
        os.ftruncate(self._descriptor, length)
        self._size, self._tail = length, b""
        self._tail = self._end()

    def _end(self) -> bytes:
        start = max(0, self._size - TAIL)
        os.lseek(self._descriptor, start, os.SEEK_SET)
        return os.read(self._descriptor, self._size - start)

    def _check_mine(self) -> None:
        here = os.fstat(self._descriptor)
        try:
            there = os.stat(self._path)
        except OSError:
            there = None
        if there is None or (there.st_dev, there.st_ino) != (here.st_dev, here.st_ino):
            what = "was moved away or replaced"
        elif here.st_size != self._size:
            what = f"has {here.st_size} bytes where this process left {self._size}"
        elif self._end() != self._tail:
            what = "no longer ends as this process left it"
        else:
            return
        raise GuardError(
            f"{self._path}: {what}: another process writes to it; nothing more is sent from here. "
            f"Its first {self._size} bytes are whole; end the other process, then "
            "`judgeaudit status` tells how far the run is and `judgeaudit run` goes on"
        )

    def sync(self) -> None:
        """Return once everything written is on the disk."""
        sync_descriptor(self._descriptor)

    def close(self) -> None:
        """Close the descriptor; a second time does nothing."""
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)


def _lock(descriptor: int, path: Path) -> bool:
    """Take a file for this process; False where the file system has no locks."""
    try:
        import fcntl
    except ImportError:  # Windows: the study's own lock and the check at each append
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise ExecutorBusy(
            f"{path}: another process writes this journal, whatever lock files say; nothing was "
            "sent"
        ) from None
    except OSError as error:
        if error.errno not in NO_LOCKS:
            raise
        return False
    return True


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
    file system has no links, it is created in place, exclusively. What stands under the temporary
    name, be it a link, is taken away and never written through. Raises FileExistsError.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    sweep(path)
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    temporary.unlink(missing_ok=True)
    _write(temporary, "xb", data)
    try:
        os.link(temporary, path)
    except FileExistsError:
        raise
    except OSError:
        _write(path, "xb", data)
    finally:
        temporary.unlink()
    sync_path(path.parent)


def leftover_of(name: str) -> str | None:
    """Return the name of the file that an interrupted write left `name` of; None for others."""
    found = re.fullmatch(r"\.(.+?)\.(?:[0-9]+(?:\.part)?|part)", name)
    return found[1] if found else None


def sweep(path: Path) -> None:
    """Take away what interrupted writes left beside a file, of which nobody knows any more."""
    for entry in path.parent.iterdir():
        if leftover_of(entry.name) == path.name:
            entry.unlink(missing_ok=True)


def sweep_folders(parent: Path, prefix: str) -> None:
    """Take away folders `<prefix><pid>...` that commands left which run no more on this machine."""
    for folder in parent.glob(f"{prefix}*"):
        found = re.match(r"[0-9]+", folder.name.removeprefix(prefix))
        if folder.is_dir() and not folder.is_symlink() and not _runs(int(found[0]) if found else 0):
            shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def working_folder(parent: Path, prefix: str) -> Iterator[Path]:
    """Give a new folder in `parent`, gone when the block ends; what killed commands left goes too.

    It is named `<prefix><pid>-...`.
    """
    sweep_folders(parent, prefix)
    with tempfile.TemporaryDirectory(prefix=f"{prefix}{os.getpid()}-", dir=parent) as name:
        yield Path(name)


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:
        return True
    return pid > 0


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
