"""`judgeaudit monitor` and `gate --against` on sealed studies: codes, words, JSON."""

import json

import pytest
from typer.testing import CliRunner

from judgeaudit.cli import app, commands

commands.register(app)

DAYS = "repeats = 1\ndays = {days}\nclock = 'virtual'\nday_gap = '24h'"
WATCH = """
[watch]
alpha = {alpha}
reference = 1
calibration = {runs}
margin = 0.10
"""


def call(*arguments):
    return CliRunner().invoke(app, [*map(str, arguments)])


def study(frozen, text, url, runs=4, alpha=0.2, days=7, **more):
    registered = text(
        url, schedule=DAYS.format(days=days), gates=WATCH.format(alpha=alpha, runs=runs)
    )
    return frozen(registered, **more)


def test_a_judge_that_stays_is_quiet_and_the_promise_is_printed(frozen, text):
    """Four clean runs promise .2 a run, 73 false alarms a year."""
    root = study(frozen, text, "embedded:stable")
    assert call("run", root, "--all").exit_code == 0

    found = call("monitor", root)

    assert found.exit_code == 0, found.output
    assert "registered alpha 0.2, realised 0.200 a run" in found.stdout
    assert "73.0 false alarms a year" in found.stdout
    assert "2 of 2 watched runs are quiet" in found.stdout


def test_a_judge_that_moves_raises_an_alarm_with_its_delay(frozen, text, served, by_item):
    """Items q0 to q19, one window a day; on the sixth day every answer is the other one.

    A window is one preflight and 20 calls.
    """
    other = {"pass": "fail", "fail": "pass"}

    def answer(data, n):
        usual = by_item(data, n)
        return usual if n < 5 * (1 + 20) else other[usual]

    registered = text(
        served(answer),
        schedule="repeats = 1\ndays = 6\nday_gap = '1ms'",
        gates=WATCH.format(alpha=0.2, runs=4),
    )
    root = frozen(registered)
    assert call("run", root, "--all").exit_code == 0

    found = call("monitor", root, "--json")

    document = json.loads(found.stdout)
    assert found.exit_code == 1
    assert document["endpoints"][0]["first_alarm_after_runs"] == 1
    assert document["endpoints"][0]["runs"][0]["delay_items"] == 1
    assert document["endpoints"][0]["threshold"]["alarms_per_year"] == pytest.approx(73)


def test_before_calibration_is_complete_it_is_3(frozen, text):
    root = study(frozen, text, "embedded:stable")
    assert call("run", root).exit_code == 0

    found = call("monitor", root)

    assert found.exit_code == 3
    assert "1 of 5 reference and calibration runs are sealed" in found.stdout


def test_an_alpha_that_the_runs_cannot_promise_is_2_in_one_line(frozen, text):
    root = study(frozen, text, "embedded:stable", alpha=0.1)

    found = call("monitor", root)

    assert found.exit_code == 2
    [line] = found.stderr.splitlines()
    assert "0.1 is below 1/(4 + 1); calibrate on >= 9 runs" in line


def test_a_study_without_a_watch_is_2(frozen):
    assert call("monitor", frozen()).exit_code == 2


GATED = """
[watch]
margin = 0.10
[[gates]]
id = "flips"
statistic = "flip_rate"
over = "same_window"
at_most = 0.20
"""


@pytest.mark.parametrize(("model", "code"), [("judge-1", 0), ("judge-2", 3)])
def test_against_a_sealed_baseline_on_the_same_anchors(frozen, text, model, code):
    """Endpoint ids and bodies are equal, so every request is an anchor.

    The same judge again has an excess of 0, below the margin .10 at 60 anchors. Another model's
    name is other bytes: no anchor is left, and it cannot be told.
    """
    before = frozen(text("embedded:stable", gates=GATED), items=60, name="before")
    assert call("run", before, "--all").exit_code == 0
    registered = text("embedded:stable", gates=GATED).replace('"judge-1"', f'"{model}"')
    after = frozen(registered, items=60, name="after")

    found = call("gate", after, "--against", before, "--json")

    document = json.loads(found.stdout)
    assert found.exit_code == code, found.output
    assert document["against"]["anchors"] == (60 if code == 0 else 0)
    assert document["against"]["items"]["changed"] == (0 if code == 0 else 60)
