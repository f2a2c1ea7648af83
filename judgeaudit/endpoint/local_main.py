"""The local judge as a process: `python -m judgeaudit.endpoint.local_main JSON`.

llama.cpp runs here and not in the runner, so that a crash of one leaves the other alive.
"""

from __future__ import annotations

import os
import socket
from typing import Any

from judgeaudit.endpoint.child import Greeting, settings_from_argv, wait_for_parent


def parameters(settings: dict[str, Any]) -> Any:
    """Return llama.cpp's parameters for the settings of `LocalOptions` and a weights path."""
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = settings["weights"]
    params.model_alias = {
        settings["alias"]
    }  # without one, replies would name a path of this machine
    params.port = settings["port"]
    params.n_parallel = settings["slots"]
    params.n_ctx = settings["ctx"] * settings["slots"]
    params.kv_unified = settings["kv_unified"]
    params.cache_prompt = settings["cache_prompt"]
    params.cache_ram_mib = 0
    params.warmup = False
    params.cpuparams.n_threads = settings["threads"]
    params.cpuparams_batch.n_threads = settings["threads"]
    params.verbosity = 1
    return params


def free_port() -> int:
    """Return a port that was free a moment ago."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def main() -> None:
    """Serve until the parent ends."""
    import xllamacpp

    settings = settings_from_argv()
    greeting = Greeting()
    build = " ".join(f"{key}={value}" for key, value in xllamacpp.BUILD_INFO.items())
    settings["port"] = settings["port"] or free_port()
    if not settings["wait"]:
        greeting.say(port=settings["port"], build=build)
    server = xllamacpp.Server(parameters(settings))  # returns when the model is loaded
    if settings["wait"]:
        greeting.say(port=settings["port"], build=build)
    wait_for_parent()
    # A shutdown in order would wait for requests in flight; nobody waits for them any more.
    os._exit(0 if server is not None else 1)


if __name__ == "__main__":
    main()
