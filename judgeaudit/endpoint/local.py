"""`embedded:local`: a small real judge on this machine, with real log-probabilities.

SmolLM2-135M on llama.cpp. It judges poorly and varies truly: with several slots and a unified
key-value cache, what is in flight beside a request changes its log-probabilities, at temperature
0 and with the same bytes. One slot without prompt cache is the null control, which does not vary.
Slots, threads, cache layout and processor decide what it answers, so they are its
identity evidence.
"""

from __future__ import annotations

import importlib.util
import platform
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from importlib.metadata import version
from pathlib import Path
from types import TracebackType

from judgeaudit.endpoint.child import Child
from judgeaudit.endpoint.weights import SMOLLM2, Progress, ensure_weights
from judgeaudit.errors import InputError, JudgeauditError
from judgeaudit.model import JSON

NAME = "embedded:local"
START_S = 120.0


@dataclass(frozen=True, slots=True)
class LocalOptions:
    """How llama.cpp runs. `ctx` is tokens a slot.

    One thread is the default because two on a busy two-core machine take eight times as long.
    With `wait` false the endpoint is handed over while the model still loads: connections are then
    refused or answered 503 for a moment, which a runner's retry must survive.
    """

    slots: int = 8
    threads: int = 1
    ctx: int = 1024
    kv_unified: bool = True
    cache_prompt: bool = False
    wait: bool = True
    port: int = 0


def read_options(given: Mapping[str, JSON]) -> LocalOptions:
    """Return the options in `given`; raises `InputError` for an unknown name or a bad value."""
    kinds: dict[str, type] = {f.name: type(f.default) for f in fields(LocalOptions)}
    for name, value in given.items():
        if name not in kinds:
            raise InputError(NAME, found=f"no option {name!r}", remedy=f"one of {', '.join(kinds)}")
        low = 0 if name == "port" else 1
        if not _fits(kinds[name], value, low):
            wanted = "true or false" if kinds[name] is bool else f"a whole number from {low}"
            raise InputError(NAME, name, repr(value), wanted)
    return LocalOptions(**given)


def _fits(kind: type, value: JSON, low: int) -> bool:
    return type(value) is kind and (not isinstance(value, int) or kind is bool or value >= low)


def start_local(
    options: Mapping[str, JSON] | None = None, progress: Progress | None = None
) -> LocalEndpoint:
    """Start the local judge; takes its weights first where they are not here yet.

    Raises `JudgeauditError` in one line where llama.cpp or the weights are missing.
    """
    chosen = read_options(options or {})
    require_engine()
    return LocalEndpoint(chosen, ensure_weights(progress=progress))


def require_engine() -> None:
    """Raise `JudgeauditError` in one line where llama.cpp is not installed."""
    if importlib.util.find_spec("xllamacpp") is None:
        raise JudgeauditError(
            'the local judge needs llama.cpp: pip install "judgeaudit-toolkit[local]", '
            "or run with --simulated"
        )


class LocalEndpoint:
    """The local judge in a process of its own, until `stop`."""

    def __init__(self, options: LocalOptions, weights: Path) -> None:
        self._options = options
        settings = {**asdict(options), "weights": str(weights), "alias": SMOLLM2.model}
        self._child = Child("judgeaudit.endpoint.local_main", settings, name=NAME, start_s=START_S)
        self._port = int(self._child.hello["port"])
        if options.wait:
            self._wait_until_ready()

    def _wait_until_ready(self) -> None:
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        end = time.monotonic() + START_S
        while time.monotonic() < end and self._child.running:
            try:
                with opener.open(f"{self.base_url}/health", timeout=5):
                    return
            except (urllib.error.URLError, OSError):
                time.sleep(0.05)
        why = self._child.last_words()
        self.stop()
        raise JudgeauditError(f"{NAME} was not ready within {START_S:.0f} s: {why}")

    @property
    def base_url(self) -> str:
        """The URL to put before an API's path."""
        return f"http://127.0.0.1:{self._port}"

    @property
    def running(self) -> bool:
        """Whether its process still lives."""
        return self._child.running

    @property
    def identity(self) -> Mapping[str, JSON]:
        """Weights, engine, settings and processor: rungs of the identity ladder."""
        options = asdict(self._options)
        return {
            "weights": SMOLLM2.filename,
            "weights_sha256": str(SMOLLM2.sha256),
            "weights_requirement": SMOLLM2.requirement,
            "engine": f"xllamacpp {version('xllamacpp')}",
            "engine_build": self._child.hello["build"],
            **{name: options[name] for name in ("slots", "threads", "ctx")},
            **{name: options[name] for name in ("kv_unified", "cache_prompt")},
            "cpu": cpu_model(),
        }

    def stop(self) -> None:
        """End its process; safe to call twice."""
        self._child.stop()

    def __enter__(self) -> LocalEndpoint:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()


def cpu_model(cpuinfo: Path = Path("/proc/cpuinfo")) -> str:
    """Return the processor's model name, or what the platform module knows of it."""
    if cpuinfo.is_file():
        for line in cpuinfo.read_text(errors="replace").splitlines():
            key, _, value = line.partition(":")
            if key.strip() == "model name" and value.strip():
                return value.strip()
    return platform.processor() or platform.machine()
