"""The real local judge: its identity, its crash, its null control and its load effect."""

import asyncio
import json
import os
import signal
import sys
import time

import httpx
import pytest

from judgeaudit.endpoint import local as local_module
from judgeaudit.endpoint.local import LocalOptions, cpu_model, read_options, start_local
from judgeaudit.endpoint.server import start_embedded
from judgeaudit.endpoint.weights import SMOLLM2, cache_dir
from judgeaudit.errors import JudgeauditError

PROMPTS = [
    f"{a} + {b} = {c}. Right? Yes or No."
    for a, b, c in ((2, 3, 5), (14, 9, 23), (7, 5, 13), (31, 8, 39), (6, 6, 13), (25, 17, 42))
]


def test_options_have_the_defaults_of_a_busy_two_core_machine():
    assert read_options({}) == LocalOptions(slots=8, threads=1, kv_unified=True, cache_prompt=False)
    assert read_options({"slots": 1, "wait": False}).slots == 1


def test_without_llama_cpp_one_line_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    real = local_module.importlib.util.find_spec
    monkeypatch.setattr(
        local_module.importlib.util, "find_spec", lambda n: None if n == "xllamacpp" else real(n)
    )

    with pytest.raises(JudgeauditError) as told:
        start_local()
    assert 'pip install "judgeaudit-toolkit[local]"' in str(told.value)
    assert "--simulated" in str(told.value)


def test_the_processor_is_read_from_the_kernel_or_from_the_platform(tmp_path):
    kernel = tmp_path / "cpuinfo"
    kernel.write_text("processor\t: 0\nmodel name\t: Fast One\n")

    assert cpu_model(kernel) == "Fast One"
    assert cpu_model(tmp_path / "absent")


class RealClock:
    virtual = False

    def now_ns(self):
        return time.time_ns()

    async def sleep(self, seconds):
        await asyncio.sleep(seconds)


def start(**options):
    return start_embedded("embedded:local", clock=RealClock(), options=options)


def body(prompt):
    return {
        "model": "any",
        "messages": [{"role": "user", "content": prompt}],
        "temperature": 0,
        "max_tokens": 1,
        "logprobs": True,
        "top_logprobs": 10,
    }


def sweep(endpoint, width):
    """The first position's log-probabilities of every prompt, `width` in flight."""

    async def one(client, gate, prompt):
        async with gate:
            url = f"{endpoint.base_url}/v1/chat/completions"
            reply = await client.post(url, json=body(prompt))
        first = reply.json()["choices"][0]["logprobs"]["content"][0]
        return [(entry["id"], entry["logprob"]) for entry in first["top_logprobs"]]

    async def all_():
        gate = asyncio.Semaphore(width)
        async with httpx.AsyncClient(trust_env=False, timeout=60) as client:
            return await asyncio.gather(*(one(client, gate, prompt) for prompt in PROMPTS))

    return asyncio.run(all_())


def differing(left, right):
    return sum(a != b for a, b in zip(left, right, strict=True))


@pytest.mark.integration
def test_one_slot_never_varies_and_eight_do_under_load():
    """The null control shows 0 differing readings, the loaded arm more than 0."""
    with start(slots=1, kv_unified=False) as endpoint:
        assert differing(sweep(endpoint, 1), sweep(endpoint, 6)) == 0
    with start(slots=8) as endpoint:
        quiet = sweep(endpoint, 1)
        assert differing(quiet, sweep(endpoint, 1)) == 0
        assert any(differing(quiet, sweep(endpoint, 6)) for _ in range(3))


@pytest.mark.integration
def test_identity_says_what_decides_an_answer_and_names_no_folder():
    with start(slots=2, threads=1) as endpoint:
        found = endpoint.identity
        reply = httpx.post(
            f"{endpoint.base_url}/v1/chat/completions",
            json=body(PROMPTS[0]),
            trust_env=False,
            timeout=60,
        )
    assert found["weights_sha256"].startswith("sha256:b179c952")
    assert found["engine"].startswith("xllamacpp 20")
    assert (found["slots"], found["threads"], found["kv_unified"]) == (2, 1, True)
    assert found["cpu"]
    assert reply.json()["model"] == SMOLLM2.model
    assert str(cache_dir()) not in json.dumps(found)


@pytest.mark.integration
def test_while_it_loads_calls_are_refused_or_answered_503_and_then_served():
    with start(slots=1, wait=False) as endpoint:
        met, end = set(), time.monotonic() + 60
        while 200 not in met and time.monotonic() < end:
            try:
                url = f"{endpoint.base_url}/v1/chat/completions"
                met.add(httpx.post(url, json=body("Hi"), trust_env=False, timeout=30).status_code)
            except httpx.ConnectError:
                met.add("refused")
                time.sleep(0.01)
    assert 200 in met
    assert met & {503, "refused"}
    assert met <= {200, 503, "refused"}


@pytest.mark.integration
def test_a_crash_of_the_judge_leaves_the_runner_alive():
    endpoint = start(slots=1)
    os.kill(endpoint._child.pid, signal.SIGKILL)
    for _ in range(100):
        if not endpoint.running:
            break
        time.sleep(0.02)

    assert not endpoint.running
    endpoint.stop()
