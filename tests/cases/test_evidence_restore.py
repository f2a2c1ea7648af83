"""A registration that was changed after the freeze (case R7): restored, amended or told."""

import json

import pytest
from typer.testing import CliRunner

from judgeaudit.cli import app, commands

commands.register(app)


def call(*arguments, code=0):
    found = CliRunner().invoke(app, [*map(str, arguments)])
    assert found.exit_code == code, found.output
    return found


@pytest.fixture
def study(tmp_path):
    root = tmp_path / "study"
    call("init", root, "--protocol", "verdict", "--n", "3")
    call("prereg", "freeze", root)
    return root


def comment(root):
    path = root / "registration.toml"
    path.write_text("# a remark\n" + path.read_text())
    return path


def test_each_command_says_how_to_restore_amend_or_tell(study):
    comment(study)

    for command in (["run"], ["status"], ["prereg", "show"]):
        said = call(*command, study, code=2).stderr
        for way in ("prereg restore", "prereg amend", "prereg deviate"):
            assert f"`judgeaudit {way}`" in said


def test_restore_shows_the_change_puts_the_frozen_copy_back_and_keeps_the_edited_one(study):
    path = study / "registration.toml"
    before = path.read_bytes()
    comment(study)
    edited = path.read_bytes()

    said = call("prereg", "restore", study).stdout

    assert "+# a remark" in said
    assert path.read_bytes() == before
    assert (study / "registration.toml.edited").read_bytes() == edited
    call("verify", study)


def test_an_edited_file_that_is_kept_is_never_written_over(study):
    for text in ("first", "second"):
        (study / "items.jsonl").write_text(text)
        call("prereg", "restore", study)

    assert (study / "items.jsonl.edited").read_text() == "first"
    assert (study / "items.jsonl.edited-2").read_text() == "second"


def test_a_file_that_is_gone_comes_back(study):
    before = (study / "protocol.toml").read_bytes()
    (study / "protocol.toml").unlink()

    found = json.loads(call("prereg", "restore", study, "--json").stdout)["restored"]

    assert [(one["difference"], one["kept"]) for one in found] == [(["the file was missing"], None)]
    assert (study / "protocol.toml").read_bytes() == before


def test_nothing_is_written_where_nothing_differs(study):
    assert "nothing to restore" in call("prereg", "restore", study).stderr
    assert list(study.glob("*.edited*")) == []


def test_a_frozen_copy_that_was_altered_restores_nothing(study):
    copy = study / "frozen" / "registration.toml"
    copy.chmod(0o644)
    copy.write_text(copy.read_text() + "#")

    call("prereg", "restore", study, code=2)


WORDS = ("--why", "the machine was off", "--effect", "none")


def test_a_deviation_is_kept_with_what_was_sealed_and_stands_with_the_verdicts(study):
    call("run", study, "--all")
    head = json.loads(call("verify", study, "--json").stdout)["head"]
    call("prereg", "deviate", study, "--what", "began late", *WORDS)
    call("prereg", "deviate", study, "--what", "another", *WORDS)
    call("analyze", study)

    told = json.loads((study / "results" / "verdicts.json").read_text())["deviations"]
    assert [(one["number"], one["what"]) for one in told] == [(1, "began late"), (2, "another")]
    assert (told[0]["sealed_runs"], told[0]["head"]) == (["d1w1"], head)
    call("verify", study)


@pytest.mark.parametrize("damage", ["edit", "drop", "stray"])
def test_verify_covers_deviations(study, damage):
    for what in ("one", "two"):
        call("prereg", "deviate", study, "--what", what, *WORDS)
    first = study / "deviations" / "001.json"
    if damage == "edit":
        first.write_text(first.read_text().replace('"one"', '"One"'))
    elif damage == "drop":
        first.unlink()
    else:
        (first.parent / "note.txt").write_text("x")

    assert str(first.parent) in call("verify", study, code=1).stdout


def test_a_deviation_needs_words(study):
    call("prereg", "deviate", study, "--what", " ", *WORDS, code=2)
