"""What a killed write leaves under a temporary name is taken away, and nobody is led through it."""

import json
import os
import shutil

import pytest

import judgeaudit
from judgeaudit.collect.lock import HOLDER_NAME, exclusive
from judgeaudit.errors import InputError
from judgeaudit.evidence.inventory import write_inventory
from judgeaudit.evidence.lock.gate_run import begin, of_run, read_run
from judgeaudit.evidence.log.files import create, leftover_of, sweep
from judgeaudit.study import pilot_study
from judgeaudit.study.verify import verify


@pytest.mark.parametrize(
    ("name", "of"),
    [
        (".d1w1.jsonl.4711", "d1w1.jsonl"),
        (".manifest.json.4711", "manifest.json"),
        (".items.jsonl.4711.part", "items.jsonl"),
        (".verdicts.json.part", "verdicts.json"),
        ("d1w1.jsonl.4711", None),
        (".d1w1.jsonl.old", None),
        (".d1w1.jsonl", None),
    ],
)
def test_leftovers_are_told_by_their_names(name, of):
    assert leftover_of(name) == of


def test_sweeping_takes_a_files_own_leftovers_alone(tmp_path):
    for name in (".a.json.1", ".a.json.22.part", ".b.json.1", ".a.json.old", "a.json"):
        (tmp_path / name).write_text("x")

    sweep(tmp_path / "a.json")

    assert sorted(path.name for path in tmp_path.iterdir()) == [
        ".a.json.old",
        ".b.json.1",
        "a.json",
    ]


def test_a_new_file_sweeps(tmp_path):
    (tmp_path / ".run.json.1").write_text("half")
    create(tmp_path / "run.json", b"whole")

    assert [path.name for path in tmp_path.iterdir()] == ["run.json"]


def test_a_manifest_of_results_sweeps(tmp_path):
    (tmp_path / ".manifest.json.1").write_text("half")
    (tmp_path / "a.csv").write_text("1")
    write_inventory(tmp_path, ["a.csv"], {"writer": "0"})

    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.csv", "manifest.json"]


def test_a_resumed_run_takes_away_what_its_first_start_left(
    study, run, recording, make_registration
):
    """Killed between the link and the unlink of its journal: found by the kills of `run`."""
    frozen = study(make_registration("http://judge.example", extra="attempts = 1"), items=2)
    with (
        recording.Recorder(lambda _, n: recording.Answer(500 if n else 200)) as server,
        pytest.raises(Exception, match="none of 2 calls was answered"),
    ):
        run(frozen, base=server.base_url)
    left = frozen.root / "log" / "journal" / ".d1w1.jsonl.4711"
    left.write_text("half")
    before = verify(frozen.root).findings
    with recording.Recorder() as server:
        run(frozen, base=server.base_url)

    assert before == ()
    assert not left.exists()
    assert verify(frozen.root).ok


def test_a_leftover_of_a_sealed_run_is_named(study, run, recording, make_registration):
    frozen = study(make_registration("http://judge.example"), items=2)
    with recording.Recorder() as server:
        run(frozen, base=server.base_url)
    left = frozen.root / "log" / "journal" / ".d1w1.jsonl.4711"
    left.write_text("half")

    assert f"{left}: stray: left of d1w1.jsonl" in verify(frozen.root).findings[0]


def test_the_holders_note_is_never_written_through_a_link(tmp_path):
    """Both names that could be foreseen: the note's, and the one that it is first written under."""
    victim = tmp_path / "victim"
    victim.write_text("mine")
    study = tmp_path / "study"
    study.mkdir()
    for name in (HOLDER_NAME, f"{HOLDER_NAME}.{os.getpid()}", f".{HOLDER_NAME}.{os.getpid()}"):
        (study / name).symlink_to(victim)

    with exclusive(study):
        held = json.loads((study / HOLDER_NAME).read_text())

    assert victim.read_text() == "mine"
    assert held["pid"] == os.getpid()


def test_the_facts_of_a_gate_run_are_whole_or_absent(study):
    """A killed `gate` left an empty run.json, which no later `gate` could read."""
    frozen = study()
    asked = of_run(frozen, "commit-1")
    asked.root.mkdir(parents=True)
    (asked.root / ".run.json.4711").write_text("")
    begin(asked, "commit-1", None, "2026-01-01")

    assert read_run(asked.root)["key"] == "commit-1"
    assert [path.name for path in asked.root.iterdir()] == ["run.json"]


def test_a_pilot_that_was_written_and_not_frozen_is_frozen(tmp_path, monkeypatch):
    """Killed between the two: found by the kills of `pilot`. A folder of others is refused."""
    root = tmp_path / "study"
    judgeaudit.init(root, "verdict", n=4)
    registration = root / "registration.toml"
    text = registration.read_text()
    if 'clock = "virtual"' not in text:
        registration.write_text(text.replace("[schedule]", '[schedule]\nclock = "virtual"', 1))
    with monkeypatch.context() as patch:
        patch.setattr(pilot_study.files, "freeze", killed)
        with pytest.raises(KeyboardInterrupt):
            judgeaudit.pilot(root, items=4)
    assert not (root / "pilot" / "frozen").exists()

    assert judgeaudit.pilot(root, items=4).path.is_file()

    shutil.rmtree(root / "pilot")
    (root / "pilot").mkdir()
    (root / "pilot" / "registration.toml").write_text("another's")
    with pytest.raises(InputError, match="not empty"):
        judgeaudit.pilot(root, items=4)


def killed(*_):
    raise KeyboardInterrupt
