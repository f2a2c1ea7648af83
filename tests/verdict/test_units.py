"""Blocks and tasks as the unit of a flip gate: planned, checked, weighed and executed alike."""

import json

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from judgeaudit.cli import app, commands
from judgeaudit.design.base import read_toml
from judgeaudit.design.check.sequential import sequential_problems
from judgeaudit.design.document import Registration
from judgeaudit.design.plan import block_of_tasks
from judgeaudit.model import Item
from judgeaudit.readings.table import checked
from judgeaudit.verdict.flips import unit_codes, unit_values
from judgeaudit.verdict.oc.sequential import SequentialRule
from judgeaudit.verdict.oc.worlds import flips
from judgeaudit.verdict.stopping import progress, verdicts_of

commands.register(app)
CODES = {"pass": 1, "fail": -1, "inconclusive": 0}
TEXT = """
[study]
id = "s"
title = "A study"
authors = ["N. N."]
claim = "verdict"
[[endpoints]]
id = "judge"
api = "openai.chat"
base_url = "embedded:stable"
model = "judge-1"
[schedule]
seed = 1
cap = 10000
repeats = 2
block = {block}
windows_per_day = {windows}
{target}
[sequential]
design = "{design}"
unit = "{unit}"
[[gates]]
id = "g"
statistic = "{statistic}"
over = "same_window"
{side}
"""
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


def text(unit="block", block=5, windows=40, target="", design="flip_within"):
    flips_ = design != "spearman_looks"
    return TEXT.format(
        unit=unit, block=block, windows=windows, target=target, design=design,
        statistic="flip_rate" if flips_ else "spearman",
        side="at_most = 0.10" if flips_ else "at_least = 0.8",
    )  # fmt: skip


def registered(**options):
    return Registration.model_validate(read_toml("registration.toml", text(**options).encode()))


def study(tmp_path, items=60, per_task=1, **options):
    root = tmp_path / "study"
    root.mkdir()
    (root / "registration.toml").write_text(text(**options))
    (root / "protocol.toml").write_text(PROTOCOL)
    rows = [
        {"id": f"q{n}", "group": f"q{n}", "task": f"t{n // per_task}",
         "fields": {"sum": f"{n} + {n}"}}
        for n in range(items)
    ]  # fmt: skip
    (root / "items.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return root


def call(*arguments):
    return CliRunner().invoke(app, [*map(str, arguments)])


def table(run, block, per_task):
    rows = [
        {"endpoint": "judge", "item": f"q{n}", "task": f"t{n // per_task}",
         "window": f"d1w{n // block + 1}", "repeat": k,
         "status": "invalid" if k and np.isnan(flip) else "ok",
         "reason": "unparsed" if k and np.isnan(flip) else None,
         "category": None if k and np.isnan(flip) else "ab"[int(bool(k and flip == 1))]}
        for n, flip in enumerate(run)
        for k in range(2)
    ]  # fmt: skip
    return checked(pd.DataFrame(rows))


@pytest.mark.parametrize(("unit", "block", "per_task"), [("block", 5, 1), ("task", 10, 4)])
def test_what_is_weighed_is_what_is_executed(rng, unit, block, per_task):
    """Twelve runs of 40 units, some replies lost: outcome and items asked are the same."""
    found = registered(unit=unit, block=block)
    cap = 40 * (block if unit == "block" else per_task)
    rule = SequentialRule(found.gates[0], found, cap, per_task)
    drawn = np.concatenate(
        [flips(name, rng, 4, rule.where, rate)
         for name, rate in (("even", 0.0), ("bursts", 0.03), ("even", 0.4))]
    )  # fmt: skip
    drawn[rng.random(drawn.shape) < 0.01] = np.nan
    stops = rule.stops(drawn)

    executed = [progress(found, table(run, rule.block, per_task), cap)[0] for run in drawn]

    assert [CODES[one.outcome.value] for one in executed] == stops.outcome.tolist()
    assert [one.items for one in executed] == stops.items.tolist()
    assert set(stops.outcome.tolist()) >= {1, -1}
    assert executed[0].estimate.cluster == unit


def test_bursts_pass_a_gate_of_items_and_not_one_of_blocks():
    """At .10 in bursts of a block of 20: .4 and more by the item, at most alpha by the block."""
    rates = {}
    for unit in ("item", "block"):
        found = registered(unit=unit, block=20)
        rule = SequentialRule(found.gates[0], found, 800)
        rates[unit] = rule.weigh("bursts", 0.10, 1000).chances.passes

    assert rates["item"] > 0.4
    assert rates["block"] <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 1000)


def test_a_block_of_lost_replies_is_flips_for_a_pass_and_nothing_for_a_fail():
    strict, lenient, ends = unit_values([True, False, None, None, None, False], codes := np.array(
        [0, 0, 1, 1, 2, 2]
    ))  # fmt: skip

    assert strict.tolist() == [0.5, 1.0, 0.5]
    assert lenient[[0, 2]].tolist() == [0.5, 0.0]
    assert np.isnan(lenient[1])
    assert ends.tolist() == [2, 4, 6]
    assert len(codes) == 6


def test_units_come_in_the_order_of_asking():
    rows = table([0, 0, 0, 0], 2, 1)

    assert unit_codes(rows, "block").tolist() == [0, 0, 1, 1]
    assert unit_codes(rows, "task").tolist() == [0, 1, 2, 3]


def test_a_block_of_tasks_holds_them_whole():
    items = [Item(f"q{n}", f"q{n}", f"t{n % 5}", {}) for n in range(20)]

    blocks = [block_of_tasks(items, 2, index, 3) for index in (1, 2, 3)]

    assert [len(block) for block in blocks] == [8, 8, 4]
    assert len({item.task for block in blocks for item in block}) == 5
    assert [len({item.task for item in block}) for block in blocks] == [2, 2, 1]


def test_fewer_than_29_blocks_are_refused_at_check(tmp_path):
    root = study(tmp_path, items=140, block=5, windows=28)

    found = call("prereg", "check", root)

    assert found.exit_code == 1
    assert "can never pass" in found.output
    assert "29 blocks without a flip can pass" in found.output


def test_items_in_tasks_are_no_units_of_items_like_these(tmp_path):
    """Issue 13: such a gate passed .06 to .20 of judges at the threshold."""
    root = study(tmp_path, items=160, per_task=4, unit="item", block=20, windows=8)

    found = call("prereg", "check", root)

    assert found.exit_code == 1
    assert "160 items stand in 40 tasks" in found.output
    assert 'unit.target = "these probes"' in found.output


def test_these_probes_or_tasks_as_units_are_accepted(tmp_path):
    probes = study(tmp_path, items=160, per_task=4, unit="item", block=20, windows=8,
                   target='[unit]\ntarget = "these probes"')  # fmt: skip
    assert call("prereg", "check", probes).exit_code == 0
    (tmp_path / "other").mkdir()
    tasks = study(tmp_path / "other", items=160, per_task=4, unit="task", block=10, windows=4)
    assert call("prereg", "check", tasks).exit_code == 0


def test_a_last_block_that_is_smaller_is_refused(tmp_path):
    root = study(tmp_path, items=153, block=5, windows=31)

    found = call("prereg", "check", root)

    assert "the last block counts as much and is smaller" in found.output


def test_looks_at_an_order_have_items_as_units():
    [problem] = sequential_problems(registered(unit="block", design="spearman_looks", block=20))

    assert problem.key == "sequential.unit"


def test_the_verdict_says_what_its_error_does_not_cover():
    item, block = registered(unit="item", block=20), registered(unit="block", block=2)
    run = table(np.zeros(100), 2, 1)
    said = {
        name: verdicts_of(progress(found, run, 100), False)[0].does_not_say
        for name, found in (("item", item), ("block", block))
    }

    assert any("does not come in bursts" in text for text in said["item"])
    assert not any("bursts" in text for text in said["block"])
    assert all(any("time slots that were asked" in t for t in texts) for texts in said.values())


def test_a_stable_judge_passes_after_29_blocks_by_every_command(tmp_path, monkeypatch):
    """Blocks of two items: 29 blocks, 58 items, 116 calls; then the rule stops."""
    for name in ("GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY", "GITHUB_SHA"):
        monkeypatch.delenv(name, raising=False)
    root = study(tmp_path, items=80, block=2, windows=40)
    assert call("prereg", "freeze", root).exit_code == 0

    found = call("gate", root, "--run-key", "k", "--json")

    assert found.exit_code == 0, found.output
    [gate] = json.loads(found.stdout)["gates"]
    estimate = gate["held"][0]["estimate"]
    assert estimate["n"] == {"blocks": 29, "items": 58}
    assert estimate["high"] <= 0.10
