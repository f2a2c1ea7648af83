"""Servers that nobody on this project wrote: a `text` study of 20 calls on each.

`JUDGEAUDIT_SERVERS` names the folder with their commands; `.ci/run` installs them. Each has quirks;
what one leaves out is "not reported", and no reply stops a study.
"""

import os
import socket
import subprocess
import time
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from judgeaudit.evidence.log.load import load_attempts, load_readings

PROTOCOL = """
name = "text"
version = "1"
readout = "text"
[options]
max_chars = 20000
[prompt]
user = "Say in one sentence what this sum is about: {sum}"
[decoding]
temperature = 0
max_tokens = 16
"""


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextmanager
def server(tmp_path, name):
    """Start one of the servers; yields its base URL without a path."""
    program, port = Path(os.environ["JUDGEAUDIT_SERVERS"]) / name, free_port()
    arguments = {
        "fakellm": ["serve", "--port", str(port)],
        "llm-mock-api": ["start", "-H", "127.0.0.1", "-p", str(port)],
    }[name]
    if name == "fakellm":
        subprocess.run([program, "init"], cwd=tmp_path, check=True, capture_output=True)
    process = subprocess.Popen(
        [program, *arguments], cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        wait_for(port)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(10)


def wait_for(port):
    for _ in range(300):
        try:
            httpx.get(f"http://127.0.0.1:{port}/", trust_env=False)
            return
        except httpx.TransportError:
            time.sleep(0.1)
    raise AssertionError("the server did not start")


def twenty(study, run, text, base=None):
    """Run 20 calls and return their attempts."""
    frozen = study(text, items=20, protocol=PROTOCOL)
    run(frozen, base=base, keys={"judge": "sk-not-a-real-key"})
    rows = load_attempts(frozen.root / "log").to_pylist()
    readings = load_readings(frozen.root / "log").to_pylist()
    return [row for row in rows if row["condition"] != "preflight"], readings


ANTHROPIC = 'api_version = "2023-06-01"'


@pytest.mark.integration
@pytest.mark.parametrize("name", ["fakellm", "llm-mock-api"])
@pytest.mark.parametrize("api", ["openai.chat", "anthropic.messages"])
def test_twenty_calls_are_ok_on_a_server_of_somebody_else(
    study, run, make_registration, tmp_path, name, api
):
    extra = ANTHROPIC if api == "anthropic.messages" else ""
    text = make_registration("http://judge.example", endpoint=extra).replace("openai.chat", api)
    with server(tmp_path, name) as url:
        base = url if api == "anthropic.messages" else f"{url}/v1"
        attempts, readings = twenty(study, run, text, base)

    assert [row["outcome"] for row in attempts] == ["ok"] * 20
    assert [row["status"] for row in readings] == ["ok"] * 20
    # Neither server reports these: null, never 0 or an empty text.
    assert {row["reasoning_tokens"] for row in attempts} <= {None, 0}
    assert all(row["fingerprint"] is None or row["fingerprint"] for row in attempts)


@pytest.mark.integration
def test_twenty_calls_are_ok_on_llama_cpp_which_is_still_loading(study, run, make_registration):
    """It answers 503 while it loads: that costs retries and no reading (attempts of preflight)."""
    endpoint = "embedded = {wait = false, slots = 1}\n"
    text = make_registration("embedded:local", endpoint=endpoint, extra="attempts = 20").replace(
        'longest = "50ms"', 'longest = "2s"'
    )
    frozen = study(text, items=20, protocol=PROTOCOL)
    run(frozen)
    rows = load_attempts(frozen.root / "log").to_pylist()
    preflight = [row for row in rows if row["condition"] == "preflight"]
    planned = [row for row in rows if row["condition"] != "preflight"]

    assert [row["outcome"] for row in planned] == ["ok"] * 20
    assert [row["outcome"] for row in preflight][-1] == "ok"
    assert all(row["outcome"] in ("http_error", "transport_error") for row in preflight[:-1])
    assert all(row["cached_tokens"] is not None for row in planned)
