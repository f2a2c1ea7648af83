"""Sealing: one row a planned call, a ledger that closes, nothing ever overwritten."""

import json
import stat

import pyarrow.parquet as pq
import pytest

from judgeaudit.canonical import file_digest
from judgeaudit.errors import EvidenceError, GuardError, InputError
from judgeaudit.evidence.log.files import create, publish
from judgeaudit.evidence.log.journal import Journal
from judgeaudit.evidence.log.load import load_attempts, load_readings
from judgeaudit.evidence.log.records import Reservation
from judgeaudit.evidence.log.rows import attempt_of, rows_of
from judgeaudit.evidence.log.runs import (
    journal_path,
    sealed_path,
    sealed_runs,
    start,
    unsealed_runs,
)
from judgeaudit.evidence.log.seal import seal_run
from judgeaudit.model import Outcome, Reason


@pytest.fixture
def log(tmp_path):
    return tmp_path / "log"


@pytest.fixture
def calls(kit):
    return kit.calls_in("d1w1", kit.plan())


@pytest.fixture
def seal(kit, log, calls):
    return lambda **changes: seal_run(
        log, "d1w1", calls, **{"lock_digest": kit.LOCK, "derive": kit.derive, **changes}
    )


@pytest.fixture
def partial(kit, log, calls):
    """A finished run: preflight, one answer, one lost, one skipped, the rest unsent."""
    with start(log, kit.opening("d1w1"), calls) as journal:
        ids = {"body_sha256": kit.LOCK, "canonical_sha256": kit.LOCK, "reserved_at": kit.START}
        ready = Reservation.preflight("a", call_id="preflight-a-1", attempt=1, window="d1w1", **ids)
        journal.reserve_blocking(ready)
        journal.outcome(
            kit.attempt(calls[0], call_id="preflight-a-1", condition="preflight", **ids)
        )
        a, b = ([call for call in calls if call.endpoint == name] for name in "ab")
        journal.reserve_blocking(kit.reservation(a[0]))
        journal.outcome(kit.attempt(a[0], score=3))
        journal.reserve_blocking(kit.reservation(b[0]))
        journal.void(b[0].call_id, "cancelled")
        journal.skip(a[1], Reason.NO_MEMORY, kit.START)
        journal.seal(kit.START + 9, {"a": Reason.WINDOW_CLOSED, "b": Reason.CAP_REACHED})


def test_every_planned_call_has_one_row_also_when_nothing_came_back(partial, seal, log):
    seal()

    rows = load_readings(log).select(["call_id", "status", "reason", "number"]).to_pylist()
    assert [tuple(row.values()) for row in rows] == [
        ("a-d1w1-q0", "ok", None, 3.0),
        ("b-d1w1-q0", "invalid", "unresolved", None),
        ("a-d1w1-q1", "invalid", "no_memory", None),
        ("b-d1w1-q1", "invalid", "cap_reached", None),
        ("a-d1w1-q2", "invalid", "window_closed", None),
        ("b-d1w1-q2", "invalid", "cap_reached", None),
    ]


def test_the_manifest_closes_the_ledger_with_preflight_apart(partial, seal):
    """By hand: two attempts for planned calls, one answered, one unresolved; one preflight."""
    ledger = seal()["ledger"]

    def bars(book):
        return [book[name] for name in ("attempts", "response", "transport", "unresolved")]

    assert bars(ledger["calls"]) == [2, 1, 0, 1]
    assert bars(ledger["endpoints"]["a"]) == [1, 1, 0, 0]
    assert bars(ledger["endpoints"]["b"]) == [1, 0, 0, 1]
    assert bars(ledger["preflight"]) == [1, 1, 0, 0]


def test_the_manifest_counts_readings_by_status(partial, seal):
    assert seal()["readings"] == {
        "planned": 6,
        "by_status": {
            "cap_reached": 2,
            "no_memory": 1,
            "ok": 1,
            "unresolved": 1,
            "window_closed": 1,
        },
    }


def test_attempts_stand_in_plan_order_after_preflight(partial, seal, log):
    seal()

    ids = load_attempts(log, ["call_id"]).column("call_id").to_pylist()
    assert ids == ["preflight-a-1", "a-d1w1-q0", "b-d1w1-q0"]


def test_an_attempt_reads_back_from_parquet_as_it_was_stored(kit, log, calls, seal):
    """All fields, times to the nanosecond, bodies to the byte."""
    with start(log, kit.opening("d1w1"), calls) as journal:
        journal.reserve_blocking(kit.reservation(calls[0], at=kit.START + 1))
        stored = journal.outcome(
            kit.attempt(calls[0], at=kit.START + 1, ttfb_ms=0.1 + 0.2, reasoning_tokens=0)
        )
        journal.seal(kit.START, {"a": Reason.STOPPED_BY_RULE, "b": Reason.STOPPED_BY_RULE})
    seal()

    table = pq.read_table(sealed_path(log, "d1w1") / "attempts.parquet")
    (row,) = rows_of(table.to_batches()[0])
    assert attempt_of(row) == stored


def test_a_resumed_run_seals_to_the_rows_of_an_uninterrupted_one(kit, tmp_path, calls):
    """Order of arrival and interruption leave no trace in the readings' chain."""
    heads = []
    for number, order in enumerate([(0, 1), (1, 0)]):
        log = tmp_path / str(number)
        journal = start(log, kit.opening("d1w1"), calls)
        for pair in (calls[:2], calls[2:4], calls[4:]):
            for call in pair:
                journal.reserve_blocking(kit.reservation(call))
            for position in order:
                journal.outcome(kit.attempt(pair[position], score=position))
            if number:
                journal.close()
                journal = start(log, kit.opening("d1w1"), calls)
        journal.seal(kit.START + 9)
        manifest = seal_run(log, "d1w1", calls, kit.LOCK, kit.derive)
        heads.append({name: part["head"] for name, part in manifest["parts"].items()})

    assert heads[0] == heads[1]


def test_the_manifest_names_every_file_by_its_digest(partial, seal, log):
    manifest = seal()

    for name, part in manifest["parts"].items():
        path = sealed_path(log, "d1w1") / name
        assert part["digest"] == file_digest(path)
        assert (part["bytes"], part["rows"]) == (
            path.stat().st_size,
            pq.read_metadata(path).num_rows,
        )
    assert manifest["journal"]["digest"] == file_digest(journal_path(log, "d1w1"))


def test_sealed_files_are_read_only(partial, seal, log):
    seal()

    modes = {p.name: stat.S_IMODE(p.stat().st_mode) for p in sealed_path(log, "d1w1").iterdir()}
    assert set(modes) == {"attempts.parquet", "readings.parquet", "manifest.json"}
    assert set(modes.values()) == {0o444}


def test_sealing_again_changes_nothing(partial, seal, log):
    first = seal()
    before = {p: p.stat().st_mtime_ns for p in sealed_path(log, "d1w1").iterdir()}

    assert seal() == first
    assert {p: p.stat().st_mtime_ns for p in sealed_path(log, "d1w1").iterdir()} == before


def test_an_interrupted_sealing_leaves_no_run_and_starts_over(partial, seal, log, kit):
    def breaks(attempts, call):
        raise RuntimeError("power cut")

    with pytest.raises(RuntimeError):
        seal(derive=breaks)
    assert not sealed_path(log, "d1w1").exists()
    assert sealed_runs(log) == []

    assert seal()["readings"]["planned"] == 6
    assert [p.name for p in (log / "sealed").iterdir()] == ["d1w1"]


def test_an_existing_folder_is_never_overwritten(partial, seal, log):
    folder = sealed_path(log, "d1w1")
    folder.mkdir(parents=True)
    (folder / "somebody's.txt").write_text("x")

    with pytest.raises(EvidenceError, match=r"manifest\.json: missing"):
        seal()
    assert [p.name for p in folder.iterdir()] == ["somebody's.txt"]


def test_an_unfinished_run_is_not_sealed(kit, log, calls, seal):
    start(log, kit.opening("d1w1"), calls).close()

    with pytest.raises(GuardError, match="the run is not finished"):
        seal()


def test_a_run_of_another_lock_is_not_sealed(partial, seal):
    with pytest.raises(EvidenceError, match="lock_digest expected sha256:0000"):
        seal(lock_digest="sha256:" + "0" * 64)


def test_manifests_form_a_chain(kit, log):
    for window in kit.WINDOWS:
        kit.collect(log, window, kit.plan())

    runs = sealed_runs(log)
    assert [run.name for run in runs] == list(kit.WINDOWS)
    assert [run.manifest["previous_manifest"] for run in runs] == [
        None,
        runs[0].digest,
        runs[1].digest,
    ]


def test_a_run_begins_only_when_the_one_before_is_sealed(kit, log, calls):
    """Two unsealed runs would be two successors of one manifest; one could never be sealed."""
    start(log, kit.opening("d1w1"), calls).close()

    assert unsealed_runs(log) == ["d1w1"]
    with pytest.raises(GuardError, match="run 'd1w1' is not sealed yet"):
        start(log, kit.opening("d1w2"), kit.calls_in("d1w2", kit.plan()))


def test_a_sealed_run_is_not_started_again(partial, seal, kit, log, calls):
    seal()

    with pytest.raises(GuardError, match="the run is sealed"):
        start(log, kit.opening("d1w1"), calls)


def test_no_secret_is_in_any_sealed_file_decompressed(kit, log, calls, seal):
    key = "sk-very-secret-key"
    with start(log, kit.opening("d1w1"), calls, secrets=[key]) as journal:
        journal.reserve_blocking(kit.reservation(calls[0]))
        body = json.dumps({"score": f"Bearer {key}"}).encode()
        journal.outcome(kit.attempt(calls[0], response_body=body, model_returned=key))
        journal.seal(kit.START, {"a": Reason.CAP_REACHED, "b": Reason.CAP_REACHED})
    seal()

    texts = [repr(load_attempts(log).to_pylist()), repr(load_readings(log).to_pylist())]
    texts += [p.read_bytes().decode("latin-1") for p in log.rglob("*") if p.is_file()]
    assert not [text for text in texts if key in text]
    assert load_attempts(log, ["redacted"]).column("redacted").to_pylist() == [True]


def test_a_lone_surrogate_in_a_reply_does_not_stop_the_sealing(kit, log, calls, seal):
    with start(log, kit.opening("d1w1"), calls) as journal:
        journal.reserve_blocking(kit.reservation(calls[0]))
        journal.outcome(kit.attempt(calls[0], score="\ud800", fingerprint="\ud800"))
        journal.seal(kit.START, {"a": Reason.CAP_REACHED, "b": Reason.CAP_REACHED})
    seal()

    assert load_readings(log, ["detail"]).column("detail").to_pylist()[0] == "?"
    assert load_attempts(log, ["fingerprint"]).column("fingerprint").to_pylist() == ["?"]


def test_runs_are_loaded_in_the_order_in_which_they_were_sealed(kit, log):
    for window in kit.WINDOWS:
        kit.collect(log, window, kit.plan())

    windows = load_readings(log, ["window"]).column("window").to_pylist()
    assert windows == ["d1w1"] * 6 + ["d1w2"] * 6 + ["d1w3"] * 6
    assert load_attempts(log).num_rows == 21


def test_a_log_without_runs_loads_as_an_empty_table_with_its_columns(log):
    assert load_readings(log, ["call_id", "number"]).schema.names == ["call_id", "number"]
    assert load_attempts(log).num_rows == 0


def test_an_unknown_column_is_named(log):
    with pytest.raises(InputError, match="no column 'colour'"):
        load_readings(log, ["colour"])


def test_a_log_is_read_through_any_pyarrow_file_system(kit, log, tmp_path):
    from pyarrow import fs

    kit.collect(log, "d1w1", kit.plan())
    inside = fs.SubTreeFileSystem(str(tmp_path), fs.LocalFileSystem())

    assert load_readings("log", filesystem=inside).num_rows == 6


def test_timeouts_are_the_transport_bar(kit, log, calls, seal):
    with start(log, kit.opening("d1w1"), calls) as journal:
        for number, outcome in enumerate([Outcome.TIMEOUT, Outcome.CANCELLED, Outcome.OK], 1):
            journal.reserve_blocking(kit.reservation(calls[0], number))
            journal.outcome(kit.attempt(calls[0], number, outcome=outcome))
        journal.seal(kit.START, {"a": Reason.CAP_REACHED, "b": Reason.CAP_REACHED})

    book = seal()["ledger"]["calls"]
    assert (book["response"], book["transport"]) == (1, 2)


def test_a_journal_of_another_plan_is_not_sealed(partial, kit, log, calls):
    with pytest.raises(GuardError, match=r"call 'a-d1w1-q0' is not in the plan"):
        seal_run(log, "d1w1", calls[2:], kit.LOCK, kit.derive)


def test_a_run_that_began_after_another_manifest_is_not_sealed(kit, log, calls, seal):
    opening = kit.opening("d1w1", previous_manifest="sha256:" + "0" * 64)
    missing = {"a": Reason.CAP_REACHED, "b": Reason.CAP_REACHED}
    Journal.open(journal_path(log, "d1w1"), opening, calls).seal(kit.START, missing)

    with pytest.raises(GuardError, match="the last sealed one is None"):
        seal()


def test_the_order_of_the_given_calls_does_not_matter(partial, kit, log, calls):
    seal_run(log, "d1w1", calls[::-1], kit.LOCK, kit.derive)

    assert load_readings(log, ["plan_index"]).column("plan_index").to_pylist() == [*range(6)]


def test_publishing_refuses_a_folder_that_exists_also_an_empty_one(tmp_path):
    made, final = tmp_path / "made", tmp_path / "final"
    made.mkdir()
    final.mkdir()

    with pytest.raises(FileExistsError, match="final"):
        publish(made, final)
    assert made.exists()


def test_a_created_file_appears_whole_and_never_over_another(tmp_path):
    create(tmp_path / "new" / "file", b"one")
    with pytest.raises(FileExistsError):
        create(tmp_path / "new" / "file", b"two")

    assert [(p.name, p.read_bytes()) for p in (tmp_path / "new").iterdir()] == [("file", b"one")]


def test_a_file_system_without_links_still_creates_exclusively(tmp_path, monkeypatch):
    def refuses(*_):
        raise PermissionError(1, "no links here")

    monkeypatch.setattr("judgeaudit.evidence.log.files.os.link", refuses)
    create(tmp_path / "file", b"one")
    with pytest.raises(FileExistsError):
        create(tmp_path / "file", b"two")

    assert [(p.name, p.read_bytes()) for p in tmp_path.iterdir()] == [("file", b"one")]
