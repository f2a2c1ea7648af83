"""Files that are none: devices, pipes, links under temporary names; and an export of heavy rows."""

import json
import os
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from judgeaudit.canonical import read_regular
from judgeaudit.cli import app
from judgeaudit.errors import InputError
from judgeaudit.evidence.log.files import create
from judgeaudit.tables.write import replace_whole


@pytest.mark.parametrize("device", ["/dev/zero", "/dev/null"])
def test_a_device_is_no_file(device):
    from pathlib import Path

    with pytest.raises(InputError, match="no regular file"):
        read_regular(Path(device))


def test_a_pipe_is_refused_and_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "items.jsonl")

    with pytest.raises(InputError, match="no regular file"):
        read_regular(tmp_path / "items.jsonl")


def test_a_battery_without_an_end_is_one_line(study, tmp_path):
    """Exit 1 of `prereg check`, with the key; 60 s would be its time-out."""
    root = study().root
    (root / "items.jsonl").unlink()
    (root / "items.jsonl").symlink_to("/dev/zero")

    done = subprocess.run(
        [sys.executable, "-m", "judgeaudit", "prereg", "check", str(root)],
        capture_output=True, text=True, timeout=60,
    )  # fmt: skip

    assert done.returncode in (1, 2)
    assert "a pipe or a device, no regular file" in done.stdout + done.stderr


def test_init_refuses_a_device(tmp_path):
    done = CliRunner().invoke(
        app, ["init", str(tmp_path / "s"), "--protocol", "verdict", "--items", "/dev/zero"]
    )

    assert done.exit_code == 2


def test_a_link_under_a_temporary_name_is_not_written_through(tmp_path):
    """Somebody foresaw the names `.journal.jsonl.<pid>` and `.out.part`."""
    victim = tmp_path / "victim"
    victim.write_text("mine")
    (tmp_path / f".journal.jsonl.{os.getpid()}").symlink_to(victim)
    (tmp_path / ".out.part").symlink_to(victim)

    create(tmp_path / "journal.jsonl", b"new")
    replace_whole(tmp_path / "out", lambda part: part.write_text("new"))

    assert victim.read_text() == "mine"
    assert (tmp_path / "journal.jsonl").read_bytes() == b"new"
    assert not (tmp_path / "out").is_symlink()


@pytest.mark.slow
def test_an_export_holds_a_row_group_and_not_a_log(study, run, recording, make_registration):
    """200 rows of 1 MB: 200 MB. The export may need 400 MB of address space beside its start."""
    text = make_registration("http://judge.example")
    frozen = study(text, items=200)

    def reply(_, number):
        noise = os.urandom(500_000).hex()
        return recording.Answer(body=json.dumps(json.loads(recording.OK) | {"n": noise}).encode())

    with recording.Recorder(reply) as server:
        run(frozen, base=server.base_url)
    code = (
        "import resource; from pathlib import Path; import sys;"
        "from judgeaudit.study.export_study import export_study;"
        "start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss;"
        "export_study(Path(sys.argv[1]), Path(sys.argv[1]) / 'supplement');"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - start)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(frozen.root)], capture_output=True, text=True, timeout=300
    )

    assert done.returncode == 0, done.stderr[-2000:]
    assert int(done.stdout) < 400 * 1024
