"""`judgeaudit analyze STUDY`: what a sealed study registered, and the files it leaves."""

import json

import pandas as pd
import pytest
from typer.testing import CliRunner

from judgeaudit.cli import app, commands

commands.register(app)

GATES = """
[[gates]]
id = "repeat"
statistic = "flip_rate"
over = "same_window"
at_most = 0.5
decide = "point"

[[rules]]
id = "named"
statistic = "gold_agreement"
over = "gold"
[[rules.bands]]
name = "above_chance"
above = 0.5
[[rules.bands]]
name = "at_or_below"
at_least = 0.0
"""


def run(*arguments):
    return CliRunner().invoke(app, list(map(str, arguments)))


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """A small verdict study on a simulated judge, frozen and sealed."""
    root = tmp_path_factory.mktemp("studies") / "small"
    made = run("init", root, "--protocol", "verdict", "--n", 12, "--base-url", "embedded:stable")
    assert made.exit_code == 0, made.output
    path = root / "registration.toml"
    path.write_text(path.read_text() + GATES)
    for command in (["prereg", "freeze", root], ["run", root, "--all"]):
        result = run(*command)
        assert result.exit_code == 0, result.output
    return root


def test_execution_controls_and_verdicts_are_told_apart(study):
    result = run("analyze", study)

    assert result.exit_code == 0
    heads = [line for line in result.stdout.splitlines() if line and not line.startswith(" ")]
    assert [h.split(":")[0].split(" (")[0] for h in heads[1:]] == [
        "SIMULATED endpoints", "Execution", "Controls", "Verdicts", "Registered analyses",
    ]  # fmt: skip
    assert "gate repeat: PASS at judge" in result.stdout
    assert "rule named: " in result.stdout
    assert "a repeatable judge can be wrong" in result.stdout


def test_the_results_hold_estimates_verdicts_and_provenance(study):
    from judgeaudit.canonical import file_digest

    run("analyze", study)

    results = study / "results"
    verdicts = json.loads((results / "verdicts.json").read_text())
    provenance = json.loads((results / "provenance.json").read_text())
    frame = pd.read_parquet(results / "estimates.parquet")
    assert verdicts["simulated"] == ["judge"]
    assert [gate["id"] for gate in verdicts["gates"]] == ["repeat"]
    assert verdicts["gates"][0]["held"][0]["estimate"]["n"]["planned_pairs"] > 0
    assert set(frame["analysis"]) >= {"flip_rate", "gold_agreement", "controls"}
    assert provenance["lock_digest"] == verdicts["lock_digest"]
    for name, digest in provenance["files"].items():
        assert file_digest(results / name) == digest


def test_a_second_analysis_gives_the_same_estimates(study):
    run("analyze", study)
    first = (study / "results" / "verdicts.json").read_bytes()

    run("analyze", study)

    assert (study / "results" / "verdicts.json").read_bytes() == first


def test_json_carries_the_findings_on_stdout(study):
    result = run("analyze", study, "--json")

    document = json.loads(result.stdout)
    assert document["execution"]["by_status"]["ok"] == document["execution"]["planned"]
    assert document["overall"] == "pass"


def test_a_study_takes_no_options(study):
    result = run("analyze", study, "--score", "score")

    assert result.exit_code == 2
    assert "its registration says what is computed" in result.stderr


def test_without_a_sealed_run_nothing_can_be_said(tmp_path):
    root = tmp_path / "new"
    run("init", root, "--protocol", "verdict", "--n", 2, "--base-url", "embedded:stable")
    run("prereg", "freeze", root)

    result = run("analyze", root)

    assert result.exit_code == 3
    assert "no sealed run" in result.stderr


def test_a_changed_part_is_refused_with_both_digests(study, tmp_path):
    import shutil

    copy = tmp_path / "copy"
    shutil.copytree(study, copy)
    part = next((copy / "log" / "sealed").glob("*/readings.parquet"))
    part.chmod(0o644)
    part.write_bytes(part.read_bytes() + b" ")

    result = run("analyze", copy)

    assert result.exit_code == 2
    assert "differs from the manifest's sha256:" in result.stderr
