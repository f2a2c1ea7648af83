"""`judgeaudit gate` in sealed blocks: stops early by its rule, goes on where it ended, verifies."""

import hashlib
import json

import pytest
from typer.testing import CliRunner

from judgeaudit.cli import app, commands
from judgeaudit.evidence.lock.files import load_frozen
from judgeaudit.evidence.lock.gate_run import begin, of_run
from judgeaudit.evidence.log.runs import sealed_runs
from judgeaudit.study.windows import Windows

commands.register(app)

WITHIN = """
[sequential]
design = "flip_within"
[[gates]]
id = "flips"
statistic = "flip_rate"
over = "same_window"
at_most = 0.20
"""
BLOCKS = "repeats = 2\nblock = 10\nwindows_per_day = 5"


def call(*arguments):
    return CliRunner().invoke(app, [*map(str, arguments)])


def gate(*arguments):
    found = call("gate", *arguments, "--json")
    return found.exit_code, json.loads(found.stdout)


@pytest.fixture(autouse=True)
def _no_commit(monkeypatch):
    for name in ("GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY", "GITHUB_SHA"):
        monkeypatch.delenv(name, raising=False)


def order(root, key):
    run = of_run(load_frozen(root), key)
    return list(dict.fromkeys(planned.item for planned in run.plan))


def test_a_judge_that_never_flips_stops_early_and_the_rest_is_sealed(frozen, text, served, by_item):
    """At T = .20 with no flip the e-process crosses 1/.05 after 20 items: two blocks of 10.

    E_pass after n items without a flip is (1 - .8^(n+1)) / ((n+1) .2 .8^n): 17.1 at n = 19 and
    20.5 at n = 20.
    """
    root = frozen(text(served(by_item), schedule=BLOCKS, gates=WITHIN), items=50)

    code, document = gate(root, "--run-key", "c1")

    assert code == 0
    assert document["asked"] == {
        "calls": 40,
        "planned": 100,
        "saved": 60,
        "items": 20,
        "cap": 50,
        "ended": "stopped by the registered rule",
        "says": "asked 40 of 100 planned calls (20 of at most 50 items), 60 saved: "
        "stopped by the registered rule",
    }
    [run] = (root / "gates").iterdir()
    statuses = [r.manifest["readings"]["by_status"] for r in sealed_runs(run / "log")]
    assert statuses == [{"ok": 20}] * 2 + [{"stopped_by_rule": 20}] * 3
    assert call("verify", run).exit_code == 0


def test_a_judge_that_flips_every_item_fails_in_the_first_block(frozen, text, served):
    url = served(lambda _, n: "pass" if n // 11 % 2 else "fail")
    root = frozen(text(url, schedule=BLOCKS, gates=WITHIN), items=50)

    code, document = gate(root, "--run-key", "c1")

    assert code == 1
    assert document["asked"]["calls"] == 20


def test_the_order_is_drawn_by_lock_and_key_and_each_item_is_asked_in_one_block(
    frozen, text, served, by_item
):
    root = frozen(text(served(by_item), schedule=BLOCKS, gates=WITHIN), items=50)
    run = of_run(load_frozen(root), "c1")
    blocks = {}
    for planned in run.plan:
        blocks.setdefault(planned.item, set()).add(planned.window)

    assert order(root, "c1") == order(root, "c1") != order(root, "c2")
    assert len(blocks) == 50
    assert all(len(windows) == 1 for windows in blocks.values())


def test_the_same_key_reads_what_was_asked_and_asks_nothing_more(frozen, text, served, by_item):
    asked = []
    url = served(lambda data, n: asked.append(n) or by_item(data, n))
    root = frozen(text(url, schedule=BLOCKS, gates=WITHIN), items=50)
    first = gate(root, "--run-key", "c1")
    count = len(asked)

    assert gate(root, "--run-key", "c1") == first
    assert len(asked) == count


def test_a_run_that_ended_between_blocks_goes_on_with_the_next(frozen, text, served, by_item):
    """One block is asked and the process ends; the next gate keeps it and asks the second."""
    root = frozen(text(served(by_item), schedule=BLOCKS, gates=WITHIN), items=50)
    study = of_run(load_frozen(root), "c1")
    begin(study, "c1", None, "2026-01-01")
    windows = Windows(study.root, study).each()
    next(windows)
    windows.close()
    kept = sealed_runs(study.root / "log")[0].digest

    code, document = gate(root, "--run-key", "c1")

    assert (code, document["asked"]["calls"]) == (0, 40)
    assert sealed_runs(study.root / "log")[0].digest == kept


def test_an_edited_sealed_block_is_found_by_verify(frozen, text, served, by_item):
    root = frozen(text(served(by_item), schedule=BLOCKS, gates=WITHIN), items=50)
    gate(root, "--run-key", "c1")
    [run] = (root / "gates").iterdir()
    journal = run / "log" / "journal" / "d1w2.jsonl"
    journal.chmod(0o600)
    journal.write_text(journal.read_text().replace('"judge"', '"fudge"', 1))

    assert call("verify", run).exit_code == 1


def test_without_a_commit_or_a_key_no_order_can_be_drawn(frozen, text, served, by_item):
    root = frozen(text(served(by_item), schedule=BLOCKS, gates=WITHIN), items=50)

    found = call("gate", root)

    assert found.exit_code == 2
    assert "--run-key" in found.stderr


def test_a_new_key_on_a_commit_that_did_not_pass_asks_again_and_is_barred(
    frozen, text, served, by_item, monkeypatch
):
    """The judge recovers, so the second run alone would pass."""
    monkeypatch.setenv("GITHUB_SHA", "c0ffee" * 6)
    flipping = [True]
    url = served(
        lambda data, n: ("pass" if n // 11 % 2 else "fail") if flipping else by_item(data, n)
    )
    root = frozen(text(url, schedule=BLOCKS, gates=WITHIN), items=50)
    assert gate(root)[0] == 1
    flipping.clear()

    code, document = gate(root, "--run-key", "attempt-2")

    assert code == 3
    assert document["gates"][0]["outcome"] == "undefined"
    assert [bar["kind"] for bar in document["bars"]] == ["asked_again"]
    assert "ended fail" in document["bars"][0]["says"]


def test_one_call_an_item_against_five_replies_of_a_sealed_baseline(frozen, text, served, by_item):
    """20 items without a flip, one call each: two blocks of 10, half of what two calls cost."""
    url = served(by_item)
    base = frozen(text(url, schedule="repeats = 5", gates=""), items=50, name="baseline")
    assert call("run", base, "--all").exit_code == 0
    digest = sealed_runs(base / "log")[-1].digest
    gates = f"""
[sequential]
design = "flip_vs_baseline"
baseline = "../baseline"
digest = "{digest}"
[[gates]]
id = "flips"
statistic = "flip_rate"
over = "all"
at_most = 0.20
"""
    schedule = "repeats = 1\nblock = 10\nwindows_per_day = 5"
    root = frozen(text(url, schedule=schedule, gates=gates), items=50)

    code, document = gate(root, "--run-key", "c1")

    assert (code, document["asked"]["calls"], document["asked"]["items"]) == (0, 20, 20)

    other = frozen(
        text(url, schedule=schedule, gates=gates.replace(digest[-8:], "0" * 8)),
        items=50,
        name="other",
    )
    found = call("gate", other, "--run-key", "c1")
    assert found.exit_code == 2
    assert "last manifest is" in found.stderr


def test_spearman_is_looked_at_where_blocks_end(frozen, text, served, scores):
    """Answers differ by at most 2 of 90 steps: the order is nearly that of the items."""
    gates = """
[sequential]
design = "spearman_looks"
first_look = 20
[[gates]]
id = "order"
statistic = "spearman"
over = "same_window"
at_least = 0.80
"""
    url = served(lambda data, n: str(hashlib.sha256(data).digest()[0] % 90 + n % 3))
    registered = text(url, schedule=BLOCKS, gates=gates, claim="score")
    root = frozen(registered, items=50, protocol=scores.protocol)

    code, document = gate(root, "--run-key", "c1")

    assert code == 0
    assert document["asked"]["items"] in (20, 30, 40, 50)
    assert document["asked"]["saved"] == 100 - document["asked"]["calls"]
