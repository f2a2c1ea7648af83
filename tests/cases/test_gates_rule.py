"""The rule that decides is the rule that is weighed: the G cases of oc, pilot, check and CI."""

import json
import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from judgeaudit.analysis.catalogue import NAMES
from judgeaudit.cli import app, commands
from judgeaudit.design.base import read_toml
from judgeaudit.design.check.ranges import reachable
from judgeaudit.design.criteria import Gate
from judgeaudit.design.document import Registration
from judgeaudit.readings.table import checked
from judgeaudit.stats.interval import Interval
from judgeaudit.stats.operating import capable, pilot_size
from judgeaudit.verdict import evaluate
from judgeaudit.verdict.baseline import compare
from judgeaudit.verdict.oc.sequential import SequentialRule, simulate
from judgeaudit.verdict.oc.worlds import Where, flips, latent, level_spearman
from judgeaudit.verdict.stopping import progress

commands.register(app)

WITHIN = """
[sequential]
design = "flip_within"
[[gates]]
id = "flips"
statistic = "flip_rate"
over = "same_window"
at_most = 0.10
healthy = { value = 0.05 }
degraded = { value = 0.20 }
"""
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
BLOCKS = "repeats = 2\nblock = 20\nwindows_per_day = 8"


@pytest.fixture(autouse=True)
def _not_in_actions(monkeypatch):
    for name in ("GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY", "GITHUB_SHA"):
        monkeypatch.delenv(name, raising=False)


def call(*arguments):
    return CliRunner().invoke(app, [*map(str, arguments)])


def draft(tmp_path, text, items=160):
    """A study of sums on disk that is not frozen."""
    root = tmp_path / "study"
    root.mkdir()
    (root / "registration.toml").write_text(text)
    (root / "protocol.toml").write_text(VERDICT)
    rows = [
        {"id": f"q{n}", "group": f"q{n}", "task": f"q{n}", "fields": {"sum": f"{n} + {n}"}}
        for n in range(items)
    ]
    (root / "items.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return root


def registered(text):
    return Registration.model_validate(read_toml("registration.toml", text.encode()))


def as_table(flips):
    rows = [
        {"endpoint": "judge", "item": f"q{n}", "repeat": k, "status": "ok",
         "category": "pass" if k and flip else "fail"}
        for n, flip in enumerate(flips)
        for k in range(2)
    ]  # fmt: skip
    return checked(pd.DataFrame(rows))


def test_what_is_weighed_is_what_is_executed(text):
    """case G2: on the same 30 simulated runs the weighed and the executed rule agree exactly."""
    found = registered(text(schedule=BLOCKS, gates=WITHIN))
    rule = SequentialRule(found.gates[0], found, 60)
    rng = np.random.default_rng(1)
    where = Where(60, 20)
    drawn = np.concatenate([flips(name, rng, 10, where, 0.2) for name in ("even", "bursts")])
    stops = rule.stops(drawn)

    executed = [progress(found, as_table(run), 60)[0] for run in drawn]

    codes = {"pass": 1, "fail": -1, "inconclusive": 0}
    assert [codes[one.outcome.value] for one in executed] == stops.outcome.tolist()
    assert [one.items for one in executed] == stops.items.tolist()


def test_the_gate_of_the_ci_page_passes_a_healthy_judge_in_46_of_100_commits(text):
    """case G2: healthy .05 at .10 with 160 items; .457 when executed, oc used to say .72."""
    found = registered(text(schedule=BLOCKS, gates=WITHIN))
    rule = SequentialRule(found.gates[0], found, 160)

    healthy = simulate(rule, "even", 0.05, 1).chances

    assert healthy.passes == pytest.approx(0.457, abs=0.03)
    assert simulate(rule, "bursts", 0.10, 1).chances.passes > 0.4  # no bound holds for bursts
    assert simulate(rule, "even", 0.10, 1).chances.passes <= 0.05


def test_oc_names_the_instruments_that_a_sequential_gate_does_not_hold_for(text, tmp_path):
    """case G2: `prereg oc` weighs the stop rule and says what bursts do to it."""
    root = draft(tmp_path, text(schedule=BLOCKS, gates=WITHIN))

    found = call("prereg", "oc", root)
    document = json.loads(call("prereg", "oc", root, "--json").stdout)["gates"][0]

    assert found.exit_code == 1, found.output
    assert document["healthy"]["chances"]["passes"] == pytest.approx(0.457, abs=0.03)
    assert "bursts" in document["instruments"]["threshold"][2]["instrument"]
    assert "this gate holds for an even instrument only: " in found.stdout
    assert "items instead of 160, in blocks of 20" in " ".join(document["proposals"])


def test_levels_have_the_rank_correlation_that_is_asked_for(rng):
    """The latent normal correlation of five levels, against scipy's ranks of 200,000 items."""
    from scipy.stats import spearmanr

    r = latent(0.9)
    common = rng.normal(size=(200_000, 1)) * np.sqrt(r)
    scores = common + rng.normal(size=(200_000, 2)) * np.sqrt(1 - r)
    levels = np.searchsorted((-2.0, -1.5, -0.9, -0.1), scores)

    assert level_spearman(r) == pytest.approx(0.9, abs=1e-6)
    assert spearmanr(levels[:, 0], levels[:, 1]).statistic == pytest.approx(0.9, abs=0.005)


@pytest.mark.parametrize(
    ("interval", "told"),
    [((0.0, 0.045), None), ((0.0, 0.039), True), ((0.04, 0.2), False), ((0.01, 0.2), None)],
)
def test_a_pilot_too_small_to_tell_is_a_third_answer(interval, told):
    """case G8: 0 of 50 leaves 1 - .1^(1/50) = .045, above degraded .04; 57 items would tell."""
    found = capable(Interval(*interval, 0.8, "x"), 0.04, higher_is_better=False)

    assert found is told
    assert pilot_size(0.0, 0.04) == 57  # the first n with .96^n <= .1


def test_a_sequential_study_can_be_piloted(text, tmp_path, served, by_item):
    """case G1: the study of docs/ci.md; its pilot is no sequential study."""
    root = draft(
        tmp_path,
        text(served(by_item), schedule=BLOCKS.replace("= 8", "= 3"), gates=WITHIN),
        items=60,
    )

    found = call("pilot", root, "--items", "40")

    assert found.exit_code == 0, found.output
    assert (root / "pilot" / "results" / "pilot.json").is_file()


@pytest.mark.parametrize("name", [n for n, s in NAMES.items() if s.gate])
def test_a_gate_outside_its_statistics_range_decides_nothing(name):
    """case R1: every gateable statistic, above and below its range, by at most, at least, band."""
    low, high = NAMES[name].bounds

    def asks(**threshold):
        return reachable(Gate(id="g", statistic=name, decide="point", **threshold), (low, high))

    if np.isfinite(high):
        assert asks(at_most=str(high + 0.5)) == (True, False)
        assert asks(at_least=str(high + 0.5)) == (False, True)
        assert asks(band=(str(high + 1), str(high + 2))) == (False, True)
    if np.isfinite(low):
        assert asks(at_least=str(low - 0.5)) == (True, False)
        assert asks(at_most=str(low - 0.5)) == (False, True)
    if np.isfinite(low) and np.isfinite(high):
        assert asks(band=(str(low - 1), str(high + 1))) == (True, False)


@pytest.mark.parametrize(
    ("threshold", "decide", "expected"),
    [
        ({"at_most": "0"}, "bound", (False, True)),
        ({"at_most": "0"}, "point", (True, True)),
        ({"at_least": "1"}, "bound", (False, True)),
        ({"at_least": "1"}, "point", (True, True)),
        ({"at_most": "1"}, "bound", (True, False)),
        ({"band": ("0", "1")}, "bound", (True, False)),
        ({"band": ("0", "0.5")}, "bound", (True, True)),
    ],
)
def test_an_end_of_the_range_is_met_by_the_point_alone(threshold, decide, expected):
    """case R1: a share lies in [0, 1]; its bound never reaches an end."""
    gate = Gate(id="g", statistic="flip_rate", decide=decide, **threshold)

    assert reachable(gate, (0.0, 1.0)) == expected


def test_check_refuses_a_threshold_that_no_value_misses(text, tmp_path):
    """case R1: `flip_rate` at most 1.5 can never fail."""
    gates = WITHIN.split("healthy")[0].split("[[gates]]")[1].replace("0.10", "1.5")
    root = draft(tmp_path, text(gates="[[gates]]" + gates), items=20)

    found = call("prereg", "check", root)

    assert found.exit_code == 1
    assert "can never fail: flip_rate lies between 0 and 1" in found.stdout


def test_readings_that_are_missing_because_of_what_they_say_pass_no_gate(text):
    """case G12: true flips .10 at most .10; flipping items lose a reading half the time.

    1,000 fixed gates of 200 items would pass with .16 by the worst point; by the worst bound at
    most .05 and three errors of 120 simulated gates.
    """
    gates = "[[gates]]" + WITHIN.split("healthy")[0].split("[[gates]]")[1]
    found = registered(text(gates=gates))
    rng, passed = np.random.default_rng(5), 0
    for _ in range(120):
        table = as_table(rng.random(200) < 0.10)
        unlike = table.groupby("item")["category"].transform("nunique").eq(2)
        lost = unlike & table["repeat"].eq(1) & table["item"].map(
            dict(zip(table["item"].unique(), rng.random(200) < 0.5, strict=True))
        )  # fmt: skip
        table.loc[lost, ["status", "reason", "category"]] = ["invalid", "unparsed", None]
        passed += evaluate(found, table).verdicts[0].outcome.value == "pass"

    assert passed / 120 <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 120)


def anchors(items, body, repeats=2):
    rows = [
        {"endpoint": "judge", "item": f"q{n}", "repeat": k, "status": "ok",
         "category": "pass" if n % 2 else "fail", "body_sha256": f"{body(n)}{n}"}
        for n in range(items)
        for k in range(repeats)
    ]  # fmt: skip
    return checked(pd.DataFrame(rows))


def test_two_anchors_of_sixty_show_nothing(text):
    """case G9: 58 of 60 items reworded; two anchors leave 1 - .05^(1/2) = 77.6 % open."""
    before = anchors(60, lambda n: "b")
    now = anchors(60, lambda n: "b" if n < 2 else "new")

    found = compare(now, before, 0.05)

    assert found["outcome"] == "inconclusive"
    assert "77.6%" in found["says"]
    assert compare(before, before, 0.05)["outcome"] == "pass"  # 60 anchors leave 4.9 %


def test_without_a_key_the_gate_says_so_and_leaves_no_old_report(text, frozen, tmp_path):
    """case G11: a fork has no secret: exit 3, a report, and the green file of yesterday is gone."""
    root = frozen(text("http://127.0.0.1:9", endpoint='key_env = "NO_SUCH_KEY_HERE"'))
    file = tmp_path / "gate.xml"
    file.write_text("<green/>")

    found = call("gate", root, "--junit", file)

    assert found.exit_code == 3, found.output
    assert "barred (no_key)" in found.stdout
    assert "NO_SUCH_KEY_HERE" in file.read_text()


@pytest.mark.skipif(os.name != "posix", reason="asks a shell for a pipe")
def test_the_exit_code_does_not_hang_on_who_reads(text, frozen, served):
    """case G5: a failing gate into a reader that left fails the pipe."""
    root = frozen(text(served(lambda _, n: "pass" if n // 3 % 2 else "fail")))
    assert call("gate", root).exit_code == 1
    line = f"{sys.executable} -m judgeaudit gate {root} --read-only | sleep 0"

    found = subprocess.run(["bash", "-eo", "pipefail", "-c", line], capture_output=True)

    assert found.returncode == 1, found.stderr


def test_power_of_a_sequential_gate_is_simulated_and_one_search_serves_oc_too(tmp_path, text):
    """Executed with 160 items: .46 at .05; the cap for .9 is the one that oc proposes."""
    root = draft(tmp_path, text(schedule=BLOCKS, gates=WITHIN))

    power = call("prereg", "power", root, "--json")
    weighed = call("prereg", "oc", root, "--json")

    assert power.exit_code == 0, power.output
    [row] = json.loads(power.stdout)["gates"]
    assert row["power"] == pytest.approx(0.457, abs=0.03)
    assert "simulated" in row["method"]
    cap = row["needed"]["0.9"]["units"]
    [gate] = json.loads(weighed.stdout)["gates"]
    assert any(f"a cap of {cap} items" in told.replace(",", "") for told in gate["proposals"])


def test_power_and_oc_ask_one_number_for_a_fixed_gate(tmp_path, text):
    """.05 at .10 by the bound, degraded .20 asks nothing more: both say the same size."""
    gates = WITHIN.split("[[gates]]")[1]
    root = draft(tmp_path, text(schedule="repeats = 2", gates="[[gates]]" + gates), items=100)

    power = call("prereg", "power", root, "--json")
    weighed = call("prereg", "oc", root, "--json")

    [row] = json.loads(power.stdout)["gates"]
    [gate] = json.loads(weighed.stdout)["gates"]
    units = row["needed"]["0.9"]["units"]
    assert units == 263  # the exact binomial, at this size and at 2, 5 and 10 % more
    assert any(told.startswith(f"{units} independent units") for told in gate["proposals"])
    names = [cell["instrument"] for cell in gate["instruments"]["healthy"]]
    assert names == ["even", "few items", "bursts", "by run"]


def test_the_even_cell_is_the_headline_within_its_error(tmp_path, text):
    """Chances of oc's table and of the simulated even instrument: within .03 plus 3 errors."""
    gates = WITHIN.split("[[gates]]")[1]
    root = draft(tmp_path, text(schedule="repeats = 2", gates="[[gates]]" + gates), items=100)

    [gate] = json.loads(call("prereg", "oc", root, "--json").stdout)["gates"]

    for name in ("healthy", "degraded"):
        chances, cell = gate[name]["chances"], gate["instruments"][name][0]
        for ours, theirs in (("pass", "passes"), ("fail", "fails")):
            assert cell[ours] == pytest.approx(chances[theirs], abs=0.03 + 3 * 0.011)
