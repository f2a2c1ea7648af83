"""`judgeaudit gate`: exit codes and streams; without evidence it is never green."""

import json
from xml.etree import ElementTree

import pandas as pd
import pytest
from typer.testing import CliRunner

from judgeaudit.cli import app, commands

commands.register(app)

VIRTUAL = 'repeats = 2\nclock = "virtual"'
"""On the virtual clock the simulated judge's noise is the same in every run."""


def gate(*arguments):
    return CliRunner().invoke(app, ["gate", *map(str, arguments)])


def both(*arguments):
    """Exit code and document of a gate; the same code without `--json`, which reads again."""
    told, plain = gate(*arguments, "--json"), gate(*arguments)
    assert told.exit_code == plain.exit_code, plain.output
    return told.exit_code, json.loads(told.stdout)


def kinds(document):
    return {bar["kind"] for bar in document["bars"]}


@pytest.fixture(autouse=True)
def _not_in_actions(monkeypatch):
    for name in ("GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY", "GITHUB_SHA"):
        monkeypatch.delenv(name, raising=False)


def test_a_judge_that_repeats_itself_passes_and_is_read_again(frozen, text, served, by_item):
    """0 flips of 20: the one-sided 95 % bound is 1 - .05^(1/20) = .139, below .20."""
    root = frozen(text(served(by_item)))

    code, document = both(root)

    assert code == 0
    assert document["outcome"] == "pass"
    assert document["gates"][0]["held"][0]["estimate"]["high"] == pytest.approx(0.1391, abs=1e-4)
    assert document["bars"] == []


def test_a_judge_that_flips_fails(frozen, text, served):
    """Answers change with every request, so both of an item's differ in about half the items."""
    root = frozen(text(served(lambda _, n: "pass" if n // 3 % 2 else "fail")))

    assert both(root)[0] == 1


def test_an_interval_across_the_threshold_is_3(frozen, text, served, by_item):
    """0 flips of 5: the bound is 1 - .05^(1/5) = .451, above .20."""
    root = frozen(text(served(by_item)), items=5)

    code, document = both(root)

    assert (code, document["outcome"]) == (3, "inconclusive")


@pytest.mark.parametrize("scenario", ["auth", "badrequest", "html", "quota", "hang"])
def test_a_judge_that_raises_or_hangs_on_every_call_is_never_green(frozen, text, scenario):
    root = frozen(text(f"embedded:{scenario}"), items=4)

    code, document = both(root)

    assert code == 3
    assert document["outcome"] == "undefined"
    assert kinds(document) & {"paused", "no_reading"}


def test_a_judge_that_answers_nan_on_every_call_is_never_green(frozen, text, served, scores):
    registered = text(served(lambda *_: "NaN"), gates=scores.gate, claim="score")
    root = frozen(registered, protocol=scores.protocol)

    code, document = both(root)

    assert code == 3
    assert kinds(document) == {"no_reading"}
    assert "unparsed" in document["bars"][0]["says"]


def test_a_judge_that_answers_constantly_is_never_green(frozen, text, served):
    """Its flip rate of 0 would pass: a constant repeats itself and measures nothing."""
    root = frozen(text(served(lambda *_: "pass")))

    code, document = both(root)

    assert code == 3
    assert document["gates"][0]["outcome"] == "undefined"
    assert kinds(document) == {"one_answer"}


def test_a_judge_that_answers_another_models_name_is_never_green(frozen, text, served, by_item):
    root = frozen(text(served(lambda data, n: (by_item(data, n), "judge-2"))))

    code, document = both(root)

    assert code == 3
    assert kinds(document) == {"other_model"}
    assert "'judge-2', registered is 'judge-1'" in document["bars"][0]["says"]


@pytest.mark.parametrize("model", ["judge-1-2026-03-01", "router/judge-1"])
def test_a_dated_snapshot_and_a_listed_name_are_the_registered_model(
    frozen, text, served, by_item, model
):
    url = served(lambda data, n: (by_item(data, n), model))
    root = frozen(text(url, endpoint='identity = { served = ["router/judge-1"] }'))

    assert gate(root).exit_code == 0


def test_two_models_behind_one_name_are_no_evidence_of_either(frozen, text, served, by_item):
    url = served(lambda data, n: (by_item(data, n), f"judge-1-2026-03-0{1 + n % 2}"))
    root = frozen(text(url))

    code, document = both(root)

    assert (code, kinds(document)) == (3, {"several_models"})


def test_one_repeat_only_is_undefined(frozen, text, served, by_item):
    """The registration is sound for `check` only with a pair; a table may still hold one repeat."""
    root = frozen(text(served(by_item)))
    table = root.parent / "one.csv"
    rows = [
        {"item": f"q{n}", "repeat": 0, "verdict": "pass" if n % 2 else "fail"} for n in range(9)
    ]
    pd.DataFrame(rows).to_csv(table, index=False)

    code, document = both(table, "--registration", root)

    assert (code, document["outcome"]) == (3, "undefined")


def test_too_many_invalid_replies_are_inconclusive(frozen, text, served, by_item):
    """6 of 30 requests cannot be read; what is missing could take the share across .20."""
    url = served(lambda data, n: by_item(data, n) if n % 5 else "well, perhaps")
    root = frozen(text(url), items=30)

    code, document = both(root)

    assert (code, document["outcome"]) == (3, "inconclusive")


def test_no_gate_is_no_pass(frozen, text, served, by_item):
    root = frozen(text(served(by_item), gates=""))

    code, document = both(root)

    assert (code, kinds(document)) == (3, {"no_criterion"})


def test_read_only_asks_nothing_and_decides_nothing_without_data(frozen, text):
    root = frozen(text("embedded:stable"))

    code, document = both(root, "--read-only")

    assert (code, kinds(document)) == (3, {"no_reading"})
    assert not (root / "log").exists()


def test_a_window_that_is_due_later_is_3_with_the_earliest_time(frozen, text):
    schedule = 'repeats = 2\ndays = 2\nday_gap = "24h"'
    root = frozen(text("embedded:stable", schedule=schedule), items=4)

    found = gate(root, "--json")

    assert found.exit_code == 3
    assert "earliest" in json.loads(found.stdout)


def test_a_sealed_log_of_another_registration_is_no_evidence(frozen, text):
    first, second = frozen(), frozen(text(schedule="repeats = 2\nchunk = 5"), name="other")
    assert gate(first).exit_code == 0
    (first / "log").rename(second / "log")

    code, document = both(second, "--read-only")

    assert (code, kinds(document)) == (3, {"other_registration"})


def test_bad_input_is_one_line_and_2(tmp_path, frozen):
    for arguments in (
        [tmp_path / "missing"],
        [frozen(), "--registration", "x"],
        [tmp_path / "missing.csv", "--registration", frozen(name="other")],
    ):
        found = gate(*arguments)

        assert found.exit_code == 2
        assert found.stdout == ""
        assert len(found.stderr.splitlines()) == 1


def test_a_crash_is_no_verdict(frozen, monkeypatch):
    from judgeaudit.study import gate as room

    monkeypatch.setattr(room, "gate", lambda *_, **__: 1 / 0)

    assert gate(frozen()).exit_code == 70


def rows(flipping=0, items=20):
    return [
        {"item": f"q{n}", "repeat": k, "verdict": ["pass", "fail"][(n + (k and n < flipping)) % 2]}
        for n in range(items)
        for k in range(2)
    ]


@pytest.mark.parametrize(("flipping", "code"), [(0, 0), (3, 3), (14, 1)])
def test_a_table_is_held_against_a_registration(frozen, tmp_path, flipping, code):
    table = tmp_path / "answers.csv"
    pd.DataFrame(rows(flipping)).to_csv(table, index=False)

    assert both(table, "--registration", frozen())[0] == code


@pytest.mark.parametrize(
    "spoil",
    [
        lambda f: f.iloc[:0],
        lambda f: f.assign(verdict=None),
        lambda f: f.assign(verdict="pass"),
        lambda f: f[f["repeat"] == 0],
        lambda f: f.assign(model_returned="another"),
    ],
    ids=["no rows", "no answer", "one answer", "one repeat", "another model"],
)
def test_a_table_without_evidence_is_never_green(frozen, tmp_path, spoil):
    table = tmp_path / "answers.jsonl"
    spoil(pd.DataFrame(rows())).to_json(table, orient="records", lines=True)

    assert both(table, "--registration", frozen())[0] == 3


@pytest.mark.parametrize("content", ["", "item,repeat,verdict\n"], ids=["empty", "header alone"])
def test_a_file_without_a_row_is_no_evidence(frozen, tmp_path, content):
    table = tmp_path / "answers.csv"
    table.write_text(content)

    code, document = both(table, "--registration", frozen())

    assert (code, kinds(document)) == (3, {"no_reading"})


def test_sealed_readings_of_another_registration_are_refused_by_their_digest(frozen, text):
    ours, other = frozen(), frozen(text(schedule="repeats = 2\nchunk = 5"), name="other")
    assert gate(other).exit_code == 0
    readings = other / "log" / "sealed" / "d1w1" / "readings.parquet"

    assert both(readings, "--registration", other)[0] == 0
    code, document = both(readings, "--registration", ours)
    assert (code, kinds(document)) == (3, {"other_registration"})


def test_junit_is_read_by_a_parser_and_shows_every_outcome(frozen, text, served, tmp_path):
    url = served(lambda *_: ("pass", "judge-2"))
    file = tmp_path / "out" / "gate.xml"

    gate(frozen(text(url)), "--junit", file)

    suite = ElementTree.parse(file).getroot().find("testsuite")
    assert suite.attrib | {"time": ""} == {
        "name": "judgeaudit gate: small",
        "tests": "3",
        "failures": "0",
        "errors": "3",
        "skipped": "0",
        "time": "",
    }
    assert [case.get("name") for case in suite.iter("testcase")] == [
        "flips at judge",
        "evidence: one_answer at judge",
        "evidence: other_model at judge",
    ]


def test_in_actions_it_annotates_on_stderr_and_adds_to_the_summary(
    frozen, text, tmp_path, monkeypatch
):
    summary, comment = tmp_path / "summary.md", tmp_path / "comment.md"
    summary.write_text("before\n")
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    root = frozen(text("embedded:noisy:call.flip=0.5", schedule=VIRTUAL), items=60)

    found = gate(root, "--markdown", comment, "--json")

    assert found.exit_code == 1
    assert json.loads(found.stdout)["outcome"] == "fail"
    assert "::error title=judge gate flips::FAIL at judge" in found.stderr
    assert summary.read_text().startswith("before\n<!-- judgeaudit gate -->")
    assert "| flips at judge | ❌ fail |" in comment.read_text()


def test_the_file_of_a_frozen_study_stands_for_what_was_frozen(frozen, tmp_path):
    """A threshold edited after the freeze decides nothing, by folder or by file."""
    root = frozen()
    path = root / "registration.toml"
    table = tmp_path / "answers.jsonl"
    pd.DataFrame(rows()).to_json(table, orient="records", lines=True)
    assert both(table, "--registration", path)[0] == both(table, "--registration", root)[0]

    path.chmod(0o644)
    path.write_text(path.read_text() + "\n# edited\n")

    assert gate(table, "--registration", path).exit_code == 2
