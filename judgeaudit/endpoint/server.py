"""Embedded endpoints, started by name: `embedded:SCENARIO` or `embedded:local`.

A simulated endpoint runs in a thread of this process, or with the option `process` in one of its
own, so that judge and runner have a core each: worth its start of a quarter of a second in
studies of thousands of calls. The process ends when this one does, also when this one is killed.
"""

from __future__ import annotations

import asyncio
import threading
from abc import ABC, abstractmethod
from collections.abc import Mapping
from types import TracebackType
from typing import Protocol, Self

from judgeaudit.endpoint.child import Child
from judgeaudit.endpoint.local import start_local
from judgeaudit.endpoint.simulated.app import App
from judgeaudit.endpoint.simulated.scenarios import Scenario, scenario
from judgeaudit.endpoint.weights import Progress
from judgeaudit.endpoint.wire import serve
from judgeaudit.errors import InputError, JudgeauditError
from judgeaudit.model import JSON, Clock

PREFIX = "embedded:"
START_S = 30.0


class RunningEndpoint(Protocol):
    """An endpoint that serves until `stop`; a context manager.

    `base_url` is `http://127.0.0.1:PORT`, without a path: `/v1/chat/completions`,
    `/chat/completions` and `/v1/messages` are served below it. `identity` is the evidence of what
    serves: for the simulated judge its scenario and seed, for the local one weights and settings.
    """

    @property
    def base_url(self) -> str:
        """The URL to put before an API's path."""
        ...

    @property
    def identity(self) -> Mapping[str, JSON]:
        """What is known of the thing that answers."""
        ...

    def stop(self) -> None:
        """End it; safe to call twice."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...


def start_embedded(
    name: str,
    *,
    clock: Clock,
    seed: int = 0,
    options: Mapping[str, JSON] | None = None,
    progress: Progress | None = None,
) -> RunningEndpoint:
    """Start the endpoint `name` on a loopback port and return it once it listens.

    `embedded:SCENARIO` takes the options `port` (0: any free one) and `process`; `embedded:local`
    those of `LocalOptions`, and calls `progress` while it takes its weights. Raises `InputError`
    for an unknown name or option, `JudgeauditError` where the endpoint does not start.
    """
    kind = name.removeprefix(PREFIX)
    given = dict(options or {})
    if kind == "local":
        return start_local(given, progress)
    judge = scenario(kind)
    port, process = given.pop("port", 0), given.pop("process", False)
    if given or type(port) is not int or type(process) is not bool:
        found = f"option {min(given)!r}" if given else f"port = {port!r}, process = {process!r}"
        raise InputError(name, found=found, remedy="options: port = <number>, process = <bool>")
    if process:
        return SimulatedProcess(judge, seed, port)
    return SimulatedThread(judge, seed, clock, port)


class SimulatedEndpoint(ABC):
    """What a simulated endpoint is, however it runs."""

    def __init__(self, judge: Scenario, seed: int) -> None:
        self._judge, self._seed, self._port = judge, seed, 0

    @property
    def base_url(self) -> str:
        """The URL to put before an API's path."""
        return f"http://127.0.0.1:{self._port}"

    @property
    def identity(self) -> Mapping[str, JSON]:
        """The scenario and its seed: a reply is a function of these and the request."""
        return {"simulated": self._judge.name, "seed": self._seed}

    @abstractmethod
    def stop(self) -> None:
        """End it; safe to call twice."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()


class SimulatedProcess(SimulatedEndpoint):
    """A simulated endpoint in a process of its own."""

    def __init__(self, judge: Scenario, seed: int, port: int = 0) -> None:
        super().__init__(judge, seed)
        settings: dict[str, JSON] = {"scenario": judge.name, "seed": seed, "port": port}
        name = f"{PREFIX}{judge.name}"
        self._child = Child(
            "judgeaudit.endpoint.simulated_main", settings, name=name, start_s=START_S
        )
        self._port = int(self._child.hello["port"])

    def stop(self) -> None:
        """End its process; safe to call twice."""
        self._child.stop()


class SimulatedThread(SimulatedEndpoint):
    """A simulated endpoint on an event loop in a thread of its own."""

    def __init__(self, judge: Scenario, seed: int, clock: Clock, port: int = 0) -> None:
        super().__init__(judge, seed)
        self._app = App(judge, seed, clock.now_ns)
        self._port = port
        self._listening = threading.Event()
        self._loop = asyncio.new_event_loop()
        self._stop = asyncio.Event()
        self._failure: OSError | None = None
        name = f"judgeaudit {PREFIX}{judge.name}"
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()
        if not self._listening.wait(START_S):
            raise JudgeauditError(f"{PREFIX}{judge.name} did not start within {START_S:.0f} s")
        if self._failure is not None:
            raise JudgeauditError(f"{PREFIX}{judge.name}: port {port}: {self._failure.strerror}")

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_until_complete(
                serve(self._app, self._port, ready=self._ready, stop=self._stop)
            )
        except OSError as error:
            self._failure = error
            self._listening.set()
        finally:
            self._loop.run_until_complete(self._loop.shutdown_asyncgens())
            self._loop.close()

    def _ready(self, port: int) -> None:
        self._port = port
        self._listening.set()

    def stop(self) -> None:
        """Close all connections and end the thread; safe to call twice."""
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._stop.set)
            self._thread.join(START_S)
