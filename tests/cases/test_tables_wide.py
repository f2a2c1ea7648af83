"""Wide tables, records of another shape, and tables in which nothing was asked twice."""

import json

import pandas as pd
import pytest

import judgeaudit

FORMATS = ("csv", "tsv", "semicolon.csv", "utf16.csv", "jsonl", "json", "parquet", "feather",
           "xlsx")  # fmt: skip
WIDE = [
    {"item": "a", "run1": 1, "run2": 2, "run3": 3, "note": "x"},
    {"item": "b", "run1": 4, "run2": 4, "run3": None, "note": "y"},
    {"item": "c", "run1": 5, "run2": 6, "run3": 7, "note": "z"},
]


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("columns", ["run1,run2,run3", "run*", "run1, run?"])
def test_a_wide_table_is_read_as_runs(tables, tmp_path, form, columns):
    """case T12: 3 items x 3 runs, one cell empty; variances of items 1, 0, 1, mean 2/3."""
    path = tables.write(tmp_path, form, WIDE)

    document = tables.told("analyze", path, "--item", "item", "--score", columns)

    (part,) = document["parts"]
    assert (part["items"], part["runs"], part["excluded"]) == (3, 3, {"empty": 1})
    noise = {e["analysis"]: e for e in part["estimates"]}["noise"]
    assert noise["value"] == pytest.approx((2 / 3) ** 0.5)
    assert "3 columns of readings, one repeat each: run1, run2, run3" in document["notes"]


@pytest.mark.parametrize("form", FORMATS)
def test_columns_that_look_like_further_runs_are_named(tables, tmp_path, form):
    """case T12: `--score run1` alone says what it leaves out, and that nothing was repeated."""
    path = tables.write(tmp_path, form, WIDE)

    document = tables.told("analyze", path, "--item", "item", "--score", "run1", code=3)

    told = (
        "columns 'run2', 'run3' look like further columns of readings and were not read; name "
        "several by --score run1,run2,run3"
    )
    assert told in document["notes"]


def test_a_data_frame_may_be_wide_too():
    """case T12 by the API."""
    found = judgeaudit.analyze_table(pd.DataFrame(WIDE), item="item", score="run*")

    assert found.parts[0].get("noise").value == pytest.approx((2 / 3) ** 0.5)


def test_a_row_of_a_wide_table_is_named_as_it_stands(tables, tmp_path):
    path = tables.write(tmp_path, "csv", [*WIDE, WIDE[0]])

    line = tables.refused("analyze", path, "--item", "item", "--score", "run*")

    assert "t.csv: row 5: item 'a', run 'run1' stands already in row 2" in line


def test_columns_and_a_column_cannot_both_be_repeats(tables, tmp_path):
    path = tables.write(tmp_path, "csv", [row | {"run": 1} for row in WIDE])

    line = tables.refused(
        "analyze", path, "--item", "item", "--repeat", "run", "--score", "run1,run2"
    )

    assert line == (
        "t.csv: --repeat: 2 columns of values are one repeat each; leave out --repeat, or say what "
        "they are with --across"
    )


def test_a_column_called_like_a_list_is_one_column(tables, tmp_path):
    rows = [{"item": "a", "run": k, "x,y": k} for k in (1, 2)]
    path = tables.write(tmp_path, "csv", rows)

    document = tables.told("analyze", path, "--item", "item", "--repeat", "run", "--score", "x,y")

    assert document["parts"][0]["valid"] == 2


def orders(count=30, lost=11):
    """A header record of another shape; then verdicts in columns named by order, with nulls."""
    head = {"model": "m", "dataset": "d", "items": count}
    rows = [
        {"item": f"i{n}", "AB": "A" if n % 2 else "B", "BA": None if n < lost else "A"}
        for n in range(count)
    ]
    return "".join(json.dumps(row) + "\n" for row in (head, *rows))


def test_a_header_record_of_another_shape_is_told_and_no_reading(tables, tmp_path):
    """case S10: the record holds none of the named columns, the next one does."""
    path = tmp_path / "t.jsonl"
    path.write_text(orders())

    document = tables.told(
        "analyze", path, "--item", "item", "--verdict", "AB,BA", "--across", "order"
    )

    (part,) = document["parts"]
    told = "the first record is no reading but a header (model, dataset, items)"
    assert told in document["notes"]
    assert (part["items"], part["orders"], part["runs"]) == (30, 2, 1)
    assert part["excluded"] == {"empty": 11}


def test_what_lacks_readings_is_named_by_its_facet(tables, tmp_path):
    """case S10: "run  lacks 11 of 270"; it is the order BA that does."""
    path = tmp_path / "t.jsonl"
    path.write_text(orders())

    result = tables.run(
        "analyze", path, "--item", "item", "--verdict", "AB,BA", "--across", "order"
    )

    assert "warning: order BA lacks 11 of 30 readings" in result.stdout


def test_a_column_named_by_the_other_order_is_told(tables, tmp_path):
    path = tmp_path / "t.jsonl"
    path.write_text(orders())

    document = tables.told("analyze", path, "--item", "item", "--verdict", "AB", code=3)

    assert any(note.startswith("columns 'BA' look like further") for note in document["notes"])


def test_a_first_record_that_lacks_its_item_alone_is_refused(tables, tmp_path):
    """It holds the readings' column: a reading whose item is missing, and no header."""
    path = tmp_path / "t.jsonl"
    path.write_text('{"verdict": "A"}\n{"item": "a", "verdict": "A"}\n')

    line = tables.refused("analyze", path, "--item", "item", "--verdict", "verdict")

    assert line == "t.jsonl: row 1: no item; every reading needs one"


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("runs", [(1, 1), (1, 2)], ids=["one run", "two runs"])
def test_where_nothing_was_asked_twice_nothing_could_be_said(tables, tmp_path, form, runs):
    """case T13: two items, each once, be it in one run or in two."""
    rows = [{"item": i, "run": k, "score": 3 + k} for i, k in zip("ab", runs, strict=True)]
    path = tables.write(tmp_path, form, rows)

    document = tables.told(
        "analyze", path, "--item", "item", "--repeat", "run", "--score", "score", code=3
    )

    assert any("asked twice" in line for line in document["text"])


def test_gold_is_something_to_say_of_one_run(tables, tmp_path):
    """case T13, its border: agreement with gold needs no second reading; 1 of 2 is right."""
    rows = [
        {"item": i, "run": 1, "verdict": "A", "gold": g} for i, g in zip("ab", "AB", strict=True)
    ]
    path = tables.write(tmp_path, "csv", rows)

    document = tables.told(
        "analyze", path, "--item", "item", "--repeat", "run", "--verdict", "verdict",
        "--gold", "gold",
    )  # fmt: skip

    gold = {e["analysis"]: e for e in document["parts"][0]["estimates"]}["gold_agreement"]
    assert gold["value"] == pytest.approx(0.5)
