"""What keeps a gate from passing is said with the verdict, by every door: the A cases of gates."""

import hashlib
import json
import random
from decimal import Decimal

import pandas as pd
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from judgeaudit.analysis.estimate import Estimate
from judgeaudit.cli import app, commands
from judgeaudit.design.criteria import Gate
from judgeaudit.design.document import Controls
from judgeaudit.readings.table import checked
from judgeaudit.verdict.blockers import _of_answers
from judgeaudit.verdict.constant import near_constant
from judgeaudit.verdict.known import control_faults

commands.register(app)

ROOMY = """
[[gates]]
id = "flips"
statistic = "flip_rate"
over = "same_window"
at_most = 0.30
"""


@pytest.fixture(autouse=True)
def _not_in_actions(monkeypatch):
    for name in ("GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY", "GITHUB_SHA"):
        monkeypatch.delenv(name, raising=False)


def call(*arguments):
    return CliRunner().invoke(app, [*map(str, arguments)])


def doors(root, out):
    """Return code and text of `gate`, and the outcome of the first gate by every door."""
    told = call("gate", root, "--read-only")
    document = json.loads(call("gate", root, "--read-only", "--json").stdout)
    by = {"gate": document["gates"][0]["outcome"]}
    analysed = call("analyze", root)
    assert "PASS" not in analysed.stdout + told.stdout
    by["analyze"] = json.loads(call("analyze", root, "--json").stdout)["gates"][0]["outcome"]
    stored = json.loads((root / "results" / "verdicts.json").read_text())
    by["verdicts.json"] = stored["gates"][0]["outcome"]
    found = call("export", root, "--to", "parquet", "--out", out)
    if found.exit_code:
        found = call("export", root, "--out", out)
    assert found.exit_code == 0, found.output
    rows = pq.read_table(next(out.rglob("verdicts.parquet"))).to_pylist()
    by["export"] = rows[0]["outcome"]
    readings = next(root.glob("log/sealed/*/readings.parquet"))
    return told, by, document, readings


def barred(root, out, kind):
    """Assert that every door says undefined and names `kind`; return the gate's text."""
    told, by, document, _ = doors(root, out)
    assert told.exit_code == 3
    assert set(by.values()) == {"undefined"}
    assert kind in document["gates"][0]["barred"]
    assert kind in told.stdout
    assert kind in call("analyze", root).stdout
    return told.stdout


def run(root):
    found = call("run", root, "--all")
    assert found.exit_code == 0, found.output
    return root


def cached(answer):
    """Keep the first reply of a body and give it again, byte for byte."""
    known = {}

    def reply(data, number):
        return known.setdefault(hashlib.sha256(data).digest(), answer(data, number))

    return reply


def test_a_coin_behind_a_cache_is_one_call_told_twice(frozen, text, served, chat, tmp_path):
    """case A9, case G3: 30 items asked twice, 30 repeats, each with the id and time of the first.

    The coin's flip rate is .5; behind the cache it reads 0 of 30 and would pass at .30.
    """
    coin = random.Random(1)
    answer = cached(lambda _, n: (chat(coin.choice(["pass", "fail"]), n), {"x-request-id": f"{n}"}))
    root = run(frozen(text(served(answer), gates=ROOMY), items=30))

    said = barred(root, tmp_path / "out", "one_call")

    assert "30 of 30 repeats are one call told again: equal request id" in said


@pytest.mark.parametrize(
    ("marks", "by"),
    [
        (lambda n: {"id": f"c-{n}", "created": 1_700_000_000 + n}, "reply id and time of making"),
        (lambda n: {"id": f"c-{n}"}, "reply id"),
    ],
)
def test_an_equal_reply_id_is_enough(frozen, text, served, chat, by_item, tmp_path, marks, by):
    """case A9: without a request id the reply's own id tells, with its time where it has one."""

    def answer(data, n):
        whole = chat(by_item(data, n), n)
        return {k: v for k, v in whole.items() if k not in ("id", "created")} | marks(n), {}

    root = run(frozen(text(served(cached(answer)), gates=ROOMY), items=30))

    assert f"equal {by}" in barred(root, tmp_path / "out", "one_call")


def test_a_cache_that_says_hit_is_believed(frozen, text, served, chat, by_item, tmp_path):
    """case A9: ids made anew by the proxy, and `x-cache: HIT` on the second reply of a body."""
    seen = set()

    def answer(data, n):
        hit = {"x-cache": "HIT from edge" if data in seen else "MISS"}
        seen.add(data)
        return chat(by_item(data, n), n), hit

    root = run(frozen(text(served(answer), gates=ROOMY), items=30))

    assert "'x-cache: HIT from edge' says" in barred(root, tmp_path / "out", "one_call")


def test_an_id_that_every_reply_has_is_no_id(frozen, text, served, chat, by_item):
    """A server that gives all replies one id says nothing by it: the honest judge passes."""
    url = served(lambda data, n: (chat(by_item(data, n), n) | {"id": "x", "created": 0}, {}))
    root = run(frozen(text(url, gates=ROOMY), items=30))

    assert call("gate", root).exit_code == 0


def test_replies_told_twice_do_not_bar_what_counts_no_repeats(frozen, text, served, chat):
    """case A9: agreement with gold does not count repeats as measurements of their own."""
    gold = """
[[gates]]
id = "right"
statistic = "gold_agreement"
over = "gold"
at_least = 0.3
"""
    url = served(cached(lambda data, n: (chat("pass" if b"2 + 2" in data else "fail", n), {})))
    found = text(url, gates=ROOMY + gold)
    root = frozen(found, items=30, gold=lambda n: "fail" if n else "pass")
    document = json.loads(call("gate", root, "--json").stdout)

    barred = {one["id"]: one["barred"] for one in document["gates"]}
    assert "one_call" in barred["flips"]
    assert barred["right"] == []


@pytest.mark.parametrize("column", ["request_id", "response_id", "completion_id"])
def test_a_table_with_call_ids_is_held_to_the_same(frozen, text, tmp_path, column):
    """case A9, the door `gate TABLE`: 30 items twice, each pair with one id of a call."""
    root = frozen(text("http://127.0.0.1:9", gates=ROOMY), items=30)
    rows = [
        {
            "item": f"q{n}",
            "repeat": k,
            "verdict": "pass" if n % 2 else "fail",
            column: f"r{n}",
        }
        for n in range(30)
        for k in range(2)
    ]
    table = tmp_path / "t.csv"
    pd.DataFrame(rows).to_csv(table, index=False)
    found = call("gate", table, "--registration", root)
    pd.DataFrame(rows).drop(columns=column).to_csv(table, index=False)

    assert found.exit_code == 3
    assert "one_call" in found.stdout
    assert "PASS" not in found.stdout
    assert call("gate", table, "--registration", root).exit_code == 0


def test_a_model_that_changes_in_the_middle_is_one_verdict(
    frozen, text, served, chat, by_item, tmp_path
):
    """case A10: the first half of the replies names judge-1, the second judge-1-2026-03-01."""
    names = ["judge-1", "judge-1-2026-03-01"]
    url = served(lambda data, n: (chat(by_item(data, n), n, names[n > 30]), {}))
    root = run(frozen(text(url, gates=ROOMY), items=30))

    barred(root, tmp_path / "out", "several_models")


def test_one_answer_to_everything_is_no_pass_by_any_door(frozen, text, served, scores, tmp_path):
    """case A11: a score study in which every reply is "3"."""
    root = frozen(
        text(served(lambda *_: "3"), gates=scores.gate, claim="score"), protocol=scores.protocol
    )

    barred(run(root), tmp_path / "out", "one_answer")


def test_next_to_one_answer_is_what_a_blind_judge_gives(frozen, text, served, tmp_path):
    """29 of 30 items pass: blind draws flip with chance 1 - (29/30)^2 - (1/30)^2 = .064 <= .30."""
    url = served(lambda data, _: "fail" if b"7 + 7" in data else "pass")
    root = run(frozen(text(url, gates=ROOMY), items=30))

    said = barred(root, tmp_path / "out", "near_constant")

    assert "flip_rate 0.064" in said


def test_a_failing_gate_fails_whatever_bars_it(frozen, text, served, chat):
    """Another model's name bars a pass; the judge that flips by chance fails all the same."""
    coin = random.Random(2)
    url = served(lambda _, n: (chat(coin.choice(["pass", "fail"]), n, "judge-2"), {}))
    strict = ROOMY.replace("0.30", "0.10")
    root = frozen(text(url, gates=strict), items=60)

    found = call("gate", root)

    assert found.exit_code == 1
    assert "barred (other_model)" in found.stdout


def control(hits, of, counted="readings right", value=0.5):
    scope = "control=gold, condition=default"
    n = {"hits": hits, "of": of}
    why = "no valid reading to count" if value is None else None
    said = {"counted": counted}
    return Estimate("controls", value, "judge", scope=scope, n=n, details=said, undefined=why)


@pytest.mark.parametrize(
    ("found", "allowed", "barred"),
    [
        (control(0, 3), {}, True),  # 3 of 3 wrong, .05 is allowed
        (control(19, 20), {}, False),  # 1 of 20 is .05
        (control(18, 20), {}, True),
        (control(18, 20), {"allowed_wrong": Decimal("0.10")}, False),
        (control(0, 9, "twins read alike"), {}, False),  # nothing is registered of twins
        (control(6, 9, "twins read alike"), {"allowed_unlike": Decimal("0.3")}, True),
        (control(0, 0, value=None), {}, True),
    ],
)
def test_a_known_answer_that_comes_out_wrong_bars(found, allowed, barred):
    """case G4: by hand, wrong readings of a gold control against the registered share."""
    told = list(control_faults([found], Controls(**allowed)))

    assert bool(told) is barred


@pytest.mark.parametrize(
    "statistic", ["flip_rate", "flip_rate_all_answers", "order_flip", "order_flip_all_answers"]
)
def test_the_most_frequent_answer_may_be_as_frequent_as_in_the_gold(statistic):
    """29 of 30 `pass` are near-constant, unless 29 of 30 gold answers are `pass` too.

    By hand: two blind readings differ with 2 x 29/30 x 1/30 = .0644, by every count of changes.
    """
    gate = Gate(id="g", statistic=statistic, at_most="0.30")
    rows = [
        {"item": f"q{n}", "repeat": k, "status": "ok", "category": "pass" if n else "fail"}
        for n in range(30)
        for k in range(2)
    ]
    valid = checked(pd.DataFrame(rows))

    assert f"{statistic} 0.064" in near_constant(valid, gate)
    assert near_constant(valid.assign(gold=valid["category"]), gate) is None


def test_a_constant_judge_is_not_hidden_by_a_gates_where():
    """Ten items of one group are all `A`, ten others are mixed: the gate is about the first."""
    gate = Gate(id="g", statistic="flip_rate", at_most="0.30", where={"group": "x"})
    wide = Gate(id="w", statistic="flip_rate", at_most="0.30")
    rows = [
        {"item": f"{group}{n}", "group": group, "repeat": k, "status": "ok", "category": said}
        for group in "xy"
        for n in range(10)
        for k in range(2)
        for said in ["A" if group == "x" else "AB"[n % 2]]
    ]
    found = list(_of_answers("judge", checked(pd.DataFrame(rows)), [gate, wide]))

    assert [(bar.kind, bar.gates) for bar in found] == [("one_answer", ("g",))]
