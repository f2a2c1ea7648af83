"""`verify` covers what a study claims: each file of one that was frozen, amended, run, analysed,
gated and exported is damaged in each of six ways, and named (case H6)."""

import json
import shutil

import pytest
from typer.testing import CliRunner

from judgeaudit.canonical import file_digest
from judgeaudit.cli import app, commands

commands.register(app)


def call(*arguments, code=0):
    found = CliRunner().invoke(app, [*map(str, arguments)])
    assert found.exit_code == code, found.output
    return found


def edit(path, *changes):
    text = path.read_text()
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    path.write_text(text)


WORDS = ("--what", "title", "--why", "a slip", "--effect", "none")


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """Two windows on the virtual clock, an amendment between, results, a gate and an export."""
    root = tmp_path_factory.mktemp("files") / "study"
    call("init", root, "--protocol", "verdict", "--n", "3")
    registration = root / "registration.toml"
    edit(
        registration,
        ("windows_per_day = 1", 'windows_per_day = 2\nclock = "virtual"\nmin_gap = "1h"'),
        ("cap = 26", "cap = 60"),
    )
    call("prereg", "freeze", root)
    edit(registration, ("Which of two", "Which one of two"))
    call("prereg", "amend", root, *WORDS)
    call("run", root, "--all")
    call("analyze", root)
    call("gate", root, "--read-only", code=3)
    call("export", root)
    call("verify", root)
    return root


@pytest.fixture
def copy(whole, tmp_path):
    return shutil.copytree(whole, tmp_path / "study", copy_function=shutil.copyfile)


def files_of(root):
    return [p for p in sorted(root.rglob("*")) if p.is_file() and not p.name.startswith(".")]


def flip(path):
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    return path


def flip_last(path):
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)
    return path


def truncate(path):
    path.write_bytes(path.read_bytes()[:-1])
    return path


def empty(path):
    path.write_bytes(b"")
    return path


def delete(path):
    path.unlink()
    return path


def add_beside(path):
    added = path.with_name(f"{path.stem}-2{path.suffix}")
    added.write_bytes(path.read_bytes())
    return added


def add_folder_beside(path):
    added = path.with_name("kept")
    added.mkdir()
    (added / path.name).write_bytes(path.read_bytes())
    return added


def link(path):
    away = path.parents[[*path.parts][::-1].index("study")] / f"away-{path.name}"
    path.rename(away)
    path.symlink_to(away)
    return path


DAMAGES = [flip, flip_last, truncate, empty, delete, add_beside, add_folder_beside, link]


@pytest.mark.parametrize("damage", DAMAGES)
def test_each_file_so_damaged_is_named(damage, copy, tmp_path):
    """By hand: 5 inputs, 7 and 6 frozen with an amendment, 8 sealed, 5 results, 8 exported."""
    kept = tmp_path / "kept"
    files, missed = files_of(copy), []
    assert len(files) == 42
    for path in files:
        name = path.relative_to(copy)
        shutil.copytree(copy, kept, symlinks=True)
        named = damage(path)
        found = CliRunner().invoke(app, ["verify", str(copy)])
        at_top = path.parent == copy and damage in (add_beside, add_folder_beside)
        if str(named) not in found.stdout or found.exit_code != (0 if at_top else 1):
            missed.append((str(name), found.exit_code, found.stdout[-300:]))
        shutil.rmtree(copy)
        kept.rename(copy)

    assert missed == []


def test_a_stranger_at_the_top_is_named_and_is_no_finding(copy):
    """A README in one's own folder is no forgery; a hidden file of git or of an editor is none."""
    (copy / "README.md").write_text("mine")
    (copy / ".gitignore").write_text("")

    found = call("verify", copy)

    assert f"{copy}/README.md: not part of the study; nothing here covers it" in found.stdout
    assert ".gitignore" not in found.stdout


def test_an_exported_folder_is_verified_by_itself(copy):
    export = copy / "supplement"
    assert "an export" in call("verify", export).stderr
    flip(export / "verdicts.parquet")

    assert str(export / "verdicts.parquet") in call("verify", export, code=1).stdout


def test_edited_results_are_named_and_analysing_anew_does_not_launder_a_gate(copy):
    """gate.json is kept by the next `analyze`; its digest is the one that the gate wrote."""
    edit(copy / "results" / "gate.json", ('"outcome": "undefined"', '"outcome": "pass"'))
    call("analyze", copy)

    assert "gate.json: altered file" in call("verify", copy, code=1).stdout


def test_results_made_from_other_runs_are_told(copy):
    """Both windows were sealed when the results were made; one sealed later leaves them behind."""
    last = copy / "log" / "sealed" / "d1w2"
    shutil.rmtree(last)
    (copy / "log" / "journal" / "d1w2.jsonl").unlink()

    assert "made from run d1w2" in call("verify", copy, code=1).stdout


def test_a_shortened_log_needs_the_head_that_was_noted(copy):
    head = json.loads(call("verify", copy, "--json").stdout)["head"]
    shutil.rmtree(copy / "results")
    shutil.rmtree(copy / "supplement")
    shutil.rmtree(copy / "log" / "sealed" / "d1w2")
    (copy / "log" / "journal" / "d1w2.jsonl").unlink()

    call("verify", copy)
    assert head in call("verify", copy, "--expected-head", head, code=1).stdout


def test_a_frozen_study_without_a_log_has_nothing_sealed(copy):
    for name in ("results", "supplement", "log"):
        shutil.rmtree(copy / name)

    assert "nothing sealed" in call("verify", copy).stderr


def test_an_unsealed_run_is_told_with_its_whole_records(copy):
    """The journal of the second window without its seal and half a line: 20 of 21 records."""
    for name in ("results", "supplement", "log/sealed/d1w2"):
        shutil.rmtree(copy / name)
    journal = copy / "log" / "journal" / "d1w2.jsonl"
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join(lines[:-1]) + lines[-1][:10])

    found = call("verify", copy).stdout

    assert f"run d1w2 is not sealed: {len(lines) - 1} whole records" in found
    assert "10 bytes of a torn last line" in found


def test_the_head_is_printed_by_run_status_and_verify(tmp_path):
    """The digest of the last manifest's bytes, the same in all three."""
    root = tmp_path / "study"
    call("init", root, "--protocol", "verdict", "--n", "3")
    call("prereg", "freeze", root)
    ran = call("run", root, "--all")
    head = f"head {file_digest(root / 'log' / 'sealed' / 'd1w1' / 'manifest.json')}"

    assert head in ran.output
    assert head in call("status", root).stdout
    assert head in call("verify", root).stdout
