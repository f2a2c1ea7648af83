"""Small frozen studies, and endpoints for them on this machine."""

import asyncio
import importlib.util
import json
import sys
from pathlib import Path

import pytest

from judgeaudit.collect.clock import RealClock, VirtualClock
from judgeaudit.collect.collector import collect
from judgeaudit.design.lock import Facts
from judgeaudit.endpoint.server import start_embedded
from judgeaudit.evidence.derive import derive
from judgeaudit.evidence.lock.files import freeze, load_frozen

_spec = importlib.util.spec_from_file_location(
    "judgeaudit_tests_recorder", Path(__file__).with_name("recorder.py")
)
recorder = importlib.util.module_from_spec(_spec)
sys.modules[_spec.name] = recorder
_spec.loader.exec_module(recorder)

START = 1_767_225_600_000_000_000  # 2026-01-01 00:00 UTC

PROTOCOL = """
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


def registration(base_url="embedded:stable", *, schedule="", endpoint="", extra="", cap=100_000):
    return f"""
[study]
id = "small"
title = "A small study"
authors = ["N. N."]
claim = "verdict"
[[endpoints]]
id = "judge"
api = "openai.chat"
base_url = "{base_url}"
model = "simulated"
{endpoint}
[schedule]
seed = 1
cap = {cap}
{schedule}
[retry]
base = "10ms"
longest = "50ms"
{extra}
"""


@pytest.fixture
def recording():
    """The module of the recording server: `Recorder`, `Answer`."""
    return recorder


@pytest.fixture
def make_registration():
    """The text of a registration with changes: `make_registration(base_url, schedule=...)`."""
    return registration


@pytest.fixture
def study(tmp_path):
    """Freeze a study of `items` sums; `text` is its registration."""

    def make(text=None, items=8, name="study", protocol=PROTOCOL):
        root: Path = tmp_path / name
        root.mkdir()
        (root / "registration.toml").write_text(text or registration())
        (root / "protocol.toml").write_text(protocol)
        rows = [
            {
                "id": f"q{n}",
                "group": f"q{n}",
                "task": f"q{n}",
                "fields": {"sum": f"{n} + 1 = {n + 1 + n % 2}"},
            }
            for n in range(items)
        ]
        (root / "items.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        freeze(root, Facts("2026-01-01T00:00:00Z", "0", {}))
        return load_frozen(root)

    return make


@pytest.fixture
def run():
    """Run a window against the embedded endpoint that the registration names, or a URL."""

    def _run(study, window="d1w1", clock=None, base=None, keys=None, **more):
        virtual = study.registration.schedule.clock == "virtual"
        clock = clock or (VirtualClock(START) if virtual else RealClock())

        def go(bases):
            return asyncio.run(
                collect(
                    study,
                    window,
                    clock=clock,
                    bases=bases,
                    keys=keys or {},
                    derive=derive(study),
                    **more,
                )
            )

        if base is not None:
            return go({spec.id: base for spec in study.registration.endpoints})
        spec = study.registration.endpoints[0]
        options = dict(spec.embedded)
        with start_embedded(spec.base_url, clock=clock, seed=7, options=options) as server:
            return go({spec.id: server.base_url})

    return _run
