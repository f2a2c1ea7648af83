"""HTTP requests to simulated replies: paths, JSON, credentials and the virtual moment.

`/v1/chat/completions`, `/v1/messages` and `/v1/models` are served, with or without `/v1`. With
the request header `x-judgeaudit-virtual` the moment is the caller's. Without it, it is the
server's clock and load, and the attempt counts the failures of this body just before.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from judgeaudit.canonical import VIRTUAL_HEADER, digest, parse_virtual_header
from judgeaudit.endpoint.simulated.judge import Virtual
from judgeaudit.endpoint.simulated.reply import SimReply, models, reply, unreadable
from judgeaudit.endpoint.simulated.scenarios import Scenario
from judgeaudit.endpoint.simulated.shapes import ANTHROPIC, OPENAI
from judgeaudit.errors import InputError

_APIS = {"/chat/completions": OPENAI, "/messages": ANTHROPIC}


@dataclass(slots=True)
class App:
    """One simulated endpoint. `now_ns` is read only where a request brings no moment."""

    scenario: Scenario
    seed: int
    now_ns: Callable[[], int]
    _last_ns: int = 0
    _failures: dict[str, int] = field(default_factory=dict)

    def sleep_s(self, headers: Mapping[str, str]) -> float:
        """Return how long this request must really take: nothing where time is virtual."""
        return 0.0 if VIRTUAL_HEADER in headers else self.scenario.sleep_ms / 1000

    def respond(
        self, method: str, path: str, headers: Mapping[str, str], body: bytes, load: int
    ) -> SimReply:
        """Return the reply to one request; header names are in lower case."""
        endpoint = path.partition("?")[0].removeprefix("/v1").rstrip("/")
        api = _APIS.get(endpoint, OPENAI)
        name = digest(body)
        try:
            when = self._when(headers, name, load)
            if endpoint == "/models" and method == "GET":
                return models(self.scenario, when)
            if endpoint not in _APIS or method != "POST":
                return unreadable(self.scenario, api, f"{method} {path} is not served", 404)
            if api == ANTHROPIC and "anthropic-version" not in headers:
                return unreadable(self.scenario, api, "anthropic-version: header is required")
            parsed = _object(body)
        except (InputError, ValueError) as error:
            return unreadable(self.scenario, api, str(error))
        credentials = headers.get("authorization") or headers.get("x-api-key", "")
        found = reply(
            self.scenario, self.seed, parsed, name, when, api=api, credentials=credentials
        )
        if VIRTUAL_HEADER not in headers:
            self._count(name, found)
            if found.wire == "late":
                return SimReply(found.status, found.headers, found.body, "hang")
        return found

    def _when(self, headers: Mapping[str, str], name: str, load: int) -> Virtual:
        if (text := headers.get(VIRTUAL_HEADER)) is not None:
            return Virtual(*parse_virtual_header(text))
        # Strictly increasing, so that two calls in one clock tick draw different noise.
        self._last_ns = max(self.now_ns(), self._last_ns + 1)
        return Virtual(self._last_ns, 1 + self._failures.get(name, 0), load)

    def _count(self, name: str, found: SimReply) -> None:
        if found.status == 200 and not found.wire:
            self._failures.pop(name, None)
        else:
            self._failures[name] = self._failures.get(name, 0) + 1


def _object(body: bytes) -> Mapping[str, object]:
    parsed = json.loads(body)
    if not isinstance(parsed, dict):
        raise ValueError("the body must be a JSON object")
    return parsed
