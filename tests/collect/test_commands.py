"""`run`, `status`, `show`, `verify`, `serve`, through their exit codes and their two streams."""

import json
import os
import re
import signal
import subprocess
import sys
import time

import httpx
import pytest
import typer
from typer.testing import CliRunner

from judgeaudit.canonical import file_digest
from judgeaudit.cli import commands
from judgeaudit.evidence.log.runs import journal_path


@pytest.fixture(scope="module")
def command():
    """Invoke a command line; the result has `exit_code`, `stdout`, `stderr`."""
    app = typer.Typer()
    commands.register(app)
    return lambda *arguments: CliRunner().invoke(app, [str(a) for a in arguments])


TWO = 'days = 1\nwindows_per_day = 2\nmin_gap = "2h"\nclock = "virtual"'


def test_run_seals_the_next_window_and_says_so_on_stderr(study, make_registration, command):
    frozen = study(make_registration(schedule=TWO), items=3)

    found = command("run", frozen.root)

    assert (found.exit_code, found.stdout) == (0, "")
    line, head = found.stderr.splitlines()[-1].split("; head ")
    assert line == (
        "window d1w1: sealed, 3 of 3 readings valid; "
        "3 attempts = 3 responses + 0 transport failures + 0 unresolved"
    )
    assert head == file_digest(frozen.root / "log" / "sealed" / "d1w1" / "manifest.json")


def test_run_all_jumps_through_the_virtual_clock(study, make_registration, command):
    frozen = study(make_registration(schedule=TWO), items=3)

    found = command("run", frozen.root, "--all", "--json")

    assert found.exit_code == 0
    assert [one["window"] for one in json.loads(found.stdout)["runs"]] == ["d1w1", "d1w2"]


def test_run_with_nothing_left_is_done(study, command):
    frozen = study(items=2)
    command("run", frozen.root)

    found = command("run", frozen.root, "--next")

    assert found.exit_code == 0
    assert "nothing is left to run" in found.stderr


def test_run_next_before_its_time_is_undecided_with_the_earliest_time(
    study, make_registration, command
):
    frozen = study(make_registration(schedule="start = 2100-01-01T00:00:00Z"), items=2)

    found = command("run", frozen.root, "--next", "--json")

    assert found.exit_code == 3
    assert json.loads(found.stdout)["earliest"] == "2100-01-01T00:00:00+00:00"
    assert not (frozen.root / "log").exists()


def test_run_without_its_key_names_the_variable_before_anything_is_reserved(
    study, make_registration, command, monkeypatch
):
    monkeypatch.delenv("MISSING_KEY", raising=False)
    text = make_registration("http://127.0.0.1:9", endpoint='key_env = "MISSING_KEY"')
    frozen = study(text, items=2)

    found = command("run", frozen.root)

    assert found.exit_code == 2
    assert found.stderr.splitlines() == [
        "error: endpoint judge: environment variable MISSING_KEY: not set; "
        "export MISSING_KEY=... and run again; nothing was sent"
    ]
    assert not (frozen.root / "log").exists()


def test_a_paused_run_is_exit_2_in_one_line(study, make_registration, command):
    frozen = study(make_registration("embedded:auth"), items=2)

    found = command("run", frozen.root)

    assert found.exit_code == 2
    assert len(found.stderr.splitlines()) == 1
    assert "paused, unsealed" in found.stderr
    assert "HTTP 401" in found.stderr


def test_a_key_that_a_refusal_repeats_is_not_printed(
    study, make_registration, command, recording, monkeypatch
):
    """Some servers say "invalid key sk-...": what pauses the run goes to terminals and CI logs."""
    key = "sk-a-key-of-some-length"
    monkeypatch.setenv("A_KEY", key)
    refusal = b'{"error":{"message":"invalid key %s"}}' % key.encode()
    with recording.Recorder(lambda *_: recording.Answer(401, {}, refusal)) as server:
        frozen = study(make_registration(server.base_url, endpoint='key_env = "A_KEY"'), items=2)
        found = command("run", frozen.root)

    assert found.exit_code == 2
    assert "HTTP 401: invalid key [redacted]" in found.stderr
    assert key not in found.stdout + found.stderr


def test_a_dry_run_shows_requests_and_touches_nothing(study, make_registration, command):
    text = make_registration("http://127.0.0.1:9", endpoint='key_env = "A_KEY"')
    frozen = study(text, items=3)

    found = command("run", frozen.root, "--dry-run")

    assert found.exit_code == 0
    assert frozen.plan[0].body_sha256 in found.stdout
    assert "POST http://127.0.0.1:9/chat/completions" in found.stdout
    assert "key from the environment variable A_KEY" in found.stdout
    assert not (frozen.root / "log").exists()


def test_options_that_exclude_each_other_are_refused(study, command):
    found = command("run", study(items=2).root, "--next", "--all")

    assert found.exit_code == 2


def test_status_shows_at_most_five_examples_of_each_invalid_reason(
    study, make_registration, command
):
    text = make_registration(
        "embedded:invalid-some:unparsed=0.5,refused=0.3,truncated=0,empty=0",
        schedule='clock = "virtual"',
    )
    frozen = study(text, items=60)
    command("run", frozen.root)

    found = json.loads(command("status", frozen.root, "--json").stdout)

    (window,) = found["windows"]
    counts = {name: n for name, n in window["by_status"].items() if name != "ok"}
    assert {name: group["count"] for name, group in found["invalid"].items()} == counts
    assert set(counts) == {"unparsed", "refused"}
    assert all(len(group["examples"]) == 5 for group in found["invalid"].values())
    assert "SIMULATED" in found["invalid"]["unparsed"]["examples"][0]["reply"]
    assert found["cap_used"] == 60


def test_status_of_a_run_under_way_reads_its_journal(study, run, recording, make_registration):
    """Seen from inside the fourth planned request: three answered, one open, nothing voided."""
    from judgeaudit.collect.status import status_of
    from judgeaudit.evidence.derive import derive

    frozen = study(make_registration("http://judge.example"), items=6)
    seen = []

    def answer(request, number):
        if number == 4:
            seen.append(status_of(frozen, derive(frozen)))
        return recording.Answer()

    with recording.Recorder(answer) as server:
        run(frozen, base=server.base_url)

    (window,) = seen[0]["windows"]
    assert window["state"] == "unsealed"
    assert window["by_status"] == {"ok": 3, "waiting": 3}
    assert window["open_attempts"] == 1


@pytest.mark.parametrize("name", ["0", "id", "prefix"])
def test_show_prints_a_call_from_prompt_to_reading(study, make_registration, command, name):
    frozen = study(make_registration(schedule='clock = "virtual"'), items=3)
    command("run", frozen.root)
    call = frozen.plan[0]
    asked = {"0": "0", "id": call.call_id, "prefix": call.call_id[:9]}[name]

    found = command("show", frozen.root, asked)

    assert found.exit_code == 0
    assert f"item: {call.item}" in found.stdout
    assert "Is this sum right?" in found.stdout
    assert "attempt 1: ok, HTTP 200" in found.stdout
    assert '"status": "ok"' in found.stdout


def test_show_of_an_unknown_call_says_what_there_is(study, command):
    found = command("show", study(items=3).root, "nothing")

    assert found.exit_code == 2
    assert "no call 'nothing'" in found.stderr


def test_verify_is_0_for_a_sound_study_and_1_for_an_altered_byte(study, command):
    frozen = study(items=3)
    command("run", frozen.root)
    assert command("verify", frozen.root).exit_code == 0

    part = frozen.root / "log" / "sealed" / "d1w1" / "readings.parquet"
    part.chmod(0o644)
    data = bytearray(part.read_bytes())
    data[len(data) // 2] ^= 1
    part.write_bytes(bytes(data))
    found = command("verify", frozen.root)

    assert found.exit_code == 1
    assert "readings.parquet" in found.stdout
    assert "sha256:" in found.stdout


def test_verify_is_1_for_an_altered_frozen_file(study, command):
    frozen = study(items=3)
    command("run", frozen.root)
    path = frozen.root / "frozen" / "protocol.toml"
    path.chmod(0o644)
    path.write_bytes(path.read_bytes() + b"\n")

    found = command("verify", frozen.root)

    assert found.exit_code == 1
    assert "protocol.toml" in found.stdout


def test_any_other_command_refuses_an_altered_frozen_file_with_2(study, command):
    frozen = study(items=3)
    path = frozen.root / "frozen" / "protocol.toml"
    path.chmod(0o644)
    path.write_bytes(path.read_bytes() + b"\n")

    for name in ("run", "status"):
        assert command(name, frozen.root).exit_code == 2


@pytest.mark.slow
@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_is_130_and_goes_on(study, make_registration, command, sent):
    """Ctrl-C, or a service manager's end, in the middle of 300 calls of a process of its own."""
    text = make_registration(schedule='clock = "virtual"\nrepeats = 10')
    frozen = study(text, items=30)
    process = subprocess.Popen(
        [sys.executable, "-m", "judgeaudit", "run", str(frozen.root)],
        stderr=subprocess.PIPE,
        text=True,
    )
    journal = journal_path(frozen.root / "log", "d1w1")
    while process.poll() is None and (
        not journal.exists() or journal.read_bytes().count(b"\n") < 100
    ):
        time.sleep(0.005)
    os.kill(process.pid, sent)
    _, said = process.communicate(timeout=60)

    assert process.returncode == 130
    assert said.splitlines()[-1] == "error: interrupted; run the same command again to resume"
    assert command("run", frozen.root).exit_code == 0
    assert command("verify", frozen.root).exit_code == 0


@pytest.mark.slow
def test_serve_answers_until_interrupted():
    process = subprocess.Popen(
        [sys.executable, "-m", "judgeaudit", "serve", "--scenario", "stable"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    url = re.search(r"http://\S+", process.stdout.readline()).group()
    body = {
        "model": "m",
        "messages": [{"role": "user", "content": "Answer with exactly one of: a, b"}],
    }
    reply = httpx.post(f"{url}/v1/chat/completions", json=body, trust_env=False)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=30)

    assert reply.status_code == 200
    assert "simulated" in reply.json()["model"]
    assert process.returncode == 0


def test_serve_wants_exactly_one_judge(command):
    assert command("serve").exit_code == 2
    assert command("serve", "--local", "--scenario", "stable").exit_code == 2


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda path: path.write_bytes(path.read_bytes()[:-50]), "cannot be read: "),
        (lambda path: path.unlink(), "missing; `judgeaudit verify`"),
    ],
    ids=["cut short", "gone"],
)
def test_a_damaged_part_of_a_sealed_run_is_one_line_for_show_and_status(
    study, make_registration, command, change, told
):
    """Once Arrow's error left as a traceback with exit 70."""
    text = make_registration(
        "embedded:invalid-some:unparsed=1,refused=0,truncated=0,empty=0",
        schedule='clock = "virtual"',
    )
    frozen = study(text, items=2)
    assert command("run", frozen.root).exit_code == 0
    (part,) = frozen.root.glob("log/sealed/*/attempts.parquet")
    part.parent.chmod(0o755)
    part.chmod(0o644)
    change(part)

    for found in (command("show", frozen.root, "0"), command("status", frozen.root)):
        assert found.exit_code == 2, found.output
        (line,) = found.stderr.splitlines()
        assert line.startswith(f"error: {part}: {told}")


def test_a_lock_nested_beyond_reading_is_no_lock(study, command):
    frozen = study(items=2)
    lock = frozen.root / "frozen/lock.json"
    lock.parent.chmod(0o755)
    lock.chmod(0o644)
    lock.write_bytes(b"[" * 100_000)

    found = command("status", frozen.root)

    assert found.exit_code == 2
    assert "lock.json: nested too deep to be read" in found.stderr
