"""Amendments in every report, and studies in folders that cannot be written to."""

import ctypes
import json
import os
import subprocess
import sys

import pandas as pd
import pytest
from typer.testing import CliRunner

import judgeaudit
from judgeaudit.cli import app, commands

commands.register(app)

GATE = """
[[gates]]
id = "repeats"
statistic = "flip_rate"
over = "same_window"
at_most = 0.3
"""


def call(*arguments):
    return CliRunner().invoke(app, list(map(str, arguments)))


def made(root, base_url="embedded:stable", protocol="verdict", gate=GATE, n=20):
    """A frozen study with one gate; nothing was asked yet."""
    judgeaudit.init(root, protocol, n=n, base_url=base_url)
    with (root / "registration.toml").open("a") as file:
        file.write(gate)
    judgeaudit.freeze(root)
    return root


@pytest.fixture
def amended(tmp_path):
    """A sealed study whose title was amended after all 80 + 3 answers were there."""
    root = made(tmp_path / "amended")
    judgeaudit.run(root, everything=True)
    path = root / "registration.toml"
    path.write_text(path.read_text().replace('title = "', 'title = "Anew: ', 1))
    judgeaudit.amend(root, what="the title", why="a slip", effect="none")
    return root


def test_every_report_lists_amendments_with_what_had_been_seen(amended, tmp_path):
    """case R2: what, why, effect, and the answers that were there, in each report and format.

    The sealed run's manifest counts the answers.
    """
    (run,) = (amended / "log" / "sealed").iterdir()
    manifest = json.loads((run / "manifest.json").read_text())
    answers = manifest["ledger"]["calls"]["response"]
    sentence = f"the title; because a slip; effect: none; 0 calls affected; seen by then: {answers}"
    junit, markdown = tmp_path / "gate.xml", tmp_path / "gate.md"
    gate = call("gate", amended, "--read-only", "--junit", junit, "--markdown", markdown)
    analyzed = call("analyze", amended)
    judgeaudit.export(amended, out=tmp_path / "out")

    assert answers > 0
    for text in (gate.stdout, junit.read_text(), markdown.read_text(), analyzed.stdout):
        assert sentence in text
    assert sentence in (tmp_path / "out" / "README.md").read_text()
    (row,) = pd.read_parquet(tmp_path / "out" / "amendments.parquet").to_dict("records")
    for place in ("verdicts.json", "gate.json"):
        (one,) = json.loads((amended / "results" / place).read_text())["amendments"]
        assert one | {"changes": json.dumps(one["changes"])} == row
    assert (row["what"], row["why"], row["effect"]) == ("the title", "a slip", "none")
    assert row["seen"] == f"{answers} answers"


def test_an_amendment_before_any_answer_says_so(tmp_path):
    """case R2: decided before the calls that it affects, as an amendment is meant to be."""
    root = made(tmp_path / "early")
    path = root / "registration.toml"
    path.write_text(path.read_text().replace("at_most = 0.3", "at_most = 0.2"))
    judgeaudit.amend(root, what="the limit", why="a stricter use", effect="the gate is harder")
    judgeaudit.run(root, everything=True)

    (found,) = judgeaudit.analyze(root).amendments
    assert found.sentence().endswith("seen by then: no answer")


def as_others_are():
    """Take from the superuser the right to write everywhere (Linux: PR_CAPBSET_DROP of cap 1)."""
    assert ctypes.CDLL(None).prctl(24, 1, 0, 0, 0) == 0


@pytest.fixture
def unwritable(tmp_path):
    """A sealed study whose folders take no file, and how to run a command on it."""
    root = made(tmp_path / "study")
    judgeaudit.run(root, everything=True)
    for path in [root, *root.rglob("*")]:
        path.chmod(0o555 if path.is_dir() else 0o444)
    bound = as_others_are if os.geteuid() == 0 else None

    def run(*arguments):
        command = [sys.executable, "-m", "judgeaudit", *map(str, arguments)]
        return subprocess.run(
            command, capture_output=True, text=True, check=False, preexec_fn=bound
        )

    run.root = root
    yield run
    for path in [root, *root.rglob("*")]:
        path.chmod(0o755)


def test_a_study_that_cannot_be_written_to_is_read_and_says_so(unwritable):
    """case R9: analyze, gate --read-only, verify, status and show on a read-only folder."""
    root = unwritable.root
    before = sorted(root.rglob("*"))
    analyzed, gate = unwritable("analyze", root), unwritable("gate", root, "--read-only")

    for done in (analyzed, gate):
        assert done.returncode == 0, done.stderr
        assert "gate repeats: PASS" in done.stdout
        assert f"nothing was written: {root / 'results'}: Permission denied" in done.stderr
    for command in (["verify", root], ["status", root], ["show", root, "0"]):
        done = unwritable(*command)
        assert done.returncode == 0, done.stderr
        assert done.stdout + done.stderr
    assert sorted(root.rglob("*")) == before


def test_json_of_a_study_that_cannot_be_written_to_is_one_document(unwritable):
    """case R9: the remark goes to stderr, the document stays whole."""
    done = unwritable("analyze", unwritable.root, "--json")

    assert json.loads(done.stdout)["overall"] == "pass"
    assert "nothing was written" in done.stderr


def test_a_full_disk_is_no_read_only_folder(tmp_path, monkeypatch):
    """case R9: only what says that the folder cannot be written to is borne; the rest is told."""
    import errno

    from judgeaudit.study.folders import unless_read_only

    def full():
        raise OSError(errno.ENOSPC, "No space left on device")

    def read_only():
        raise OSError(errno.EROFS, "Read-only file system")

    with pytest.raises(OSError, match="No space"):
        unless_read_only(tmp_path, full)
    assert unless_read_only(tmp_path, read_only) == (
        f"nothing was written: {tmp_path}: Read-only file system"
    )
