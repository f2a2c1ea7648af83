"""Numbers in tables: the readout's one parser, decimal commas, columns of types."""

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import judgeaudit

TEXTS = ("csv", "tsv", "semicolon.csv", "utf16.csv", "bom.csv", "jsonl", "json", "parquet",
         "feather", "xlsx")  # fmt: skip
COLUMNS = ("--item", "item", "--repeat", "run", "--score", "score")

LOCALE = ("7/10", "7", "7,5", "7.5", "1_0", "10", "５", "5", "inf", "8", "0x1F", "31",
          "1 000", "9", "٤", "4", "", "2", "NaN", "6", "1e300", "3", "4.", ".5")  # fmt: skip


def rows(*cells):
    """Two cells an item."""
    return [{"item": f"i{n // 2}", "run": n % 2, "score": cell} for n, cell in enumerate(cells)]


@pytest.mark.parametrize("form", TEXTS)
def test_a_cell_is_a_number_as_a_reply_would_be(tables, tmp_path, form):
    """case T9, as text in every format.

    Unparsed: 7/10, 7,5, 1_0, a full-width 5, 0x1F, 1 000, an Arabic 4. Out of scale: inf, 1e300.
    Empty: the empty cell and NaN. 4. and .5 are numbers.
    """
    document = tables.told("analyze", tables.write(tmp_path, form, rows(*LOCALE)), *COLUMNS)

    (part,) = document["parts"]
    assert part["excluded"] == {"empty": 2, "unparsed": 7, "out_of_scale": 2}
    told = "column 'score': 7 cells hold no number, e.g. '7/10', '7,5', '1_0', '５' and 3 more"
    assert told in document["notes"]
    assert "column 'score': is '7,5' a decimal comma? --decimal , reads it so" in document["notes"]


@pytest.mark.parametrize("form", TEXTS)
def test_decimal_commas_are_read_where_nothing_else_is_possible(tables, tmp_path, form):
    """case T11: 7,5 8,0 3,0 3,5; within items (.25 + .25) / 2 / 2 = .125, its root .354."""
    path = tables.write(tmp_path, form, rows("7,5", "8,0", "3,0", "3,5"))

    document = tables.told("analyze", path, *COLUMNS)

    noise = {e["analysis"]: e for e in document["parts"][0]["estimates"]}["noise"]
    assert noise["value"] == pytest.approx(0.125**0.5)
    assert "column 'score': numbers are read with a decimal comma" in document["notes"]


def test_the_file_of_the_case_is_read(tables, tmp_path):
    """case T11: semicolons, decimal commas, no option."""
    path = tmp_path / "t.csv"
    path.write_text("item;run;score\na;1;7,5\na;2;8,0\nb;1;3,0\nb;2;3,5\n")

    document = tables.told("analyze", path, *COLUMNS)

    assert document["parts"][0]["valid"] == 4
    assert "columns are separated by ';'" in document["notes"]


def test_a_first_line_that_says_the_separator_is_believed(tables, tmp_path):
    """`sep=;` is what a spreadsheet writes; rows are counted with it."""
    path = tmp_path / "t.csv"
    path.write_text("sep=;\r\nitem;run;score\r\na;1;1,5\r\na;2;2,5\r\na;2;2,5\r\n")

    line = tables.refused("analyze", path, *COLUMNS)

    assert "row 5: item 'a', run '2' stands already in row 4" in line


@pytest.mark.parametrize(("mark", "value"), [(",", 1.234), (".", None)])
def test_one_comma_before_three_digits_is_read_as_told(tables, tmp_path, mark, value):
    """1,234 may be a thousand: without a word it is no number, and the remedy is named."""
    path = tables.write(tmp_path, "semicolon.csv", rows("1,234", "1,234", "5", "5"))

    found = judgeaudit.analyze_table(path, item="item", repeat="run", score="score", decimal=mark)
    part = found.parts[0]

    assert part.excluded == ({} if value else {"unparsed": 2})
    if value:
        assert part.get("pass_fail_flip").details["mark"] == pytest.approx((value + 5) / 2)


def test_a_column_of_thousands_alone_is_refused_with_the_remedy(tables, tmp_path):
    path = tables.write(tmp_path, "semicolon.csv", rows("1,234", "2,345"))

    line = tables.refused("analyze", path, *COLUMNS)

    assert line.endswith("holds no number; is '1,234' a decimal comma? --decimal , reads it so")


def test_a_decimal_comma_that_breaks_a_row_is_named(tables, tmp_path):
    """case T11, its message: the separator and the decimal comma."""
    path = tmp_path / "t.csv"
    path.write_text("item,run,score\na,1,7,5\n")

    line = tables.refused("analyze", path, *COLUMNS)

    assert line == (
        "t.csv: row 2: Expected 3 columns, got 4: a,1,7,5; columns are separated by ',' here: give "
        "every row the header's columns, and close every quote; put a decimal comma in quotes"
    )


def test_another_decimal_mark_is_refused(tables, tmp_path):
    path = tables.write(tmp_path, "csv", rows("1", "2"))

    line = tables.refused("analyze", path, *COLUMNS, "--decimal", ";")

    assert line == "analyze: --decimal: found ';'; give . or ,"


@pytest.mark.parametrize(
    ("column", "excluded"),
    [
        (pa.array([1, None, 3, 4]), {"empty": 1}),
        (pa.array([1.5, float("nan"), float("inf"), 4]), {"empty": 1, "out_of_scale": 1}),
        (pa.array([1, 2, 3, 4], pa.decimal128(5, 2)), {}),
        (pa.array(["1", "x", None, "4"]).dictionary_encode(), {"empty": 1, "unparsed": 1}),
        (pa.array([1, 2, 1, 2], pa.int8()).dictionary_encode(), {}),
        (pa.array([1, 2, 3, 4], pa.uint64()), {}),
        (pa.array([0.1, 0.2, 0.3, 0.4], pa.float32()), {}),
    ],
    ids=["integers", "floats", "decimals", "text", "categories", "unsigned", "narrow"],
)
def test_each_type_of_number_is_read(tmp_path, column, excluded):
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"item": list("aabb"), "run": [0, 1, 0, 1], "score": column}), path)

    found = judgeaudit.analyze_table(path, item="item", repeat="run", score="score")

    assert found.parts[0].excluded == excluded


@pytest.mark.parametrize("form", ["jsonl", "json", "parquet", "feather", "xlsx"])
def test_true_and_false_are_no_scores(tables, tmp_path, form):
    path = tables.write(tmp_path, form, rows(True, False))

    assert "column 'score': holds no number" in tables.refused("analyze", path, *COLUMNS)


def test_numbers_of_a_data_frame_are_read_as_those_of_a_file():
    cells = ["7,5", "1_0", 3, 4.5, None, "inf", True, pd.NA]
    frame = pd.DataFrame(rows(*cells))

    found = judgeaudit.analyze_table(frame, item="item", repeat="run", score="score", decimal=".")

    assert found.parts[0].excluded == {"empty": 2, "unparsed": 3, "out_of_scale": 1}


def test_gold_is_read_with_the_same_decimal_mark(tables, tmp_path):
    given = [
        row | {"gold": f"{n // 2},5"}
        for n, row in enumerate(rows("1,5", "1,6", "2,5", "2,6", "3,5", "3,6"))
    ]
    path = tables.write(tmp_path, "semicolon.csv", given)

    document = tables.told("analyze", path, *COLUMNS, "--gold", "gold")

    gold = {e["analysis"]: e for e in document["parts"][0]["estimates"]}["gold_spearman"]
    assert gold["value"] == pytest.approx(1)
