"""Derived again: what differs is named by file, row and digest."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from judgeaudit.canonical import canonical_bytes, digest_of
from judgeaudit.design.tables import rows_digest
from judgeaudit.errors import InputError
from judgeaudit.evidence.lock.files import freeze
from judgeaudit.evidence.lock.verify import verify_frozen


@pytest.fixture
def frozen(make, facts):
    root = make()
    freeze(root, facts)
    return root / "frozen"


def rewrite(path, change):
    table = change(pq.read_table(path))
    path.unlink()
    pq.write_table(table, path)
    return table


def relock(folder, **parts):
    """Make a lock that fits what was replaced, as somebody who knows the format would."""
    path = folder / "lock.json"
    lock = json.loads(path.read_bytes())
    for name, table in parts.items():
        lock["content"][name] = {"rows": table.num_rows, "sha256": rows_digest(table)}
    lock["content_sha256"] = digest_of(lock["content"])
    path.chmod(0o644)
    path.write_bytes(canonical_bytes(lock))


def with_value(table, column, row, value):
    values = table.column(column).to_pylist()
    values[row] = value
    at = table.schema.get_field_index(column)
    return table.set_column(at, table.schema.field(at), pa.array(values, table.schema.types[at]))


def test_a_sound_study_has_no_findings(frozen):
    assert verify_frozen(frozen.parent) == []


def test_a_changed_row_of_the_plan_is_named_with_both_values(frozen):
    rewrite(frozen / "plan.parquet", lambda table: with_value(table, "item", 5, "i0x"))

    findings = "\n".join(verify_frozen(frozen.parent))

    assert "plan.parquet: 68 rows with digest sha256:" in findings
    assert "plan.parquet: row 5: item is 'i0x', derived again 'i" in findings


def test_a_plan_replaced_together_with_its_lock_fails_the_derivation(frozen):
    """Every digest fits; the plan is still not what the registration gives."""
    plan = rewrite(frozen / "plan.parquet", lambda table: table.slice(0, 60))
    relock(frozen, plan=plan)

    findings = verify_frozen(frozen.parent)

    assert any("lock.json: derived again from the frozen inputs, plan:" in f for f in findings)
    assert any("plan.parquet: 60 rows, derived again 68" in f for f in findings)


def test_one_changed_byte_of_a_body_is_named(frozen):
    def change(table):
        body = table.column("body")[3].as_py()
        return with_value(table, "body", 3, body.replace(b"judge-a", b"judge-x", 1))

    bodies = rewrite(frozen / "bodies.parquet", change)
    relock(frozen, bodies=bodies)

    findings = "\n".join(verify_frozen(frozen.parent))

    assert "bodies.parquet: row 3: body: digest sha256:" in findings


def test_an_edited_lock_is_named_with_both_digests(frozen, edit):
    edit(frozen / "lock.json", '"rows":68', '"rows":69')

    (finding,) = verify_frozen(frozen.parent)

    assert "lock.json: content has digest sha256:" in finding
    assert "the lock was edited" in finding


def test_an_edited_working_copy_is_a_finding_too(frozen, edit):
    edit(frozen.parent / "items.jsonl", "What is 3", "What is 4")

    (finding,) = verify_frozen(frozen.parent)

    assert "items.jsonl" in finding
    assert "prereg amend" in finding


def test_a_changed_item_is_found_in_its_file_and_in_the_rows_that_follow_from_it(frozen, edit):
    edit(frozen / "items.jsonl", "What is 3", "What is 4")

    findings = verify_frozen(frozen.parent)

    assert any("items.jsonl: digest" in finding for finding in findings)
    assert any("bodies.parquet: row " in finding for finding in findings)


def test_many_changed_rows_are_counted(frozen):
    rewrite(
        frozen / "plan.parquet",
        lambda t: t.set_column(10, t.schema.field(10), pa.array([f"w{n}" for n in range(68)])),
    )

    findings = verify_frozen(frozen.parent)

    assert sum("row " in finding for finding in findings) == 5
    assert any("63 more rows differ" in finding for finding in findings)


def test_a_study_that_was_never_frozen_is_no_finding(make):
    with pytest.raises(InputError, match="prereg freeze"):
        verify_frozen(make())
