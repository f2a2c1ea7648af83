"""From a requirement to a freeze, through the commands: pilot, prereg oc, power and freeze.

The judge is simulated and flips each verdict with chance .01, so that two readings differ with
.02; the requirement is .10 and the gate of 264 items discriminates (see benchmarks/pilot_rule.py).
"""

import json
import re

import pytest
import typer
from typer.testing import CliRunner

from judgeaudit.canonical import file_digest
from judgeaudit.cli import commands

REGISTRATION = """
[study]
id = "flips"
title = "Do verdicts repeat?"
authors = ["a test"]
claim = "verdict"

[study.consumer]
decision = "pass_fail_filter"
tolerated = 0.10

[battery]
file = "items.jsonl"

[[endpoints]]
id = "judge"
api = "openai.chat"
base_url = "embedded:noisy:call.flip={flip}"
model = "simulated-judge"
prices = {{ prompt = 1.0, completion = 4.0 }}

[schedule]
seed = 3
repeats = 2
cap = 2000
clock = "virtual"

[unit]
cluster = "item"

[[gates]]
id = "flips"
statistic = "flip_rate"
at_most = 0.10
{instruments}
"""
pytestmark = pytest.mark.slow
INSTRUMENTS = "healthy = { value = 0.05 }\ndegraded = { value = 0.10 }"


@pytest.fixture(scope="module")
def app():
    made = typer.Typer()
    commands.register(made)
    return made


@pytest.fixture
def run(app):
    def _run(*arguments):
        return CliRunner().invoke(app, [str(argument) for argument in arguments])

    return _run


@pytest.fixture
def study(tmp_path, run):
    """Return a function that writes a study of `n` items with one gate."""

    def _study(n=270, flip=0.01, instruments=INSTRUMENTS, also=""):
        root = tmp_path / "study"
        assert run("init", root, "--protocol", "verdict", "--n", n).exit_code == 0
        (root / "controls.jsonl").unlink(missing_ok=True)
        text = REGISTRATION.format(flip=flip, instruments=instruments) + also
        (root / "registration.toml").write_text(text)
        return root

    return _study


def name_pilot(root):
    digest = file_digest(root / "pilot" / "results" / "pilot.json")
    with (root / "registration.toml").open("a") as file:
        file.write(f'\n[pilot]\ndigest = "{digest}"\n')
    return digest


def test_no_pilot_no_confirmatory_gate(study, run):
    root = study()
    checked, frozen, weighed = (run("prereg", name, root) for name in ("check", "freeze", "oc"))

    assert (checked.exit_code, frozen.exit_code, weighed.exit_code) == (1, 2, 3)
    assert "problem: pilot: missing" in checked.stdout
    assert "error:" in frozen.stderr
    assert "`judgeaudit pilot` makes one" in frozen.stderr
    assert not (root / "frozen").exists()


def test_a_pilot_opens_the_gate_and_is_no_part_of_the_study(study, run):
    root = study()
    piloted = run("pilot", root, "--items", 60)
    digest = name_pilot(root)
    weighed = run("prereg", "oc", root, "--draws", 20, "--json")
    frozen = run("prereg", "freeze", root)
    run("run", root, "--all")
    analysed = json.loads(run("analyze", root, "--json").stdout)

    assert piloted.exit_code == 0, piloted.stderr
    assert "60 items, 2 windows on 1 day" in piloted.stdout
    assert f'digest = "{digest}"' in piloted.stdout
    gate = json.loads(weighed.stdout)["gates"][0]
    assert weighed.exit_code == 0
    assert gate["capable"] is gate["discriminates"] is True
    assert gate["healthy"]["chances"]["passes"] >= 0.9
    assert frozen.exit_code == 0, frozen.stderr
    assert (root / "frozen" / "pilot.json").read_bytes() == (
        root / "pilot" / "results" / "pilot.json"
    ).read_bytes()
    (verdict,) = analysed["gates"]
    assert verdict["outcome"] == "pass"
    assert verdict["confirmatory"] is True
    assert verdict["held"][0]["estimate"]["n"]["observations"] == 1080  # 270 x 2 orders x 2


def test_a_pilot_asked_for_again_asks_nothing_and_gives_the_same_bytes(study, run):
    root = study(n=60)
    run("pilot", root, "--items", 20)
    path = root / "pilot" / "results" / "pilot.json"
    first = path.read_bytes()
    again = run("pilot", root, "--items", 20)

    assert again.exit_code == 0
    assert path.read_bytes() == first
    assert json.loads(first)["share_of_plan"] == 1.0  # 20 x 2 orders x 2 windows x 3 of 60 x 2 x 2


def test_an_incapable_judge_is_refused_and_told_what_else_to_do(study, run):
    root = study(flip=0.1)
    run("pilot", root, "--items", 60)
    name_pilot(root)
    frozen, weighed = run("prereg", "freeze", root), run("prereg", "oc", root, "--draws", 20)

    assert frozen.exit_code == 2
    assert "is not capable (better than degraded 0.10 is asked)" in frozen.stderr
    assert "the threshold is the requirement's and stays" in frozen.stderr
    assert weighed.exit_code == 1
    assert "NOT capable" in weighed.stdout


def test_an_edited_pilot_is_refused(study, run):
    root = study(n=60)
    run("pilot", root, "--items", 20)
    name_pilot(root)
    path = root / "pilot" / "results" / "pilot.json"
    path.write_text(path.read_text().replace('"calls": 240', '"calls": 24'))
    frozen = run("prereg", "freeze", root)

    assert frozen.exit_code == 2
    assert re.search(r"pilot\.digest: sha256:\w+, but pilot/results/pilot\.json has", frozen.stderr)


def test_the_age_of_a_pilot_is_that_of_its_sealed_log(study, run):
    """A time written into its results, with a digest that fits, is not what its age counts from."""
    root = study(n=60)
    run("pilot", root, "--items", 20)
    path = root / "pilot" / "results" / "pilot.json"
    told = json.loads(path.read_text())
    path.write_text(json.dumps(told | {"finished_at": "2020-01-01T00:00:00+00:00"}))
    name_pilot(root)

    frozen = run("prereg", "freeze", root)

    assert "days old" not in frozen.stderr


def test_another_battery_is_not_the_piloted_one(study, run):
    root = study()
    run("pilot", root, "--items", 60)
    name_pilot(root)
    path = root / "items.jsonl"
    path.write_text(path.read_text().replace("exactly", "precisely"))

    frozen = run("prereg", "freeze", root)

    assert frozen.exit_code == 2
    assert "60 piloted items are not in it as they were asked" in frozen.stderr


def test_another_model_is_not_the_piloted_one(study, run):
    root = study()
    run("pilot", root, "--items", 60)
    name_pilot(root)
    path = root / "registration.toml"
    path.write_text(path.read_text().replace('model = "simulated-judge"', 'model = "other"'))
    frozen = run("prereg", "freeze", root)

    assert frozen.exit_code == 2
    assert "'other', but 'simulated-judge' was piloted" in frozen.stderr


def test_an_override_needs_a_reason_and_marks_the_verdict_for_life(study, run):
    root = study(n=40, also='\n[pilot]\noverride = "a demonstration"\n')
    frozen = run("prereg", "freeze", root)
    run("run", root, "--all")
    analysed = run("analyze", root)
    kept = json.loads((root / "results" / "verdicts.json").read_text())

    assert frozen.exit_code == 0, frozen.stderr
    assert "frozen by override: a demonstration" in analysed.stdout
    assert kept["gates"][0]["confirmatory"] is False
    assert kept["gates"][0]["marks"] == ["It was frozen by override: a demonstration"]


def test_an_empty_override_is_none(study, run):
    root = study(n=40, also='\n[pilot]\noverride = ""\n')

    assert run("prereg", "freeze", root).exit_code == 2


def test_a_gate_that_can_never_pass_is_refused_though_it_declares_nothing(study, run):
    """No flips in 10 items of 2 orders show a flip rate of at most 1 - .05^(1/20) = .139."""
    root = study(n=10, instruments="")
    frozen = run("prereg", "freeze", root)

    assert frozen.exit_code == 2
    assert "gate 'flips' can never pass with 10 independent units" in frozen.stderr


def test_a_gate_without_instruments_is_frozen_as_exploratory(study, run):
    root = study(n=40, instruments="")

    assert run("prereg", "check", root).exit_code == 0
    assert run("prereg", "oc", root, "--draws", 20).exit_code == 3
    assert run("prereg", "freeze", root).exit_code == 0


def test_power_names_the_items_for_80_and_90_percent(study, run):
    """Without a pilot a share counts one draw an item: 264 items pass .05 with .93, 208 with .8."""
    found = run("prereg", "power", study(n=60), "--json")
    (gate,) = json.loads(found.stdout)["gates"]

    assert found.exit_code == 0
    assert gate["power"] < 0.5
    assert 150 < gate["needed"]["0.8"]["units"] < gate["needed"]["0.9"]["units"] < 280
    assert "USD" in gate["needed"]["0.8"]["cost"]


@pytest.mark.parametrize("ending", ["svg", "png"])
def test_the_curve_is_drawn(study, run, tmp_path, ending):
    target = tmp_path / f"oc.{ending}"
    run("prereg", "oc", study(n=60), "--plot", target)

    assert target.read_bytes()[:5] in (b"<?xml", b"\x89PNG\r")
