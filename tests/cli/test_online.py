"""`prereg check --online`: what the provider states of the model, told and kept, never measured."""

import importlib.util
import json
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from judgeaudit.cli import app, commands

commands.register(app)
_path = Path(__file__).parents[1] / "collect" / "recorder.py"
_spec = importlib.util.spec_from_file_location("judgeaudit_tests_online_recorder", _path)
recording = importlib.util.module_from_spec(_spec)
sys.modules[_spec.name] = recording
_spec.loader.exec_module(recording)

MODEL = {"id": "judge-1", "object": "model", "created": 1_700_000_000, "owned_by": "maker"}


@pytest.fixture
def run():
    """Run a command line in this process."""
    return lambda *arguments: CliRunner().invoke(app, list(map(str, arguments)))


@pytest.fixture
def study(run, tmp_path):
    """A study whose endpoint is at the given address."""

    def _study(base_url):
        root = tmp_path / "study"
        made = run("init", root, "--protocol", "verdict", "--n", 8, "--base-url", base_url,
                   "--model", "judge-1", "--key-env", "JUDGE_KEY")  # fmt: skip
        assert made.exit_code == 0, made.output
        return root

    return _study


@pytest.fixture
def provider():
    """A server that has the model `judge-1`, or answers every request with `status`."""

    def _provider(status=200):
        def answer(request, _number):
            path = request.head.split(b" ")[1].decode()
            if status != 200 or path.endswith("/models/judge-2"):
                return recording.Answer(status=status if status != 200 else 404, body=b"{}")
            listed = MODEL if path.endswith("judge-1") else {"object": "list", "data": [MODEL]}
            return recording.Answer(body=json.dumps(listed).encode())

        return recording.Recorder(answer)

    return _provider


def test_a_listed_model_is_told_kept_and_stands_in_the_lock(run, study, provider, monkeypatch):
    monkeypatch.setenv("JUDGE_KEY", "sk-1")
    with provider() as server:
        root = study(server.base_url)
        checked = run("prereg", "check", root, "--online")

    assert checked.exit_code == 0
    assert "the provider lists 'judge-1' (id judge-1, created 1700000000" in checked.stdout
    kept = json.loads((root / "declared.json").read_text())
    assert kept["endpoints"][0]["stated"]["created"] == 1_700_000_000
    assert run("prereg", "freeze", root).exit_code == 0
    lock = json.loads((root / "frozen" / "lock.json").read_text())
    assert lock["beside"]["declared"] == kept
    assert run("prereg", "verify", root).exit_code == 0


def test_a_model_that_is_not_there_stops_the_freeze_before_a_call_is_paid(
    run, study, provider, monkeypatch
):
    monkeypatch.setenv("JUDGE_KEY", "sk-1")
    with provider() as server:
        root = study(server.base_url)
        path = root / "registration.toml"
        path.write_text(path.read_text().replace('"judge-1"', '"judge-2"'))
        checked = run("prereg", "check", root, "--online", "--json")

    problem = json.loads(checked.stdout)["problems"][0]
    assert checked.exit_code == 1
    assert problem["key"].endswith(".model")
    assert problem["allowed"] == "judge-1"


def test_a_refused_key_is_a_problem_and_is_not_printed(run, study, provider, monkeypatch):
    monkeypatch.setenv("JUDGE_KEY", "sk-very-secret")
    with provider(401) as server:
        root = study(server.base_url)
        checked = run("prereg", "check", root, "--online")

    assert checked.exit_code == 1
    assert "the key was refused" in checked.stdout
    assert "sk-very-secret" not in checked.output + (root / "declared.json").read_text()


def test_a_server_without_a_list_tells_nothing_and_stops_nothing(run, study, provider, monkeypatch):
    monkeypatch.setenv("JUDGE_KEY", "sk-1")
    with provider(404) as server:
        checked = run("prereg", "check", study(server.base_url), "--online")

    assert checked.exit_code == 0
    assert "not told: the server has no model list" in checked.stdout


def test_a_key_that_is_not_set_is_named_before_anything_is_asked(run, study, provider, monkeypatch):
    monkeypatch.delenv("JUDGE_KEY", raising=False)
    with provider() as server:
        checked = run("prereg", "check", study(server.base_url), "--online")
        assert server.requests == []

    assert checked.exit_code == 2
    assert "JUDGE_KEY" in checked.stderr


def test_an_embedded_judge_has_no_provider_to_ask(run, tmp_path):
    root = tmp_path / "study"
    run("init", root, "--protocol", "verdict", "--n", 8, "--base-url", "embedded:stable")

    assert run("prereg", "check", root, "--online").exit_code == 0
    assert json.loads((root / "declared.json").read_text())["endpoints"] == []


@pytest.mark.parametrize("text", ["{", "[]", '{"schema": "other"}', "[" * 5000])
def test_another_file_in_its_place_is_refused_at_the_freeze(run, tmp_path, text):
    root = tmp_path / "study"
    run("init", root, "--protocol", "verdict", "--n", 8, "--base-url", "embedded:stable")
    (root / "declared.json").write_text(text)
    frozen = run("prereg", "freeze", root)

    assert frozen.exit_code == 2
    assert "declared.json" in frozen.stderr
    assert not (root / "frozen").exists()
