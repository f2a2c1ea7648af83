"""Freezing: once, whole, read-only; and what a frozen study is loaded as."""

import json
import os
from dataclasses import replace

import pyarrow.parquet as pq
import pytest

from judgeaudit.canonical import digest
from judgeaudit.design.tables import rows_digest
from judgeaudit.errors import EvidenceError, InputError, RegistrationError
from judgeaudit.evidence.lock import disk, files
from judgeaudit.evidence.lock.files import freeze, load_frozen


@pytest.fixture
def frozen(make, facts):
    """The small study, frozen."""
    root = make()
    freeze(root, facts)
    return root


def state(root):
    return {
        path.name: (path.read_bytes(), path.stat().st_mtime_ns)
        for path in (root / "frozen").iterdir()
    }


def test_freezing_again_writes_nothing(frozen, facts):
    """Also at another time, with another version: only the content decides."""
    before = state(frozen)
    later = replace(facts, frozen_at="2027-01-01T00:00:00+00:00", code_version="9")

    lock, written = freeze(frozen, later)

    assert not written
    assert lock.document["beside"]["code_version"] == "0.1.0"
    assert state(frozen) == before


def test_frozen_copies_are_byte_for_byte_and_read_only(frozen):
    for name in ("registration.toml", "protocol.toml", "items.jsonl", "controls.jsonl"):
        copy = frozen / "frozen" / name
        assert copy.read_bytes() == (frozen / name).read_bytes()
    assert {path.stat().st_mode & 0o222 for path in (frozen / "frozen").iterdir()} == {0}


def test_a_lock_is_canonical_and_names_every_digest(frozen):
    data = (frozen / "frozen" / "lock.json").read_bytes()
    content = json.loads(data)["content"]

    assert content["files"]["items.jsonl"] == digest((frozen / "items.jsonl").read_bytes())
    # The control reads like item 0 and shares its body: 8 bodies at each of 2 endpoints.
    assert (content["plan"]["rows"], content["bodies"]["rows"]) == (68, 16)
    assert load_frozen(frozen).lock_digest == digest(data)


def test_a_changed_input_is_refused_with_both_digests_and_the_way_out(frozen, facts, edit):
    edit(frozen / "protocol.toml", "max_tokens = 16", "max_tokens = 9")
    was = digest((frozen / "frozen" / "protocol.toml").read_bytes())
    now = digest((frozen / "protocol.toml").read_bytes())

    for act in (lambda: freeze(frozen, facts), lambda: load_frozen(frozen)):
        with pytest.raises(EvidenceError) as caught:
            act()
        assert {was, now} <= set(str(caught.value).replace(";", " ").split())
        assert "prereg amend" in str(caught.value)


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("registration.toml", "cap = 1000", "cap = 9999"),
        ("items.jsonl", "What is 3", "What is 4"),
        ("lock.json", '"rows":68', '"rows":69'),
    ],
)
def test_a_frozen_file_that_differs_from_its_lock_is_refused(frozen, edit, name, old, new):
    edit(frozen / "frozen" / name, old, new)

    with pytest.raises(EvidenceError, match=name):
        load_frozen(frozen)


def test_a_missing_frozen_file_is_named(frozen):
    (frozen / "frozen" / "controls.jsonl").unlink()

    with pytest.raises(EvidenceError, match=r"controls\.jsonl: missing, but the lock has it"):
        load_frozen(frozen)


def test_a_replaced_plan_is_refused_with_both_digests(frozen):
    path = frozen / "frozen" / "plan.parquet"
    table = pq.read_table(path)
    path.unlink()
    pq.write_table(table.slice(1), path)

    with pytest.raises(EvidenceError, match=r"67 rows with digest sha256:.* 68 rows with sha256:"):
        load_frozen(frozen)


def test_a_file_that_is_no_parquet_is_told_in_one_line(frozen):
    path = frozen / "frozen" / "bodies.parquet"
    path.chmod(0o644)
    path.write_bytes(b"PAR0")

    with pytest.raises(EvidenceError, match=r"bodies\.parquet: cannot be read"):
        load_frozen(frozen)


def test_digests_of_rows_do_not_depend_on_how_parquet_was_written(frozen):
    """Another compression, other row groups: another file, the same rows."""
    path = frozen / "frozen" / "plan.parquet"
    table = pq.read_table(path)
    before = path.read_bytes()
    path.unlink()
    pq.write_table(table, path, compression="gzip", row_group_size=10)

    assert path.read_bytes() != before
    assert rows_digest(pq.read_table(path)) == rows_digest(table)
    assert len(load_frozen(frozen).plan) == 68


def test_a_study_that_is_not_frozen_says_so(make):
    with pytest.raises(InputError, match="prereg freeze"):
        load_frozen(make())


def test_a_freeze_that_is_cut_short_leaves_nothing(make, facts, monkeypatch):
    root = make()

    def full_disk(path, data):
        if path.name == "lock.json":
            raise OSError(28, "No space left on device")
        path.write_bytes(data)

    monkeypatch.setattr(disk, "write_bytes", full_disk)
    with pytest.raises(OSError, match="No space"):
        freeze(root, facts)

    names = {path.name for path in root.iterdir()}
    assert names == {"registration.toml", "protocol.toml", "items.jsonl", "controls.jsonl"}


def test_a_draft_that_cannot_be_read_is_not_frozen(make, facts):
    root = make(replace={"cap = 1000": 'cap = "many"'})

    with pytest.raises(RegistrationError, match=r"schedule\.cap"):
        freeze(root, facts)
    assert not (root / "frozen").exists()


def test_a_frozen_study_stands_without_its_working_copies(frozen):
    for name in ("registration.toml", "protocol.toml", "items.jsonl", "controls.jsonl"):
        os.unlink(frozen / name)

    assert len(load_frozen(frozen).plan) == 68


def test_a_call_leads_to_its_item_readout_and_body(frozen):
    study = load_frozen(frozen)
    call = next(c for c in study.plan if c.item == "i3" and c.endpoint == "b")
    body = study.body_of(call)

    assert json.loads(body.request.body)["model"] == "judge-b"
    assert b"What is 3 + 1?" in body.request.body
    assert digest(body.request.body) == body.body_sha256 == call.body_sha256
    assert study.readout_of(call).record.name == "score"
    assert study.calls_of(call.window, "b")[0].plan_index < call.plan_index + 1
    assert study.call(call.call_id) == call
    with pytest.raises(InputError, match="no endpoint 'z'; known: a, b"):
        study.endpoint("z")


def test_endpoints_that_share_a_body_keep_headers_of_their_own(make, facts):
    """Two endpoints with one model send one body to two places."""
    changes = {'model = "judge-b"': 'model = "judge-a"\nheaders = { x-region = "north" }'}
    root = make(replace=changes)
    freeze(root, facts)
    study = load_frozen(root)
    a, b = (next(c for c in study.plan if c.endpoint == e and c.item == "i1") for e in "ab")

    assert a.body_sha256 == b.body_sha256
    assert ("x-region", "north") not in study.body_of(a).request.headers
    assert ("x-region", "north") in study.body_of(b).request.headers


def test_one_prompt_can_be_followed_over_endpoints(frozen):
    study = load_frozen(frozen)
    a, b = (next(c for c in study.plan if c.endpoint == e and c.item == "i1") for e in "ab")

    assert study.body_of(a).body_sha256 != study.body_of(b).body_sha256
    assert study.body_of(a).prompt_sha256 == study.body_of(b).prompt_sha256


def test_a_decoding_override_reaches_the_body_of_its_endpoint_alone(make, facts):
    changes = {'model = "judge-b"': 'model = "judge-b"\ndecoding = { temperature = "unset" }'}
    root = make(replace=changes)
    freeze(root, facts)
    study = load_frozen(root)
    sent = {
        name: json.loads(study.body_of(study.calls_of("d1w1", name)[0]).request.body)
        for name in "ab"
    }

    assert sent["a"]["temperature"] == 0
    assert "temperature" not in sent["b"]


def test_load_study_and_freeze_are_where_they_are_promised():
    assert {"freeze", "load_frozen", "load_study"} <= set(files.__all__)
