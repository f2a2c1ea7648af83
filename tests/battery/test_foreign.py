"""A person's own rows: three forms, every refusal with its line, nothing guessed."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgeaudit.battery.foreign import Columns, format_of, items_from_rows, read_rows
from judgeaudit.errors import InputError
from judgeaudit.instrument.readout import Prompt, build, problems_for

PAIR = Columns(candidates=("a", "b"), gold="label")


def rows(*cells):
    return list(enumerate(cells, 1))


@pytest.mark.shared
def test_llmbar_pairs_become_items_with_gold(shared):
    """100 pairs; the first row's label is 1 or 2 and must name output_1 or output_2."""
    data = (shared / "data" / "llmbar-natural" / "pairs.json").read_bytes()
    columns = Columns(candidates=("output_1", "output_2"), gold="label")
    battery = items_from_rows("pairs.json", read_rows("pairs.json", data, "json"), columns)
    raw = json.loads(data)

    assert len(battery.items) == 100
    assert [i.gold for i in battery.items] == [f"output_{row['label']}" for row in raw]
    assert battery.items[99].id == "row-100"
    assert battery.items[7].fields == {"input": raw[7]["input"]}
    assert battery.report["notes"] == [
        "no id column: items are named by their row, row-1 to row-100"
    ]

    prompt = Prompt(None, "{input}\n{output_1}\n{output_2}")
    readout = build("verdict", prompt, {"categories": ["A", "B"], "orders": "both"})
    assert [problem for item in battery.items for problem in problems_for(readout, item)] == []


def test_the_three_forms_give_the_same_rows():
    """A cell of two lines makes the next CSV row begin on line 4."""
    cells = [{"id": "x", "q": "one\ntwo"}, {"id": "y", "q": "é"}]
    lines = "\n".join(json.dumps(row) for row in cells).encode()
    array = json.dumps(cells, indent=1).encode()
    table = 'id,q\nx,"one\ntwo"\ny,é\n'.encode()

    assert read_rows("f", lines, "jsonl") == [(1, cells[0]), (2, cells[1])]
    assert read_rows("f", array, "json") == [(2, cells[0]), (6, cells[1])]
    assert read_rows("f", b"\xef\xbb\xbf" + table, "csv") == [(2, cells[0]), (4, cells[1])]


@given(st.lists(st.dictionaries(st.text(), st.text() | st.integers()), min_size=1))
def test_any_array_that_json_writes_is_read(values):
    assert [row for _, row in read_rows("f", json.dumps(values, indent=2).encode(), "json")] == (
        values
    )


@pytest.mark.parametrize(
    ("form", "text", "said"),
    [
        ("jsonl", '{"a": 1}\n{"a": }', "line 2: not JSON: Expecting value at column 7"),
        ("jsonl", '{"a": 1}\n[1]', "line 2: a row must be a JSON object"),
        ("jsonl", '{"a": 1, "a": 2}', "line 1: not JSON: key 'a' occurs twice"),
        ("jsonl", "\n", "no rows"),
        ("json", "[]", "no rows"),
        ("json", '{"a": 1}', "line 1: not a JSON array of objects"),
        ("json", '[{"a": 1},\n\n7]', "row 2, which begins in line 3: a row must be a JSON object"),
        ("json", '[{"a": 1}\n{"a": 2}]', "row 1, which begins in line 1: no comma or ] after it"),
        ("json", '[{"a": 1}] x', "after line 1: text after the array"),
        ("json", '[{"a": 1},\n]', "row 2, which begins in line 2: not JSON"),
        ("json", '[{"a": 1}', "row 1, which begins in line 1: no comma or ] after it"),
        ("csv", "a,b\n1,2\n3\n", "line 3: 1 cells under 2 columns"),
        ("csv", "a,a\n1,2\n", "line 1: a column's name occurs twice"),
        ("csv", 'a\n"x" y\n', "line 2: not CSV"),
    ],
)
def test_a_file_that_is_not_its_form_is_refused_with_the_line(form, text, said):
    with pytest.raises(InputError) as caught:
        read_rows("mine", text.encode(), form)

    assert str(caught.value).startswith(f"mine: {said}")


@pytest.mark.parametrize(
    ("label", "gold"),
    [(1, "a"), ("2", "b"), ("b", "b"), ("A", "a"), ("Tie", "tie"), (None, None), ("", None)],
)
def test_gold_names_a_candidate_by_column_place_or_letter(label, gold):
    """The column's own name goes before the letter: here `b` is a column."""
    battery = items_from_rows("f", rows({"a": "x", "b": "y", "label": label}), PAIR)

    assert battery.items[0].gold == gold


@pytest.mark.parametrize("label", [0, 3, "model_a", True, "-1"])
def test_a_gold_that_names_no_candidate_is_refused(label):
    with pytest.raises(InputError, match=r"f: line 1: gold '.*' names no candidate; use one of a"):
        items_from_rows("f", rows({"a": "x", "b": "y", "label": label}), PAIR)


def test_without_two_candidates_gold_is_kept_as_it_is():
    columns = Columns(candidates=("a",), gold="label")

    assert items_from_rows("f", rows({"a": "x", "label": 4.5}), columns).items[0].gold == "4.5"


def test_group_task_id_and_limit():
    cells = [{"id": i, "doc": f"d{i // 2}", "sys": "s", "a": "x"} for i in range(4)]
    columns = Columns(id="id", candidates=("a",), group="doc", limit=3)
    battery = items_from_rows("f", rows(*cells), columns)

    assert [(i.id, i.group, i.task) for i in battery.items] == [
        ("0", "d0", "d0"),
        ("1", "d0", "d0"),
        ("2", "d1", "d1"),
    ]
    assert battery.report["notes"][0] == "limit: the first 3 of 4 rows"
    assert items_from_rows("f", rows(*cells), Columns(task="sys")).items[0].task == "s"


def test_a_missing_column_names_line_and_columns():
    with pytest.raises(InputError) as caught:
        items_from_rows("f", [(3, {"a": "x", "c": 1})], PAIR)

    assert str(caught.value) == "f: line 3: no field 'b'; fields here: a, c"


def test_duplicate_and_unusable_ids_are_named_with_their_lines():
    columns = Columns(id="id")

    with pytest.raises(InputError, match="line 2: id '7' is taken by line 1"):
        items_from_rows("f", rows({"id": 7}, {"id": "7"}), columns)
    with pytest.raises(InputError, match=r"line 1: id is 1.5; a name or a whole number"):
        items_from_rows("f", rows({"id": 1.5}), columns)


def test_neither_gold_nor_candidates_become_fields():
    """A prompt cannot give the answer away: its `{label}` has no field."""
    item = items_from_rows("f", rows({"a": "x", "b": "y", "label": 1, "q": "Q"}), PAIR).items[0]

    assert item.fields == {"q": "Q"}


def test_a_files_ending_names_its_form():
    assert [format_of(name) for name in ("a.JSONL", "b.json", "c.csv", "d.ndjson")] == [
        "jsonl",
        "json",
        "csv",
        "jsonl",
    ]
    with pytest.raises(InputError, match=r"use \.jsonl, \.json or \.csv"):
        format_of("a.xlsx")
