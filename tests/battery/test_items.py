"""Items as JSON lines: a fixed point, strictly read."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgeaudit.battery import item_to_json, items_from_bytes, items_to_bytes
from judgeaudit.errors import InputError
from judgeaudit.model import Candidate, Item

NAMES = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8)
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
ITEMS = st.builds(
    Item,
    id=NAMES,
    group=NAMES,
    task=NAMES,
    fields=st.dictionaries(TEXTS, TEXTS | st.integers() | st.none() | st.lists(TEXTS), max_size=3),
    candidates=st.lists(
        st.builds(Candidate, NAMES, TEXTS, st.none() | st.booleans()), max_size=3
    ).map(tuple),
    gold=st.none() | TEXTS,
)


@given(st.lists(ITEMS, min_size=1, max_size=4, unique_by=lambda item: item.id))
def test_items_come_back_as_they_were_written(items):
    """Also with line separators like U+2028 in a text: only a line feed ends a line."""
    assert items_from_bytes("x", items_to_bytes(items)) == tuple(items)


def test_keys_stand_in_one_order_and_empty_ones_are_left_out():
    """CE met a key-order defect; here the order of a line does not depend on who made the item."""
    item = Item("q", "g", "t", gold="a", candidates=(Candidate("a", "x", True),))

    assert list(item_to_json(item)) == ["id", "group", "task", "candidates", "gold"]
    assert items_to_bytes([item]) == (
        b'{"id":"q","group":"g","task":"t","candidates":[{"id":"a","text":"x","correct":true}],'
        b'"gold":"a"}\n'
    )


GOOD = {"id": "a", "group": "g", "task": "t"}


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ({**GOOD, "golden": 1}, "line 2: golden: Extra inputs are not permitted"),
        ({"id": "a", "group": "g"}, "line 2: task: Field required"),
        ({**GOOD, "id": 7}, "line 2: id: Input should be a valid string"),
        ({**GOOD, "id": ""}, "line 2: id: String should have at least 1 character"),
        ({**GOOD, "candidates": [{"id": "c"}]}, "line 2: candidates.0.text: Field required"),
        ({**GOOD, "candidates": [{"id": "c", "text": "", "correct": 1}]}, "candidates.0.correct"),
        ([], "line 2: item: Input should be a valid dictionary"),
    ],
)
def test_a_line_that_is_no_item_is_named_with_its_key(line, said):
    with pytest.raises(InputError) as caught:
        items_from_bytes("b.jsonl", b"\n" + json.dumps(line).encode())

    assert "b.jsonl: " in str(caught.value)
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b'{"id": "a"', "line 1: not JSON: Expecting ',' delimiter at column 11"),
        (b'{"id": "a", "id": "b"}', "line 1: not JSON: key 'id' occurs twice"),
        (b'{"id": NaN}', "line 1: not JSON: NaN is no JSON number"),
        (b"\n\n\xff", "line 3: not UTF-8"),
        (b"\n", "no items"),
    ],
)
def test_bytes_that_are_no_lines_of_json_are_named(data, said):
    with pytest.raises(InputError) as caught:
        items_from_bytes("b.jsonl", data)

    assert said in str(caught.value)


def test_a_duplicate_id_is_named_with_both_lines():
    line = json.dumps(GOOD).encode()

    with pytest.raises(InputError) as caught:
        items_from_bytes("b.jsonl", line + b"\n\n" + line)

    assert str(caught.value) == (
        "b.jsonl: line 3: id 'a' is taken by line 1; give every item an id of its own"
    )
