"""A provider and a readout added by one file and one catalogue line each, through every command.

The two classes below are all that a new API and a new way of reading take: nothing else in the
package knows their names. A server on this machine speaks the API.
"""

import importlib.util
import json
import sys
import tomllib
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from judgeaudit.cli import commands
from judgeaudit.instrument import provider as providers
from judgeaudit.instrument import readout as readouts
from judgeaudit.instrument.provider import Classified, ProviderRecord, lenient
from judgeaudit.instrument.provider.body import composed, wanted
from judgeaudit.instrument.provider.document import ending_of, ending_word, opened
from judgeaudit.instrument.provider.policy import classify
from judgeaudit.instrument.readout.base import unparsed
from judgeaudit.instrument.readout.places import Placed, PlacedReadout
from judgeaudit.instrument.readout.record import ReadoutRecord
from judgeaudit.instrument.rules import CURRENT
from judgeaudit.model import Invalid, Reply, Value

_spec = importlib.util.spec_from_file_location(
    "judgeaudit_tests_added_recorder", Path(__file__).parents[1] / "collect" / "recorder.py"
)
recorder = importlib.util.module_from_spec(_spec)
sys.modules[_spec.name] = recorder
_spec.loader.exec_module(recorder)


class Slips:
    """An API of its own: `POST /ask` with `{"slip": ...}`, answered `{"said": ..., "end": ...}`."""

    record = ProviderRecord(
        api="slips.ask",
        title="Slips",
        base_url="https://slips.example",
        key_env="SLIPS_KEY",
        sdk="openai",
        path="/ask",
        api_version=None,
        decoding={},
        top_logprobs=0,
        whole=frozenset({"done"}),
        token_fields=("most",),
        batch=False,
    )

    def compose(self, endpoint, ask, decoding):
        text = "\n".join(message.content for message in ask.messages)
        body = {
            "model": endpoint.model,
            "slip": text,
            "most": wanted(endpoint, decoding)["max_tokens"],
        }
        return composed(endpoint, self.record.path, body)

    def read(self, body, rules=CURRENT):
        document = opened(body, rules)
        if isinstance(document, Invalid):
            return document
        end = document.get("end")
        return Reply(
            lenient.text(document.get("said")),
            ending_word(end),
            ending=ending_of(end, self.record.whole, rules),
        )

    def classify(self, status, headers, body, *, now_ns=None) -> Classified:
        return classify(status, headers, body, now_ns=now_ns)

    def auth(self, key, api_version=None):
        return {"x-slips-key": key}


class Thumbs(PlacedReadout[Placed]):
    """Reads `up` or `down`."""

    record = ReadoutRecord(
        name="thumbs",
        column="category",
        needs_logprobs=False,
        claims=frozenset({"verdict"}),
        claim="verdict",
        analysed_as="verdict",
        structured={},
        simulated="embedded:stable",
        controls="twins",
    )
    options_model = Placed

    def provided_fields(self):
        return frozenset()

    def provide(self, item, arm):
        return {}

    def written_value(self, written, item, arm):
        if written not in ("up", "down"):
            return unparsed(f"no thumb: {written}")
        return Value(category=written, label=written)

    def cell_value(self, cell, item, arm):
        return self.written_value(cell.strip(), item, arm)


PROTOCOL = """
name = "thumbs"
version = "1"
readout = "thumbs"
[options]
pattern = "last_line"
[prompt]
user = "Is this sum right? {sum} End with a line that is up or down."
[decoding]
max_tokens = 32
"""


def answer(request, number):
    """Say up, and in the last of eight planned calls down; preflight comes first."""
    said = "Let me see.\n" + ("down" if number == 8 else "up")
    return recorder.Answer(body=json.dumps({"said": said, "end": "done"}).encode())


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(providers.CATALOGUE, Slips.record.api, Slips())
    monkeypatch.setitem(readouts.READOUTS, Thumbs.record.name, Thumbs)
    app = typer.Typer()
    commands.register(app)

    def _run(*arguments):
        found = CliRunner().invoke(app, [str(argument) for argument in arguments])
        return found.exit_code, found.stdout or found.output

    return _run


def test_they_go_through_init_check_run_analyze_and_the_gate_of_a_table(run, tmp_path):
    """Twelve items, two repeats: one of the 24 answers differs, and so one of 12 pairs."""
    Path("thumbs.toml").write_text(PROTOCOL)
    Path("sums.jsonl").write_text(
        "".join(f'{{"id": "q{n}", "sum": "{n}+{n}"}}\n' for n in range(12))
    )
    with recorder.Recorder(answer) as server:
        options = ["--items", "sums.jsonl", "--id", "id", "--api", "slips.ask", "--model", "s-1"]
        made = run(
            "init", "s", "--protocol", "thumbs.toml", "--base-url", server.base_url, *options
        )
        assert made[0] == 0, made
        text = Path("s/registration.toml").read_text()
        assert 'claim = "verdict"' in text
        assert set(tomllib.loads(text)["analyses"]) == {"category_exact", "flip_rate"}
        gate = (
            '\n[[gates]]\nid = "g"\nstatistic = "flip_rate"\nover = "same_window"\nat_most = 0.3\n'
        )
        Path("s/registration.toml").write_text(text + gate)
        for command in (["prereg", "check", "s"], ["prereg", "freeze", "s"], ["run", "s", "--all"]):
            code, said = run(*command)
            assert code == 0, said
        head = server.requests[0].head
    assert head.startswith(b"POST /ask ")
    code, said = run("analyze", "s", "--json")
    assert code == 0, said
    found = {e["analysis"]: e for e in json.loads(said)["estimates"]}
    assert found["flip_rate"]["value"] == pytest.approx(1 / 12)
    assert run("verify", "s")[0] == 0

    rows = "".join(f"q{n},{r},{'up' if n % 2 else 'down'}\n" for n in range(12) for r in range(2))
    Path("t.csv").write_text("item,repeat,category\n" + rows)
    code, said = run("gate", "t.csv", "--registration", "s", "--json")
    assert code == 0, said
    assert json.loads(said)["outcome"] == "pass"
