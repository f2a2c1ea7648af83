"""Verification finds every damage, names file, row and digest, and finds nothing in a sound log."""

import dataclasses
import json
import shutil
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from judgeaudit.canonical import file_digest
from judgeaudit.errors import EvidenceError
from judgeaudit.evidence.formats.catalogue import TODAY
from judgeaudit.evidence.log.chain import Chain, genesis, row_digest
from judgeaudit.evidence.log.finding import Defect
from judgeaudit.evidence.log.manifest import manifest_bytes
from judgeaudit.evidence.log.records import Kind
from judgeaudit.evidence.log.rows import rows_of
from judgeaudit.evidence.log.runs import sealed_runs
from judgeaudit.evidence.log.schema import PREVIOUS, ROW, schema
from judgeaudit.evidence.log.verify import verify_log
from judgeaudit.model import Reading, Value

DAMAGED = Path(__file__).parents[2] / "damaged"
NAMES = [
    "sound",
    "altered-byte",
    "altered-value",
    "dropped-row",
    "reordered-rows",
    "swapped-part",
    "missing-run",
    "edited-manifest",
    "altered-journal",
]


@pytest.fixture
def check(kit):
    """Verify a log against the synthetic plan."""
    return lambda log, **changes: verify_log(
        log, **{"plan": kit.plan(), "lock_digest": kit.LOCK, "derive": kit.derive, **changes}
    )


@pytest.fixture
def log(kit, tmp_path):
    """A sound log of two runs."""
    kit.sound(tmp_path / "log", kit.WINDOWS[:2])
    return tmp_path / "log"


def defects(findings):
    return [finding.defect.value for finding in findings]


def test_each_log_specimen_is_tested(kit):
    assert set(NAMES) <= set(kit.SPECIMENS)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("source", ["kept", "made anew"])
def test_each_specimen_has_its_finding(kit, check, tmp_path, name, source):
    folder = DAMAGED if source == "kept" else tmp_path
    log = folder / name / "log" if source == "kept" else kit.make(folder, name)

    found, expected = defects(check(log)), kit.SPECIMENS[name][1]

    assert found if expected else found == []
    assert expected is None or expected in found


@pytest.mark.parametrize(
    ("name", "file", "row", "call_id"),
    [
        ("altered-byte", "attempts.parquet", 1, "b-d1w2-q0"),
        ("altered-value", "readings.parquet", 4, "a-d1w2-q2"),
        ("dropped-row", "attempts.parquet", 3, "a-d1w2-q1"),
        ("reordered-rows", "readings.parquet", 1, "a-d1w2-q1"),
    ],
)
def test_damage_to_a_row_names_file_row_call_and_digests(check, kit, name, file, row, call_id):
    """Rows by hand: 0 a-q0, 1 b-q0 (503), 2 b-q0 again, 3 a-q1, 4 b-q1, 5 a-q2, 6 b-q2."""
    findings = {finding.defect.value: finding for finding in check(DAMAGED / name / "log")}
    finding = findings[kit.SPECIMENS[name][1]]

    assert (finding.file.name, finding.row, finding.call_id) == (file, row, call_id)
    assert str(finding.expected).startswith("sha256:")
    assert str(finding.got).startswith("sha256:")
    assert f"{file}: row {row}: call {call_id}: " in str(finding)


def test_a_changed_file_is_named_with_both_digests(check, log, kit):
    path = log / "sealed" / "d1w1" / "attempts.parquet"
    said = file_digest(path)
    kit.rewrite(path, lambda table: table)

    (finding,) = check(log)

    assert (finding.defect, finding.file) == (Defect.ALTERED_FILE, path)
    assert (finding.expected, finding.got) == (said, file_digest(path))


def forge(log, run, part, change, kit):
    """Rewrite a part with changed rows, a new chain, and a manifest that fits: a careful forger."""
    folder = log / "sealed" / run
    path = folder / part
    rows = [row for batch in pq.read_table(path).to_batches() for row in rows_of(batch)]
    head, made = genesis(run, part, kit.LOCK), []
    for row in change(rows):
        plain = {name: value for name, value in row.items() if name not in (PREVIOUS, ROW)}
        previous, head = head, row_digest(head, plain)
        made.append({**plain, PREVIOUS: previous, ROW: head})
    columns = schema(part, run=run, lock_digest=kit.LOCK, writer="0.1.0", log=TODAY)
    path.chmod(0o644)
    pq.write_table(pa.Table.from_pylist(made, schema=columns), path)
    manifest = json.loads((folder / "manifest.json").read_bytes())
    manifest["parts"][part] = {
        "digest": file_digest(path),
        "bytes": path.stat().st_size,
        "rows": len(made),
        "head": head,
    }
    kit.overwrite(folder / "manifest.json", manifest_bytes(manifest))


def test_forged_attempts_differ_from_the_journal(check, log, kit):
    forge(
        log, "d1w2", "attempts.parquet", lambda rows: [{**row, "status": 200} for row in rows], kit
    )

    (finding,) = check(log)

    assert finding.defect is Defect.JOURNAL_DIFFERS
    assert (finding.row, finding.call_id) == (1, "b-d1w2-q0")
    assert "status differ" in finding.detail


def test_forged_readings_differ_from_a_new_derivation(check, log, kit):
    def better(rows):
        return [{**row, "number": 9.0} if row["number"] == 3.0 else row for row in rows]

    forge(log, "d1w2", "readings.parquet", better, kit)

    (finding,) = check(log)

    assert (finding.defect, finding.row) == (Defect.READING_DIFFERS, 3)
    assert "number differ" in finding.detail


def test_a_forged_drop_is_still_a_dropped_row(check, log, kit):
    forge(log, "d1w2", "attempts.parquet", lambda rows: rows[:-1], kit)

    (finding,) = check(log)

    assert (finding.defect, finding.row, finding.call_id) == (Defect.DROPPED_ROW, 6, "b-d1w2-q2")


def test_a_forged_addition_is_an_added_row(check, log, kit):
    def add(rows):
        return [*rows, {**rows[-1], "attempt": 2}]

    forge(log, "d1w2", "attempts.parquet", add, kit)

    (finding,) = check(log)

    assert (finding.defect, finding.row) == (Defect.ADDED_ROW, 7)


def test_another_rule_of_reading_shows_as_differing_readings(check, log, kit):
    def generous(attempts, call):
        reading = kit.derive(attempts, call)
        return dataclasses.replace(reading, value=Value(number=1.0))

    found = check(log, derive=generous)

    assert {f.defect for f in found} >= {Defect.READING_DIFFERS}
    assert isinstance(generous([kit.attempt(kit.plan()[0])], kit.plan()[0]), Reading)


def test_a_manifest_forged_in_the_middle_breaks_the_chain_to_the_next(check, log, kit):
    """The forged part fits its manifest; the next run was chained to another."""
    forge(log, "d1w1", "readings.parquet", lambda rows: rows, kit)

    (finding,) = check(log)

    assert finding.defect is Defect.EDITED_MANIFEST
    assert finding.file == log / "sealed" / "d1w1" / "manifest.json"


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("sealed_at", "1"),
        ("clock", "utc"),
        ("number", 7),
        ("lock_digest", "sha256:0"),
        ("run", "x"),
    ],
)
def test_any_edited_field_of_the_last_manifest_is_found(check, log, kit, field, value):
    path = log / "sealed" / "d1w2" / "manifest.json"
    manifest = json.loads(path.read_bytes())
    kit.overwrite(path, manifest_bytes({**manifest, field: value}))

    found = check(log)

    assert found
    assert any(finding.file == path for finding in found)


def test_a_ledger_that_does_not_close_is_found(check, log, kit):
    path = log / "sealed" / "d1w2" / "manifest.json"
    manifest = json.loads(path.read_bytes())
    manifest["ledger"]["calls"]["attempts"] += 1
    kit.overwrite(path, manifest_bytes(manifest))

    assert "ledger_open" in defects(check(log))


@pytest.mark.parametrize("data", [b"", b"{}", b"[]", b"\xff", b'{"format":"judgeaudit-run/1"}\n'])
def test_a_manifest_that_is_none_is_a_finding_and_no_crash(check, log, kit, data):
    kit.overwrite(log / "sealed" / "d1w2" / "manifest.json", data)

    found = check(log)

    assert found[0].defect is Defect.EDITED_MANIFEST
    with pytest.raises(EvidenceError, match=r"d1w2/manifest\.json: not (a manifest|JSON|UTF-8)"):
        sealed_runs(log)


def test_a_manifest_in_other_bytes_is_found_although_it_says_the_same(check, log, kit):
    path = log / "sealed" / "d1w2" / "manifest.json"
    kit.overwrite(path, json.dumps(json.loads(path.read_bytes()), indent=2).encode())

    assert "not the canonical bytes of its content" in check(log)[0].detail


@pytest.mark.parametrize(
    "change",
    [lambda t: t.drop_columns("call_id"), lambda t: t.append_column("x", t.column("status"))],
)
def test_a_part_with_other_columns_is_found_and_no_crash(check, log, kit, change):
    kit.rewrite(log / "sealed" / "d1w2" / "attempts.parquet", change)

    found = check(log)

    assert defects(found) == ["altered_file", "altered_file"]
    assert "is not the format's" in found[1].detail


def test_a_last_run_that_left_its_journal_is_missed(check, log):
    shutil.rmtree(log / "sealed" / "d1w2")

    (finding,) = check(log)

    assert finding.defect is Defect.MISSING_RUN
    assert finding.file == log / "journal" / "d1w2.jsonl"


def test_a_last_run_that_left_nothing_is_missed_by_its_noted_digest(check, log):
    """No folder can show this alone: without the noted digest nothing is found."""
    head = sealed_runs(log)[-1].digest
    assert check(log, expected_head=head) == []
    shutil.rmtree(log / "sealed" / "d1w2")
    (log / "journal" / "d1w2.jsonl").unlink()

    assert check(log) == []
    (finding,) = check(log, expected_head=head)
    assert (finding.defect, finding.expected) == (Defect.MISSING_RUN, head)


def test_a_journal_written_anew_differs_from_the_sealed_attempts(check, log, kit):
    """Every line is chained again, so that only the comparison can tell."""
    path = log / "journal" / "d1w2.jsonl"
    chain, made = Chain(), []
    for line in path.read_bytes().splitlines():
        record = json.loads(line)["record"]
        payload = {k: v for k, v in record.items() if k not in ("seq", "previous", "kind")}
        if payload.get("status") == 503:
            payload["status"] = 500
        link = chain.extend(Kind(record["kind"]), payload)
        chain.move_to(link)
        made.append(link.line)
    path.write_bytes(b"".join(made))

    found = check(log)

    assert defects(found) == ["journal_differs"] * 2
    assert (found[1].row, found[1].call_id) == (1, "b-d1w2-q0")


def test_a_removed_journal_is_found(check, log):
    (log / "journal" / "d1w1.jsonl").unlink()

    (finding,) = check(log)

    assert finding.defect is Defect.JOURNAL_BROKEN


def test_a_removed_part_is_found(check, log):
    (log / "sealed" / "d1w1" / "readings.parquet").unlink()

    assert defects(check(log)) == ["missing_part"]


def test_a_stray_file_is_found(check, log):
    (log / "sealed" / "d1w1" / "notes.txt").write_text("x")

    assert defects(check(log)) == ["stray"]


def test_a_run_whose_window_is_not_planned_is_found(check, log, kit):
    found = check(log, plan=kit.calls_in("d1w1", kit.plan()))

    assert "stray" in defects(found)


def test_a_part_of_another_study_is_refused_at_its_first_row(check, log, kit):
    """The log as it is, held against another lock."""
    found = check(log, lock_digest="sha256:" + "1" * 64)

    broken = [f for f in found if f.defect is Defect.BROKEN_CHAIN]
    assert [(f.file.name, f.row) for f in broken] == [
        ("attempts.parquet", 0),
        ("readings.parquet", 0),
    ] * 2
    assert "lock_digest expected sha256:1111" in found[0].detail


def test_an_unfinished_run_is_no_defect(check, log, kit):
    from judgeaudit.evidence.log.runs import start

    start(log, kit.opening("d1w3"), kit.calls_in("d1w3", kit.plan())).close()

    assert check(log) == []
