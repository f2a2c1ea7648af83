"""Chained lines and rows: what each failed check means."""

import hashlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgeaudit.canonical import canonical_bytes, record_bytes
from judgeaudit.errors import EvidenceError, InputError
from judgeaudit.evidence.log.chain import Chain, ChainReader, frame, genesis, row_digest
from judgeaudit.evidence.log.records import Kind


def lines(count=4):
    chain, made = Chain(), []
    for number in range(count):
        link = chain.extend(Kind.EVENT, {"name": f"e{number}", "at": "0", "data": None})
        chain.move_to(link)
        made.append(link.line)
    return made


def read(given_lines):
    reader = ChainReader(given_lines, "run.jsonl")
    return [entry.record["name"] for entry in reader], reader


def test_a_line_is_canonical_json_and_its_digest_covers_the_record():
    line = lines(1)[0]
    whole = json.loads(line)

    assert line == canonical_bytes(whole) + b"\n"
    record = canonical_bytes(whole["record"])
    assert whole["digest"] == "sha256:" + hashlib.sha256(record).hexdigest()


def test_each_record_names_the_one_before():
    one, two = (json.loads(line) for line in lines(2))

    assert one["record"]["previous"] is None
    assert two["record"]["previous"] == one["digest"]


def test_an_intact_chain_is_read_whole():
    names, reader = read(lines())

    assert names == ["e0", "e1", "e2", "e3"]
    assert (reader.torn, reader.length) == (0, sum(map(len, lines())))


@pytest.mark.parametrize("cut", [1, 50, 100])
def test_a_torn_last_line_is_dropped_and_reported(cut):
    made = lines()
    made[-1] = made[-1][:-cut]

    names, reader = read(made)

    assert names == ["e0", "e1", "e2"]
    assert reader.torn == len(made[-1])


@pytest.mark.parametrize("position", range(0, 200, 3))
def test_any_altered_byte_of_a_line_is_refused_with_its_line_number(position):
    made = lines()
    line = bytearray(made[1])
    line[position % (len(line) - 1)] ^= 1

    with pytest.raises(EvidenceError, match=r"run\.jsonl: line 2: "):
        read([made[0], bytes(line), *made[2:]])


def test_an_altered_record_is_told_with_both_digests():
    made = lines()
    digest = json.loads(made[1])["digest"]

    with pytest.raises(EvidenceError, match=f"expected {digest}, got sha256:[0-9a-f]{{64}}"):
        read([made[0], made[1].replace(b'"e1"', b'"e7"'), *made[2:]])


@pytest.mark.parametrize(
    ("order", "line"), [([0, 2, 3], 2), ([0, 2, 1, 3], 2), ([0, 1, 1, 2], 3), ([1, 2, 3], 1)]
)
def test_a_missing_moved_or_doubled_line_breaks_the_chain(order, line):
    made = lines()

    with pytest.raises(EvidenceError, match=rf"line {line}: chain broken: expected previous"):
        read([made[i] for i in order])


def test_a_record_with_another_number_is_refused_although_its_digests_fit():
    chain = Chain()
    line = chain.extend(Kind.EVENT, {"name": "e", "at": "0", "data": None}).line
    record = {**json.loads(line)["record"], "seq": 5}
    forged = frame(record_bytes(record))[0]

    with pytest.raises(EvidenceError, match="line 1: chain broken: expected seq 0, got 5"):
        read([forged])


def test_a_line_that_is_torn_before_the_last_is_refused():
    made = lines()
    glued = made[1][:-20] + made[2]

    with pytest.raises(EvidenceError, match="line 2: "):
        read([made[0], glued, made[3]])


json_text = st.text(st.characters(exclude_categories=["Cs"]))
flat = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | json_text,
    lambda inner: (
        st.lists(inner)
        | st.dictionaries(
            st.text(st.characters(max_codepoint=127, exclude_categories=["Cs"])), inner
        )
    ),
    max_leaves=12,
)


@given(flat)
def test_the_fast_serializer_gives_the_bytes_of_rfc_8785(value):
    assert record_bytes(value) == canonical_bytes(value)


def test_the_fast_serializer_refuses_a_lone_surrogate():
    with pytest.raises(InputError, match="lone surrogate"):
        record_bytes({"text": "\ud800"})


def test_row_digests_cover_values_of_every_type():
    """By hand: integers beyond 2^53 and floats as strings, bytes as their own digest."""
    row = {"at": 2**60, "ms": 0.1, "body": b"x", "n": 3, "map": {"b": "2", "a": "1"}, "no": None}
    covered = (
        '{"previous":"p","row":{"at":"1152921504606846976","body":"sha256:'
        + hashlib.sha256(b"x").hexdigest()
        + '","map":{"a":"1","b":"2"},"ms":"0.1","n":3,"no":null}}'
    )

    assert row_digest("p", row) == "sha256:" + hashlib.sha256(covered.encode()).hexdigest()


@pytest.mark.parametrize("change", [{"n": 4}, {"n": None}, {"body": b"y"}, {"ms": 0.2}, {"at": 1}])
def test_a_row_digest_changes_with_any_value(change):
    row = {"at": 2**60, "ms": 0.1, "body": b"x", "n": 3}

    assert row_digest("p", row) != row_digest("p", {**row, **change})


def test_the_first_previous_digest_names_run_part_and_lock():
    made = {genesis(*names) for names in [("r", "p", "l"), ("s", "p", "l"), ("r", "q", "l")]}

    assert len(made | {genesis("r", "p", "m")}) == 4
