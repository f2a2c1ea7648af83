"""Identifiers are text as written, in every format; what cannot be one is refused by name."""

import datetime
import decimal

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import judgeaudit
from judgeaudit.errors import InputError

FORMATS = ("csv", "tsv", "semicolon.csv", "utf16.csv", "bom.csv", "jsonl", "json", "parquet",
           "feather", "xlsx")  # fmt: skip
LONG = ("12345678901234567890", "22345678901234567890", "32345678901234567890")
OTHER = ("12345678901234567891", "22345678901234567893", "32345678901234567899")


def scored(ids, repeats=2):
    return [
        {"item": i, "run": k, "score": n + k} for n, i in enumerate(ids) for k in range(repeats)
    ]


def items(tables, *arguments, code=0):
    """Return the note on what was seen, and the number of items of the first part."""
    document = tables.told("analyze", *arguments, code=code)
    (seen,) = [note for note in document["notes"] if note.startswith("seen: ")]
    return seen, document["parts"][0]["items"], document


COLUMNS = ("--item", "item", "--repeat", "run", "--score", "score")


@pytest.mark.parametrize("form", FORMATS)
def test_two_numbers_of_twenty_digits_are_two(tables, tmp_path, form):
    """case T7: as doubles both files hold 12345678901234567000, and three items in common."""
    one = tables.write(tmp_path, form, [{"item": i, "score": n} for n, i in enumerate(LONG)], "a")
    two = tables.write(tmp_path, form, [{"item": i, "score": n} for n, i in enumerate(OTHER)], "b")

    seen, count, document = items(tables, one, two, "--item", "item", "--score", "score", code=3)

    assert count == 6
    assert seen.startswith(f"seen: item 6 ({LONG[0]}, {OTHER[0]}, ")
    assert f"no items in common of 6: 3 in {one.name}, 3 in {two.name}" in document["notes"]


@pytest.mark.parametrize("form", ["jsonl", "json"])
def test_whole_numbers_keep_all_their_digits(tables, tmp_path, form):
    """case T7 as numbers: JSON's integers have no bound."""
    path = tables.write(tmp_path, form, scored([int(LONG[0]), int(OTHER[0])]))

    seen, count, _ = items(tables, path, *COLUMNS)

    assert (seen, count) == (f"seen: item 2 ({LONG[0]}, {OTHER[0]}); repeat 2 (0, 1)", 2)


@pytest.mark.parametrize("form", FORMATS)
def test_leading_zeros_blanks_and_points_are_kept_and_told(tables, tmp_path, form):
    """007, 7, 7.0 and " 7" are four names; they look alike, and a person should know."""
    path = tables.write(tmp_path, form, scored(["007", "7", "7.0", " 7"]))

    _, count, document = items(tables, path, *COLUMNS)

    assert count == 4
    (alike,) = [note for note in document["notes"] if "look alike" in note]
    assert all(f"'{name}'" in alike for name in ("007", "7", "7.0", " 7"))


@pytest.mark.parametrize("form", ["jsonl", "json", "parquet", "feather", "xlsx"])
def test_a_typed_whole_number_is_its_digits_in_every_format(tables, tmp_path, form):
    """1 and 1.0 are one number: an integer's item of one file is the float's of another."""
    whole = tables.write(tmp_path, form, [{"item": n, "score": n} for n in (1, 2, 3)], "a")
    floats = tables.write(tmp_path, form, [{"item": n, "score": n} for n in (1.0, 2.0, 3.0)], "b")
    text = tables.write(tmp_path, "csv", [{"item": n, "score": n} for n in (1, 2, 3)], "c")

    seen, count, _ = items(tables, whole, floats, text, "--item", "item", "--score", "score")

    assert count == 3
    assert seen.startswith("seen: item 3 (1, 2, 3); repeat 3 (a, b, c)")


@pytest.mark.parametrize("form", ["jsonl", "json", "parquet", "feather"])
def test_floats_that_have_lost_digits_are_no_identifiers(tables, tmp_path, form):
    """2^53 + 2 is the next double after 2^53: which whole number was meant is gone."""
    path = tables.write(tmp_path, form, scored([float(2**53 + 2), 1.5]))

    line = tables.refused("analyze", path, *COLUMNS)

    assert line == (
        f"{path.name}: column 'item': holds numbers beyond 2**53 as floats: their last digits are "
        "lost; write identifiers as text"
    )


def test_a_workbooks_number_of_twenty_digits_is_no_identifier(tables, tmp_path):
    """A spreadsheet keeps fifteen digits of a number."""
    path = tables.write(tmp_path, "xlsx", scored([int(LONG[0]), int(OTHER[0])]))

    assert "holds numbers beyond 2**53 as floats" in tables.refused("analyze", path, *COLUMNS)


def test_ids_that_a_spreadsheet_has_rounded_are_told(tables, tmp_path):
    path = tables.write(tmp_path, "csv", scored(["1.23457E+19", "2.23457E+19"]))

    _, _, document = items(tables, path, *COLUMNS)

    told = "ids of item in scientific notation may have lost digits: '1.23457E+19', '2.23457E+19'"
    assert told in document["notes"]


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("role", ["item", "run"])
def test_a_row_without_an_identifier_is_refused_by_its_row(tables, tmp_path, form, role):
    rows = scored(["a", "b"])
    rows[2][role] = None
    path = tables.write(tmp_path, form, rows)

    line = tables.refused("analyze", path, *COLUMNS)

    first = 1 if form in ("jsonl", "json", "parquet", "feather") else 2
    name = {"item": "item", "run": "repeat"}[role]
    assert line == f"{path.name}: row {2 + first}: no {name}; every reading needs one"


@pytest.mark.parametrize("form", FORMATS)
def test_a_word_for_no_answer_names_an_item_like_any_other(tables, tmp_path, form):
    """case T5, its neighbour: NA is Namibia's code; as an item it is told and kept."""
    path = tables.write(tmp_path, form, scored(["NA", "DE", "None"]))

    _, count, document = items(tables, path, *COLUMNS)

    assert count == 3
    assert "ids of item that may mean none and are names here: 'NA', 'None'" in document["notes"]


@pytest.mark.parametrize("form", FORMATS)
def test_near_duplicates_among_ids_are_named(tables, tmp_path, form):
    path = tables.write(tmp_path, form, scored(["Q1", "q1", "q1 ", "ｑ１", "q2"]))

    _, count, document = items(tables, path, *COLUMNS)

    assert count == 5
    told = "ids of item that look alike and are kept apart: 'Q1', 'q1', 'q1 ', 'ｑ１'"
    assert told in document["notes"]


@pytest.mark.parametrize("form", FORMATS)
def test_a_key_that_stands_twice_is_refused_by_both_rows(tables, tmp_path, form):
    rows = scored(["a", "b"])
    path = tables.write(tmp_path, form, [*rows, rows[1]])

    line = tables.refused("analyze", path, *COLUMNS)

    first = 1 if form in ("jsonl", "json", "parquet", "feather") else 2
    where = f"row {4 + first}: item 'a', run '1' stands already in row {1 + first}"
    assert line.startswith(f"{path.name}: {where}")


def test_a_row_of_a_second_file_is_named_with_its_file(tables, tmp_path):
    """Rows of files were counted on: row 5 of a table of three rows."""
    one = tables.write(tmp_path, "csv", scored(["a", "b"]), "one")
    two = tables.write(tmp_path, "csv", scored(["c", "a"]), "two")

    line = tables.refused("analyze", one, two, *COLUMNS)

    assert "two.csv: row 4: item 'a', run '0' stands already in one.csv, row 2" in line


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ("Item", "column 'Item': missing; nearest: 'item'; columns: item, run, score"),
        ("itm", "column 'itm': missing; nearest: 'item'; columns: item, run, score"),
        ("zzz", "column 'zzz': missing; columns: item, run, score"),
    ],
)
def test_a_missing_column_is_named_with_the_nearest(tables, tmp_path, form, asked, told):
    path = tables.write(tmp_path, form, scored(["a"]))

    assert tables.refused("analyze", path, "--item", asked, *COLUMNS[2:]) == f"{path.name}: {told}"


TYPES = {
    "date": (datetime.date(2026, 1, 2), "2026-01-02"),
    "time": (datetime.datetime(2026, 1, 2, 3, 4), "2026-01-02T03:04:00"),
    "true": (True, "true"),
    "decimal": (decimal.Decimal("7.00"), "7"),
    "fraction": (0.5, "0.5"),
}


@pytest.mark.parametrize(("value", "shown"), TYPES.values(), ids=TYPES)
def test_each_type_of_a_column_has_one_spelling(tables, tmp_path, value, shown):
    """Parquet, a data frame and a frame of objects give the same name."""
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"item": [value] * 2, "run": [0, 1], "score": [1, 2]}), path)
    frame = pd.DataFrame({"item": [value] * 2, "run": [0, 1], "score": [1, 2]})

    for source in (path, frame, frame.astype(object)):
        found = judgeaudit.analyze_table(source, item="item", repeat="run", score="score")
        assert f"seen: item 1 ({shown}); repeat 2 (0, 1)" in found.notes


def test_categories_of_parquet_are_their_values(tables, tmp_path):
    path = tmp_path / "t.parquet"
    pd.DataFrame(scored([7, 8])).astype("category").to_parquet(path)

    seen, count, _ = items(tables, path, *COLUMNS)

    assert (seen, count) == ("seen: item 2 (7, 8); repeat 2 (0, 1)", 2)


@pytest.mark.parametrize(
    ("value", "told"),
    [([1], "lists"), ({"a": 1}, "objects"), (b"a", "bytes"), (datetime.timedelta(1), "timedelta")],
)
def test_what_is_no_cell_is_refused_in_files_and_frames(tables, tmp_path, value, told):
    path = tmp_path / "t.parquet"
    rows = {"item": [value] * 2, "run": [0, 1], "score": [1, 2]}
    pq.write_table(pa.table(rows), path)

    assert told in tables.refused("analyze", path, *COLUMNS)
    with pytest.raises(InputError, match=f"(?i){told}"):
        judgeaudit.analyze_table(
            pd.DataFrame(rows).astype(object), item="item", repeat="run", score="score"
        )


def test_a_frames_index_is_read_where_it_is_asked_for():
    frame = pd.DataFrame(scored(["a", "b"])).set_index("item")

    found = judgeaudit.analyze_table(frame, item="item", repeat="run", score="score")

    assert found.parts[0].items == 2


def test_a_workbooks_number_is_what_its_format_shows(tables, tmp_path):
    """A cell of 7 that shows 007 is the item 007."""
    import openpyxl

    path = tables.write(tmp_path, "xlsx", scored([7, 7], 1))
    book = openpyxl.load_workbook(path)
    book.active["A2"].number_format = "000"
    book.save(path)

    seen, count, _ = items(tables, path, *COLUMNS, code=3)

    assert (seen, count) == ("seen: item 2 (007, 7); repeat 1 (0)", 2)


def test_control_characters_in_ids_and_labels_are_escapes(tables, tmp_path):
    """ESC [2J clears a terminal."""
    rows = [{"item": "a\x1b[2J", "run": k, "v": "\x1b[31mA"} for k in (1, 2)]
    path = tables.write(tmp_path, "csv", rows)

    result = tables.run("analyze", path, "--item", "item", "--repeat", "run", "--verdict", "v")

    assert "\x1b" not in result.output
    assert "a\\x1b[2J" in result.stdout
    assert "\\x1b[31mA 2" in result.stdout
