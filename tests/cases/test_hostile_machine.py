"""What this machine lacks is told in one line, and is never written as a judge's failing."""

import errno
import json
import resource
import subprocess
import sys

import aiohttp
import httpx
import pytest

from judgeaudit.collect.transport import failure_of, own_failing
from judgeaudit.evidence.log.reader import read_journal
from judgeaudit.evidence.log.runs import journal_path
from judgeaudit.model import Outcome, Responsibility


def test_a_run_without_file_descriptors_stops_in_one_line(study, recording, make_registration):
    """case H10: 64 descriptors, 64 in flight. Exit 2, one line, responsibility tool."""
    schedule = 'conditions = [{name = "c", in_flight = 64}]'
    with recording.Recorder(lambda *_: recording.Answer(delay_s=0.3)) as server:
        frozen = study(make_registration(server.base_url, schedule=schedule), items=200)
        done = subprocess.run(
            [sys.executable, "-m", "judgeaudit", "run", str(frozen.root)],
            capture_output=True,
            text=True,
            timeout=120,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64)),
        )

    errors = [line for line in done.stderr.splitlines() if line.startswith("error: ")]
    assert done.returncode == 2, done.stderr[:2000]
    assert len(done.stderr) < 2000
    assert len(errors) == 1
    assert "this machine: no file descriptor left" in errors[0]
    failed = [
        (record["outcome"], record["responsibility"])
        for line in journal_path(frozen.root / "log", "d1w1").read_text().splitlines()
        if (record := json.loads(line)["record"])["kind"] == "outcome" and record["outcome"] != "ok"
    ]
    assert set(failed) == {("cancelled", "tool")}
    assert read_journal(journal_path(frozen.root / "log", "d1w1")).state.open_attempts == {}


@pytest.mark.parametrize("number", [errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ENOSPC])
def test_the_tools_own_failing_is_seen_under_every_wrapping(number):
    lacking = OSError(number, "lacking")
    wrapped = httpx.ConnectError("no")
    wrapped.__cause__ = aiohttp.ClientOSError(number, "lacking")

    for error in (lacking, wrapped):
        assert own_failing(error)
        assert failure_of(error)[:2] == (Outcome.CANCELLED, Responsibility.TOOL)
    assert own_failing(MemoryError())


def test_a_refused_connection_is_the_transports():
    refused = OSError(errno.ECONNREFUSED, "refused")

    assert own_failing(refused) is None
    assert failure_of(refused)[:2] == (Outcome.TRANSPORT_ERROR, Responsibility.TRANSPORT)
