"""Small frozen studies of sums, and a server on this machine that answers them as it is told."""

import hashlib
import importlib.util
import json
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from judgeaudit.design.lock import Facts
from judgeaudit.evidence.lock.files import freeze

_spec = importlib.util.spec_from_file_location(
    "judgeaudit_tests_cli_recorder",
    Path(__file__).parents[1] / "collect" / "recorder.py",
)
recorder = importlib.util.module_from_spec(_spec)
sys.modules[_spec.name] = recorder
_spec.loader.exec_module(recorder)

VERDICT = """
name = "verdict"
version = "1"
readout = "verdict"
[options]
categories = ["pass", "fail"]
[prompt]
user = "Is this sum right? {sum}\\nAnswer with exactly one of: pass, fail"
[decoding]
temperature = 0
max_tokens = 32
"""

SCORE = """
name = "score"
version = "1"
readout = "score"
[options]
scale = { low = 0, high = 100 }
pattern = "number"
[prompt]
user = "How right is this sum, 0 to 100? {sum}"
[decoding]
temperature = 0
max_tokens = 32
"""

FLIPS = """
[[gates]]
id = "flips"
statistic = "flip_rate"
over = "same_window"
at_most = 0.20
"""


def registration(
    base_url="embedded:stable", *, schedule="repeats = 2", gates=FLIPS, endpoint="", claim="verdict"
):
    return f"""
[study]
id = "small"
title = "A small study"
authors = ["N. N."]
claim = "{claim}"
[[endpoints]]
id = "judge"
api = "openai.chat"
base_url = "{base_url}"
model = "judge-1"
timeouts = {{ connect = "1s", read = "1s", total = "1s" }}
{endpoint}
[schedule]
seed = 1
cap = 100000
{schedule}
[retry]
attempts = 1
base = "10ms"
longest = "20ms"
{gates}
"""


EXACT = """
[[gates]]
id = "exact"
statistic = "number_exact"
over = "same_window"
at_least = 0.5
"""


@pytest.fixture
def scores():
    """A protocol whose answers are numbers, and a gate for it."""
    return SimpleNamespace(protocol=SCORE, gate=EXACT)


@pytest.fixture
def text():
    """A registration's text: `text(base_url, schedule=..., gates=..., endpoint=...)`."""
    return registration


@pytest.fixture
def frozen(tmp_path):
    """Freeze a study of `items` sums in a folder and return the folder."""

    def make(text=None, items=20, name="study", protocol=VERDICT, gold=None, controls=()):
        root = tmp_path / name
        root.mkdir(parents=True)
        (root / "registration.toml").write_text(text or registration())
        (root / "protocol.toml").write_text(protocol)
        rows = [
            {"id": f"q{n}", "group": f"q{n}", "task": f"q{n}", "fields": {"sum": f"{n} + {n}"}}
            for n in range(items)
        ]
        for n, row in enumerate(rows if gold else ()):
            row["gold"] = gold(n)
        if controls:
            lines = "".join(json.dumps(row) + "\n" for row in controls)
            (root / "controls.jsonl").write_text(lines)
        (root / "items.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        freeze(root, Facts("2026-01-01T00:00:00Z", "0", {}))
        return root

    return make


def body(content, model="judge-1"):
    choice = {"index": 0, "message": {"content": content}, "finish_reason": "stop"}
    return json.dumps({"model": model, "choices": [choice]}).encode()


@pytest.fixture
def served():
    """Answer every request by `answer(body, number)`: a text, or a text and a model's name."""
    running = []

    def serve(answer):
        def reply(request, number):
            said = answer(request.body, number)
            content, model = said if isinstance(said, tuple) else (said, "judge-1")
            return recorder.Answer(body=body(content, model))

        server = recorder.Recorder(reply)
        running.append(server)
        return server.__enter__().base_url

    yield serve
    for server in running:
        server.__exit__()


@pytest.fixture
def by_item():
    """An answer that is always the same for one request, and pass for half of all requests."""
    return lambda data, _: "pass" if hashlib.sha256(data).digest()[0] % 2 else "fail"
