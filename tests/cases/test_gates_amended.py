"""Amendments beside verdicts: what they changed is said, and a loosened gate stays marked."""

import json
import random
from datetime import UTC, datetime

import pytest
from typer.testing import CliRunner

from judgeaudit.cli import app, commands
from judgeaudit.evidence.lock.files import load_frozen
from judgeaudit.study.gate_history import _before

commands.register(app)

WITHIN = """
[sequential]
design = "flip_within"
[[gates]]
id = "flips"
statistic = "flip_rate"
over = "same_window"
at_most = 0.10
"""
BLOCKS = "repeats = 2\nblock = 10\nwindows_per_day = 5"
WHY = ("--what", "the threshold", "--why", "it failed", "--effect", "it passes")


@pytest.fixture(autouse=True)
def _one_commit(monkeypatch):
    for name in ("GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("GITHUB_SHA", "c0ffee" * 6)


def call(*arguments):
    return CliRunner().invoke(app, [*map(str, arguments)])


def edit(root, old, new):
    path = root / "registration.toml"
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))
    found = call("prereg", "amend", root, *WHY)
    assert found.exit_code == 0, found.output


def test_a_gate_loosened_after_it_failed_does_not_pass(frozen, text, served):
    """case G7: a coin fails at .10, is amended to .90, would pass and is barred for life."""
    coin = random.Random(3)
    url = served(lambda *_: coin.choice(["pass", "fail"]))
    root = frozen(text(url, schedule=BLOCKS, gates=WITHIN), items=50)
    assert call("gate", root).exit_code == 1

    edit(root, "at_most = 0.10", "at_most = 0.90")
    found = call("gate", root)

    assert found.exit_code == 3, found.output
    assert "barred (loosened)" in found.stdout
    assert "PASS" not in found.stdout
    assert "'flips' failed in the run 'c0ffee" in found.stdout
    again = call("gate", root, "--run-key", "next-week", "--json")
    assert again.exit_code == 3
    assert "loosened" in json.loads(again.stdout)["gates"][0]["barred"]


def test_a_gate_amended_before_any_run_is_judged_as_amended(frozen, text, served, by_item):
    """Nothing had failed by then: the amendment is told and bars nothing."""
    url = served(by_item)
    root = frozen(text(url, schedule=BLOCKS, gates=WITHIN), items=50)
    edit(root, "at_most = 0.10", "at_most = 0.20")

    found = call("gate", root)

    assert found.exit_code == 0, found.output
    assert "loosened" not in found.stdout
    assert "amendment 1" in found.stdout.lower()


def test_an_amendment_that_lets_a_model_in_says_so(frozen, text, served, chat, by_item):
    """case R2: the served name is listed after all data; the gate turns from 3 to 0, marked."""
    url = served(lambda data, n: (chat(by_item(data, n), n, "router/j"), {}))
    roomy = WITHIN.split("[[gates]]")[1].replace("0.10", "0.20")
    root = frozen(
        text(url, gates="[[gates]]" + roomy, endpoint='identity = { served = ["other"] }'),
        items=30,
    )
    assert call("gate", root).exit_code == 3
    edit(root, '"other"', '"router/j"')

    found = call("gate", root)
    document = json.loads(call("analyze", root, "--json").stdout)

    assert found.exit_code == 0, found.output
    says = "flips is undefined by the registration before it and is pass by the amended one"
    assert says in found.stdout
    assert any(says in mark for mark in document["gates"][0]["marks"])
    assert document["amendments"][0]["seen"] == "60 answers"


@pytest.mark.parametrize(
    ("second", "before"), [(99, True), (100, False), (101, False)], ids=["before", "same", "after"]
)
def test_an_amendment_of_the_second_in_which_a_run_began_is_not_before_it(
    frozen, text, second, before
):
    """case G7: a run begins at 100.9 s; an amendment made at 100.95 s is dated 100 s."""
    root = frozen(text("http://judge.example", schedule=BLOCKS, gates=WITHIN), items=50)
    dated = datetime.fromtimestamp(second, UTC).isoformat(timespec="seconds")

    assert _before(dated, 100_900_000_000, load_frozen(root)) is before


def test_a_trivial_amendment_does_not_let_a_commit_ask_until_it_passes(frozen, text, served):
    """Failed under one key; the title is amended; under another key the judge is quiet."""
    noisy = [True]
    coin = random.Random(3)
    steady = {}

    def answer(data, _):
        key = hash(bytes(data))
        return (
            coin.choice(["pass", "fail"])
            if noisy[0]
            else steady.setdefault(key, coin.choice(["pass", "fail"]))
        )

    root = frozen(text(served(answer), schedule=BLOCKS, gates=WITHIN), items=50)
    assert call("gate", root, "--run-key", "k1").exit_code == 1
    edit(root, 'title = "', 'title = "Again: ')
    noisy[0] = False

    found = call("gate", root, "--run-key", "k2")

    assert found.exit_code == 3, found.output
    assert "barred (asked_again)" in found.stdout
    checked = call("verify", root)
    assert checked.exit_code == 0, checked.output
