"""Lesson to choice as evidence: bodies follow from sealed lessons, and a change is found."""

import json
import shutil

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from judgeaudit.canonical import canonical_bytes, digest, digest_of
from judgeaudit.evidence.lock.stage_files import stage_content


@pytest.fixture
def copy(sealed, tmp_path):
    """The sealed study in a folder whose files may be written."""
    root = tmp_path / "copy"
    shutil.copytree(sealed.root, root)
    for path in root.rglob("*"):
        path.chmod(0o755 if path.is_dir() else 0o644)
    return root


def rewrite(path, change):
    """Change rows of a Parquet file by `change(rows)`, schema and metadata kept."""
    table = pq.read_table(path)
    rows = table.to_pylist()
    told = change(rows)
    pq.write_table(pa.Table.from_pylist(rows, schema=table.schema), path)
    return told


def reverse_a_word(rows):
    """One byte of the first lesson's stored response: `worked` or `failed` loses its d."""
    for row in rows:
        body = row["response_body"]
        for word in (b"succeeded. Next", b"failed. Next"):
            if word in body:
                row["response_body"] = body.replace(word, word.replace(b"d. Next", b"r. Next"))
                return row["call_id"]
    raise AssertionError("no lesson found")


def test_an_untouched_study_verifies(command, copy):
    result = command("verify", copy)

    assert result.exit_code == 0, result.output
    assert "verified" in result.stderr


def test_the_stage_lock_extends_the_studys_lock_and_the_sealed_lessons(sealed):
    lock = json.loads((sealed.root / "frozen" / "stage-2" / "lock.json").read_bytes())
    manifest = (sealed.root / "log" / "sealed" / "d1w1" / "manifest.json").read_bytes()

    assert lock["extends"]["lock"] == str(digest((sealed.root / "frozen/lock.json").read_bytes()))
    assert lock["extends"]["manifests"] == {"d1w1": str(digest(manifest))}


def test_one_changed_byte_of_a_lesson_is_found_and_named(command, copy):
    """The file, the call and both digests stand in the finding."""
    path = copy / "log" / "sealed" / "d1w1" / "attempts.parquet"
    call_id = rewrite(path, reverse_a_word)

    result = command("verify", copy)

    assert result.exit_code == 1
    named = [line for line in result.stdout.splitlines() if call_id in line]
    assert named
    assert "attempts.parquet" in named[0]
    assert named[0].count("sha256:") >= 2


def test_a_memory_that_no_lesson_wrote_is_found_although_every_lock_fits(command, copy):
    """Bodies, calls and stage lock are replaced together: only the derivation can tell."""
    folder = copy / "frozen" / "stage-2"
    swapped = {}

    def change(rows):
        row = next(row for row in rows if b"because it failed" in row["body"])
        body = row["body"].replace(b"because it failed", b"because it is bad")
        swapped[row["body_sha256"]] = str(digest(body))
        row["body"], row["body_sha256"] = body, str(digest(body))

    def follow(rows):
        for row in rows:
            row["body_sha256"] = swapped.get(row["body_sha256"], row["body_sha256"])

    rewrite(folder / "bodies.parquet", change)
    rewrite(folder / "calls.parquet", follow)
    lock = json.loads((folder / "lock.json").read_bytes())
    calls, bodies = (pq.read_table(folder / f"{n}.parquet") for n in ("calls", "bodies"))
    lock["content"] = stage_content(calls, bodies)
    lock["content_sha256"] = str(digest_of(lock["content"]))
    (folder / "lock.json").write_bytes(canonical_bytes(lock))

    result = command("prereg", "verify", copy)

    assert result.exit_code == 1
    assert "stage-2/bodies.parquet" in result.stdout
    assert next(iter(swapped.values())) in result.stdout


def test_every_body_of_stage_2_is_the_one_that_its_lesson_gives(sealed):
    """Each sent body's digest is that of the frozen bytes, and these hold the sealed lesson."""
    sent = {a["call_id"]: a["body_sha256"] for a in sealed.attempts}

    for call in sealed.calls():
        body = sealed.frozen.body_of(call)
        if body is not None:
            assert sent[call.call_id] == call.body_sha256 == str(digest(body.request.body))
