"""The simulated endpoint as a process: `python -m judgeaudit.endpoint.simulated_main JSON`."""

from __future__ import annotations

import asyncio
import threading
import time

from judgeaudit.endpoint.child import Greeting, settings_from_argv, wait_for_parent
from judgeaudit.endpoint.simulated.app import App
from judgeaudit.endpoint.simulated.scenarios import scenario
from judgeaudit.endpoint.wire import serve


async def main() -> None:
    """Serve until the parent ends."""
    settings = settings_from_argv()
    greeting = Greeting()
    app = App(scenario(settings["scenario"]), settings["seed"], time.time_ns)
    stop, loop = asyncio.Event(), asyncio.get_running_loop()

    def watch() -> None:
        wait_for_parent()
        loop.call_soon_threadsafe(stop.set)

    threading.Thread(target=watch, daemon=True).start()
    await serve(app, settings["port"], ready=lambda port: greeting.say(port=port), stop=stop)


if __name__ == "__main__":
    asyncio.run(main())
