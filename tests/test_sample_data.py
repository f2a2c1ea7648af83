"""What lies in sample_data/ is what its script makes, and its sealed study verifies."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SAMPLES = Path(__file__).parent.parent / "sample_data"


def judgeaudit(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "judgeaudit", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def remade(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("samples") / "again"
    command = [sys.executable, str(SAMPLES / "make.py"), "--into", str(folder)]
    subprocess.run(command, capture_output=True, check=True)
    return folder


def test_batteries_and_table_are_made_again_to_the_byte(remade):
    names = [*sorted(p.name for p in (SAMPLES / "batteries").iterdir())]

    assert names
    for name in [*(f"batteries/{name}" for name in names), "scores.csv"]:
        assert (remade / name).read_bytes() == (SAMPLES / name).read_bytes(), name


@pytest.mark.parametrize("part", ["plan", "bodies"])
def test_the_study_freezes_to_the_same_plan_and_bodies(remade, part):
    locks = [
        json.loads((folder / "noisy-score/frozen/lock.json").read_text())["content"][part]
        for folder in (SAMPLES, remade)
    ]

    assert locks[0] == locks[1]


def test_the_sealed_study_verifies(tmp_path):
    copy = shutil.copytree(SAMPLES / "noisy-score", tmp_path / "noisy-score")

    done = judgeaudit("verify", str(copy))

    assert done.returncode == 0, done.stdout + done.stderr


def test_the_table_is_read_as_test_retest_of_equal_requests():
    done = judgeaudit(
        "analyze", str(SAMPLES / "scores.csv"), "--item", "item", "--repeat", "repeat",
        "--score", "score", "--digest", "request",
    )  # fmt: skip

    assert done.returncode == 0, done.stderr
    assert "test-retest (" in done.stdout
