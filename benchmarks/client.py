"""CPU per call of the audited client, against bare httpx and the vendors' SDKs, in one run.

    python benchmarks/client.py [--calls N] [--rounds R] [--levels 1,16,64,256]

All send bodies of the same size to one nginx that returns a fixed JSON. CPU is user and system time
of this process (nginx has its own). `judgeaudit` is the whole of collection: guards, a durable
reservation, the request, the reply read, redacted and chained into the journal; sealing to Parquet
is shown apart. The others send and decode, and keep nothing. Rounds are interleaved; medians shown.

Targets (issue 2): at 64 in flight at most .65 of AsyncOpenAI's; from 16 to 256 flat within 1.4.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import shutil
import statistics
import subprocess
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import anthropic
import httpx
import openai

from judgeaudit.collect.clock import RealClock
from judgeaudit.collect.collector import collect
from judgeaudit.design.lock import Facts
from judgeaudit.evidence.derive import derive
from judgeaudit.evidence.lock.files import freeze, load_frozen

PROMPT = "Is this step of the solution right? " * 40
CHAT = {
    "id": "chatcmpl-1",
    "object": "chat.completion",
    "created": 1767225600,
    "model": "fixed",
    "system_fingerprint": "fp_1",
    "choices": [
        {
            "index": 0,
            "finish_reason": "stop",
            "message": {"role": "assistant", "content": "pass", "refusal": None},
            "logprobs": {
                "content": [
                    {
                        "token": "pass",
                        "logprob": -0.1,
                        "bytes": [112],
                        "top_logprobs": [
                            {"token": f"t{n}", "logprob": -0.1 - n, "bytes": [112, n]}
                            for n in range(20)
                        ],
                    }
                ]
            },
        }
    ],
    "usage": {"prompt_tokens": 400, "completion_tokens": 1, "total_tokens": 401},
}
MESSAGE = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": "fixed",
    "content": [{"type": "text", "text": "pass " * 400}],
    "stop_reason": "end_turn",
    "stop_sequence": None,
    "usage": {"input_tokens": 400, "output_tokens": 1},
}
NGINX = """
daemon off; pid {folder}/pid; error_log {folder}/error.log; worker_processes 1;
events {{ worker_connections 2048; }}
http {{
  access_log off; keepalive_requests 1000000; default_type application/json;
  client_body_temp_path {folder}/a; proxy_temp_path {folder}/b; fastcgi_temp_path {folder}/c;
  uwsgi_temp_path {folder}/d; scgi_temp_path {folder}/e;
  server {{
    listen 127.0.0.1:{port};
    location /chat/completions {{ return 200 '{chat}'; }}
    location /v1/messages {{ return 200 '{message}'; }}
  }}
}}
"""
REGISTRATION = """
[study]
id = "bench"
title = "Benchmark"
authors = ["N. N."]
claim = "verdict"
[[endpoints]]
id = "fixed"
api = "openai.chat"
base_url = "{url}"
model = "fixed"
[schedule]
seed = 1
cap = 1000000
conditions = [{{name = "c", in_flight = {width}}}]
"""
PROTOCOL = f"""
name = "verdict"
version = "1"
readout = "verdict"
[options]
categories = ["pass", "fail"]
[prompt]
user = "{PROMPT}{{n}} Answer with exactly one of: pass, fail"
[decoding]
temperature = 0
max_tokens = 8
"""


@contextmanager
def nginx() -> Iterator[str]:
    """Serve the fixed replies; yields the base URL."""
    program = shutil.which("nginx") or "/usr/sbin/nginx"
    port = _free_port()
    with tempfile.TemporaryDirectory() as name:
        config = Path(name) / "nginx.conf"
        text = NGINX.format(
            folder=name, port=port, chat=json.dumps(CHAT), message=json.dumps(MESSAGE)
        )
        config.write_text(text)
        process = subprocess.Popen([program, "-c", str(config), "-p", name])
        url = f"http://127.0.0.1:{port}"
        try:
            _wait(url)
            yield url
        finally:
            process.terminate()
            process.wait()


def _free_port() -> int:
    import socket

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait(url: str) -> None:
    for _ in range(100):
        try:
            httpx.post(f"{url}/chat/completions", json={}, trust_env=False)
            return
        except httpx.TransportError:
            time.sleep(0.05)
    raise SystemExit("nginx did not start")


async def spread(send: Callable[[], Awaitable[object]], calls: int, width: int) -> None:
    """Send `calls` requests, `width` at a time."""
    left = iter(range(calls))

    async def worker() -> None:
        for _ in left:
            await send()

    await asyncio.gather(*(worker() for _ in range(width)))


def body() -> dict[str, object]:
    """Return a request of the audited client's size."""
    messages = [{"role": "user", "content": PROMPT}]
    return {"model": "fixed", "messages": messages, "temperature": 0, "max_tokens": 8}


async def bare_httpx(url: str, calls: int, width: int) -> None:
    """One client for each worker, as httpx is fastest (encode/httpcore #1035)."""
    content = json.dumps(body()).encode()
    headers = {"content-type": "application/json"}
    context = httpx.create_ssl_context(trust_env=False)
    clients = [
        httpx.AsyncClient(verify=context, trust_env=False, headers=headers) for _ in range(width)
    ]
    free = list(clients)

    async def send() -> None:
        client = free.pop()
        reply = await client.post(f"{url}/chat/completions", content=content)
        reply.json()
        free.append(client)

    await spread(send, calls, width)
    await asyncio.gather(*(client.aclose() for client in clients))


async def async_openai(url: str, calls: int, width: int) -> None:
    """Send through `AsyncOpenAI.chat.completions.create` with retries off."""
    async with openai.AsyncOpenAI(api_key="dummy", base_url=url, max_retries=0) as client:
        await spread(lambda: client.chat.completions.create(**body()), calls, width)  # type: ignore[call-overload]


async def async_anthropic(url: str, calls: int, width: int) -> None:
    """Send through `AsyncAnthropic.messages.create` with retries off."""
    given = {name: value for name, value in body().items() if name != "temperature"}
    async with anthropic.AsyncAnthropic(api_key="dummy", base_url=url, max_retries=0) as client:
        await spread(lambda: client.messages.create(**given), calls, width)  # type: ignore[call-overload]


PEERS = {
    "bare httpx": bare_httpx,
    "AsyncOpenAI": async_openai,
    "AsyncAnthropic": async_anthropic,
}


def peer_us(name: str, url: str, calls: int, width: int) -> float:
    """Return a peer's CPU microseconds a call."""
    asyncio.run(PEERS[name](url, min(calls, 2 * width), width))
    begun = time.process_time()
    asyncio.run(PEERS[name](url, calls, width))
    return (time.process_time() - begun) / calls * 1e6


def audited_us(url: str, calls: int, width: int) -> tuple[float, float]:
    """Return the audited client's CPU microseconds a call: collecting, and sealing."""
    with tempfile.TemporaryDirectory() as name:
        study = make_study(Path(name), url, calls, width)
        inner, sealing = derive(study), []

        def noting(attempts, call):  # type: ignore[no-untyped-def]
            if not sealing:
                sealing.append(time.process_time())
            return inner(attempts, call)

        begun = time.process_time()
        asyncio.run(collect(study, "d1w1", clock=RealClock(), bases={}, keys={}, derive=noting))
        ended = time.process_time()
    return (sealing[0] - begun) / calls * 1e6, (ended - sealing[0]) / calls * 1e6


def make_study(root: Path, url: str, calls: int, width: int):  # type: ignore[no-untyped-def]
    """Freeze a study of so many different bodies."""
    (root / "registration.toml").write_text(REGISTRATION.format(url=url, width=width))
    (root / "protocol.toml").write_text(PROTOCOL)
    rows = (
        {"id": f"q{n}", "group": f"q{n}", "task": f"q{n}", "fields": {"n": n}} for n in range(calls)
    )
    (root / "items.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    freeze(root, Facts("2026-01-01T00:00:00Z", "0", {}))
    return load_frozen(root)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--calls", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--levels", default="1,16,64,256")
    parser.add_argument("--json", type=Path, help="write the figures here, too")
    given = parser.parse_args()
    levels = [int(level) for level in given.levels.split(",")]
    found: dict[str, dict[int, list[float]]] = {}
    with nginx() as url:
        for _ in range(given.rounds):
            for width in levels:
                for name in PEERS:
                    cost = peer_us(name, url, given.calls, width)
                    found.setdefault(name, {}).setdefault(width, []).append(cost)
                collecting, sealing = audited_us(url, given.calls, width)
                found.setdefault("judgeaudit", {}).setdefault(width, []).append(collecting)
                found.setdefault("its sealing", {}).setdefault(width, []).append(sealing)
    show(found, levels)
    if given.json:
        given.json.write_text(json.dumps(found, indent=1))


def show(found: dict[str, dict[int, list[float]]], levels: list[int]) -> None:
    """Print medians, and the two figures that have a target."""
    print("CPU microseconds a call" + "".join(f"{level:>9}" for level in levels))
    medians = {
        name: {width: statistics.median(values) for width, values in costs.items()}
        for name, costs in found.items()
    }
    for name, costs in medians.items():
        print(f"{name:23}" + "".join(f"{costs[level]:9.0f}" for level in levels))
    ours, theirs = medians["judgeaudit"], medians["AsyncOpenAI"]
    if 64 in levels:
        print(f"at 64, judgeaudit / AsyncOpenAI: {ours[64] / theirs[64]:.2f} (target .65)")
    spread_over = [ours[level] for level in levels if level >= 16]
    if len(spread_over) > 1:
        print(f"flat from 16 up: {max(spread_over) / min(spread_over):.2f} (target 1.4)")


if __name__ == "__main__":
    main()
