"""The download of the local judge's weights, shown on stderr."""

from __future__ import annotations

import sys
from types import TracebackType
from typing import TYPE_CHECKING

from judgeaudit.cli.output import remark

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

WHAT = "fetching the local judge's weights"


class Download:
    """What is told of bytes fetched: a bar on a terminal, two lines elsewhere, else nothing.

    A context manager; nothing is shown unless something is fetched.
    """

    def __init__(self) -> None:
        self._bar: Progress | None = None
        self._task: TaskID | None = None
        self._said = False

    def __call__(self, done: int, total: int) -> None:
        """Show that `done` of `total` bytes are here."""
        if not sys.stderr.isatty():
            if not self._said:
                remark(f"{WHAT}: {total / 1e6:.0f} MB, once")
            self._said = True
            return
        if self._bar is None:
            from rich.console import Console
            from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn

            columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn())
            self._bar = Progress(*columns, console=Console(stderr=True), transient=True)
            self._bar.start()
            self._task = self._bar.add_task(WHAT, total=total)
        if self._task is not None:
            self._bar.update(self._task, completed=done)

    def __enter__(self) -> Download:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            self._bar.stop()
