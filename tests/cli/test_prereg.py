"""`judgeaudit prereg`, through exit codes, stdout and the files it leaves."""

import json

import pytest
import typer
from typer.testing import CliRunner

from judgeaudit.cli import commands


@pytest.fixture(scope="module")
def app():
    built = typer.Typer()
    commands.register(built)
    return built


@pytest.fixture
def run(app):
    """Run a command: `run("prereg", "check", study)`."""

    def _run(*arguments):
        return CliRunner().invoke(app, [str(argument) for argument in arguments])

    return _run


@pytest.fixture
def study(run, tmp_path):
    """A new score study of four items."""
    folder = tmp_path / "study"
    result = run("init", folder, "--protocol", "score", "--n", "1")
    assert result.exit_code == 0, result.output
    return folder


def edit(path, old, new):
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def test_check_of_a_sound_study_exits_0_and_prints_what_it_costs(run, study):
    result = run("prereg", "check", study)

    assert result.exit_code == 0
    assert "calls: 11 in 1 window," in result.stdout
    assert "ready to freeze" in result.stderr


def test_check_of_a_faulty_study_exits_1_with_every_problem(run, study):
    edit(study / "registration.toml", "days = 1", "days = 0\ncolour = 1")

    result = run("prereg", "check", study)

    assert result.exit_code == 1
    assert "problem: schedule.days" in result.stdout
    assert "problem: schedule.colour" in result.stdout


def test_check_as_json_is_one_document(run, study):
    edit(study / "registration.toml", "days = 1", "days = 0")

    result = run("prereg", "check", study, "--json")
    found = json.loads(result.stdout)

    assert result.exit_code == 1
    assert found["ok"] is False
    assert found["problems"][0]["key"] == "schedule.days"


def test_freeze_then_freeze_again_changes_nothing(run, study):
    first, second = run("prereg", "freeze", study), run("prereg", "freeze", study)

    assert (first.exit_code, second.exit_code) == (0, 0)
    assert first.stdout.startswith("frozen:")
    assert second.stdout.startswith("unchanged:")
    assert first.stdout.splitlines()[1] == second.stdout.splitlines()[1]


def test_freeze_of_a_faulty_study_exits_2_one_line_a_problem(run, study):
    edit(study / "registration.toml", "days = 1", "days = 0\ncolour = 1")

    result = run("prereg", "freeze", study)

    assert result.exit_code == 2
    assert len(result.stderr.splitlines()) == 2
    assert not (study / "frozen").exists()


def test_a_change_after_the_freeze_exits_2_and_is_mended_by_an_amendment(run, study):
    run("prereg", "freeze", study)
    edit(study / "protocol.toml", "max_tokens = 16", "max_tokens = 9")

    refused = run("prereg", "freeze", study)
    amended = run(
        *("prereg", "amend", study, "--what", "max_tokens 9", "--why", "400", "--effect", "all")
    )

    assert refused.exit_code == 2
    assert "prereg amend" in refused.stderr
    assert amended.exit_code == 0, amended.output
    assert "amendment 1" in amended.stdout
    assert run("prereg", "verify", study).exit_code == 0
    assert "amended 1 times" in run("prereg", "show", study).stdout


def test_an_amendment_that_says_nothing_exits_2(run, study):
    run("prereg", "freeze", study)

    result = run("prereg", "amend", study, "--what", " ", "--why", "x", "--effect", "y")

    assert result.exit_code == 2
    assert "--what: empty" in result.stderr


def test_verify_of_a_changed_frozen_file_exits_1_and_any_other_command_2(run, study):
    run("prereg", "freeze", study)
    path = study / "frozen" / "items.jsonl"
    path.chmod(0o644)
    edit(path, "Compute", "Guess")

    verified, shown = run("prereg", "verify", study, "--json"), run("prereg", "show", study)

    assert verified.exit_code == 1
    assert any("items.jsonl" in finding for finding in json.loads(verified.stdout)["findings"])
    assert shown.exit_code == 2
    assert shown.stderr.startswith("error: ")


def test_a_time_stamp_is_asked_for_in_a_file_and_refused_where_it_speaks_of_another_lock(
    run, study, tmp_path
):
    run("prereg", "freeze", study)
    asked = run("prereg", "stamp", study, "--request", tmp_path / "lock.tsq")
    foreign = tmp_path / "foreign.tsr"
    foreign.write_bytes(b"nothing")
    kept = run("prereg", "stamp", study, "--token", foreign)

    assert asked.exit_code == 0
    assert (tmp_path / "lock.tsq").stat().st_size > 40
    assert kept.exit_code == 2
    assert not (study / "frozen" / "lock.tsr").exists()


def test_a_folder_without_a_study_exits_2(run, tmp_path):
    result = run("prereg", "check", tmp_path)

    assert result.exit_code == 2
    assert "registration.toml: no such file" in result.stderr


def test_a_body_met_by_a_400_has_an_honest_way_out(run, tmp_path):
    """Freeze, 400, amend, go on: the log names the first lock, and everything verifies."""
    folder = tmp_path / "refused"
    address = ("--base-url", "embedded:badrequest")
    run("init", folder, "--protocol", "score", "--n", "1", *address)
    run("prereg", "freeze", folder)
    paused = run("run", folder, "--all")
    edit(folder / "registration.toml", "embedded:badrequest", "embedded:stable")
    words = ("--what", "another address", "--why", "400 on every call", "--effect", "all calls")
    amended = run("prereg", "amend", folder, *words)
    resumed = run("run", folder, "--all")
    verified = run("verify", folder)

    codes = [result.exit_code for result in (paused, amended, resumed, verified)]
    assert codes == [2, 0, 0, 0], verified.output
