"""Memory-luck studies, run once over HTTP against simulated agents and sealed; tests read them."""

import importlib.util
import json
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace

import pyarrow.parquet as pq
import pytest
import typer
from typer.testing import CliRunner

from judgeaudit.battery import items_to_bytes
from judgeaudit.battery.catalogue import build_battery
from judgeaudit.cli import commands
from judgeaudit.design.builtin_protocols import protocol_source
from judgeaudit.evidence.lock.environment import facts
from judgeaudit.evidence.lock.files import freeze, load_frozen
from judgeaudit.study.windows import Windows

REGISTRATION = """
analyses = [{analyses}]
[study]
id = "luck"
title = "Memory luck"
authors = ["N. N."]
claim = "choice"
[schedule]
seed = 4
cap = 100000
clock = "virtual"
conditions = [{{ name = "four", in_flight = 4 }}]
[unit]
cluster = "world"
target = "these probes"
"""
ENDPOINT = """
[[endpoints]]
id = "{id}"
api = "openai.chat"
base_url = "embedded:{scenario}"
model = "simulated"
embedded = {{ seed = {seed} }}
"""


def write_luck_study(root, agents, worlds, protocol=None, analyses=()):
    """Write a study of `agents` (id to scenario) on `worlds` worlds; the default protocol."""
    root.mkdir()
    text = REGISTRATION.format(analyses=", ".join(f'"{name}"' for name in analyses))
    for seed, (name, scenario) in enumerate(agents.items(), 1):
        text += ENDPOINT.format(id=name, scenario=scenario, seed=seed)
    (root / "registration.toml").write_text(text)
    (root / "protocol.toml").write_bytes(protocol or protocol_source("memory-luck").data)
    items = build_battery("worlds", worlds, 3).items
    (root / "items.jsonl").write_bytes(items_to_bytes(items))
    return root


def run_luck_study(root):
    """Freeze, run both stages over HTTP, seal; returns the frozen study with its second stage."""
    freeze(root, facts(root, datetime(2026, 1, 1, tzinfo=UTC)))
    Windows(root, load_frozen(root)).run(None, everything=True)
    return load_frozen(root)


@dataclass
class Sealed:
    """A sealed study as a reader of its files finds it."""

    root: Path
    frozen: object
    readings: dict
    attempts: list

    @classmethod
    def of(cls, root):
        readings, attempts = [], []
        for folder in sorted((root / "log" / "sealed").iterdir()):
            readings += pq.read_table(folder / "readings.parquet").to_pylist()
            attempts += pq.read_table(folder / "attempts.parquet").to_pylist()
        return cls(root, load_frozen(root), {r["call_id"]: r for r in readings}, attempts)

    def calls(self, stage=2, cell=None):
        """The planned calls of a stage, or of one of its cells."""
        plan = [call for call in self.frozen.plan if call.stage == stage]
        return [call for call in plan if cell is None or call.arm == cell]

    def body(self, call):
        """What a call sent, parsed; None where it has no body."""
        frozen = self.frozen.body_of(call)
        return None if frozen is None else json.loads(frozen.request.body)

    def prompt(self, call):
        """The user's message of a call."""
        return self.body(call)["messages"][-1]["content"]

    def lesson(self, call, cell):
        """The reading of a lesson cell in the same world at the same endpoint."""
        for other in self.calls(1, cell):
            if (other.endpoint, other.item) == (call.endpoint, call.item):
                return self.readings[other.call_id]
        raise AssertionError(f"no lesson {cell} for {call}")


@pytest.fixture(scope="session")
def write():
    """Write a study without running it."""
    return write_luck_study


@pytest.fixture(scope="session")
def run_study():
    """Freeze and run a written study."""
    return run_luck_study


@pytest.fixture(scope="session")
def sealed_of():
    """Read a study that was run."""
    return Sealed.of


@pytest.fixture(scope="session")
def sealed(tmp_path_factory):
    """The default protocol on 10 worlds at three agents; some bodies of one are always cut."""
    agents = {
        "bayes": "bayes-agent",
        "carries": "superstitious-agent:carry=0.352",
        "cut": "bayes-agent:truncated=0.2",
    }
    root = write_luck_study(tmp_path_factory.mktemp("luck") / "study", agents, 10)
    run_luck_study(root)
    return Sealed.of(root)


@pytest.fixture(scope="session")
def command():
    """Run a command: `command("verify", study)`."""
    app = typer.Typer()
    commands.register(app)
    return lambda *words: CliRunner().invoke(app, [str(word) for word in words])


@pytest.fixture(scope="session")
def luck():
    """Builders of memory-luck tables, those of `tests/analysis`."""
    path = Path(__file__).parents[1] / "analysis" / "luck_builders.py"
    spec = importlib.util.spec_from_file_location("luck_builders_here", path)
    builders = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(builders)
    return SimpleNamespace(
        table=builders.luck_table, small=builders.small_table, answers=builders.answers_from
    )
