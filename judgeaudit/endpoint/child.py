"""An endpoint in a process of its own: started, awaited, told to end.

The child is a module run with `python -m`, its settings one JSON argument. It prints one JSON
line, with at least `port`, once it listens, and ends when its standard input closes: so it ends
with its parent, also when the parent is killed. Anything it says on stderr is kept for the one
line that tells why it did not start.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping
from typing import IO, Any

from judgeaudit.errors import JudgeauditError
from judgeaudit.model import JSON

_END_S = 10.0


class Child:
    """A running child process; `hello` is what it said when it was ready."""

    def __init__(
        self, module: str, settings: Mapping[str, JSON], *, name: str, start_s: float
    ) -> None:
        self.name = name
        self._errors: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 -- lives as long as self
        self._process = subprocess.Popen(
            [sys.executable, "-m", module, json.dumps(settings)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
        )
        self.hello = self._wait_for_hello(start_s)

    def _wait_for_hello(self, start_s: float) -> Mapping[str, Any]:
        assert self._process.stdout is not None
        timer = threading.Timer(start_s, self._process.kill)
        timer.start()
        line = self._process.stdout.readline()
        timer.cancel()
        try:
            hello: Mapping[str, Any] = json.loads(line)
        except ValueError:
            self._process.kill()
            self._process.wait()
            why = self.last_words()
            self.stop()
            raise JudgeauditError(
                f"{self.name} did not start within {start_s:.0f} s: {why}"
            ) from None
        return hello

    @property
    def running(self) -> bool:
        """Whether the process still lives."""
        return self._process.poll() is None

    @property
    def pid(self) -> int:
        """The child's process id."""
        return self._process.pid

    def last_words(self) -> str:
        """Return the last line that the child wrote on stderr, cut to 200 characters."""
        self._errors.seek(0)
        lines = self._errors.read().decode("utf-8", "replace").strip().splitlines()
        return lines[-1][:200] if lines else f"exit code {self._process.poll()}, no message"

    def stop(self) -> None:
        """Close its input, which ends it; kill it where that does not. Safe to call twice."""
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None and not stream.closed:
                stream.close()
        try:
            self._process.wait(_END_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        if not self._errors.closed:
            self._errors.close()


def settings_from_argv() -> dict[str, Any]:
    """Return the settings that the parent gave (in the child)."""
    # Ctrl-C reaches the whole terminal; the parent decides when its endpoint ends.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    settings: dict[str, Any] = json.loads(sys.argv[1])
    return settings


class Greeting:
    """The child's standard output, kept for its one line; libraries that print get stderr."""

    def __init__(self) -> None:
        self._out = os.fdopen(os.dup(1), "w")
        os.dup2(2, 1)

    def say(self, **facts: JSON) -> None:
        """Tell the parent that the endpoint listens."""
        self._out.write(json.dumps(facts) + "\n")
        self._out.flush()


def wait_for_parent() -> None:
    """Return when the parent has closed the pipe or has died (in the child)."""
    while os.read(0, 4096):
        pass
