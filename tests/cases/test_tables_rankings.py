"""Rankings in tables: documented forms alone; anything else is refused with its row."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from judgeaudit.tables.rankings import candidates_in

FORMATS = ("csv", "tsv", "semicolon.csv", "utf16.csv", "jsonl", "json", "parquet", "feather",
           "xlsx")  # fmt: skip
COLUMNS = ("--item", "item", "--repeat", "run", "--ranking", "rank")


def rows(*cells):
    return [{"item": "abc"[n // 2], "run": n % 2 + 1, "rank": cell} for n, cell in enumerate(cells)]


NUMBERED = (
    "1. A\n2. B\n3. C", "1. C\n2. B\n3. A", "1. A\n2. B\n3. C",
    "1. C\n2. B\n3. A", "1. B\n2. A\n3. C", "1. C\n2. A\n3. B",
)  # fmt: skip


@pytest.mark.parametrize("form", FORMATS)
def test_a_numbered_list_is_refused_with_its_row(tables, tmp_path, form):
    """case T6: read as words it gave "same first candidate 3 of 3", for "1." is first in all."""
    path = tables.write(tmp_path, form, rows("A > B > C", *NUMBERED[1:]))

    line = tables.refused("analyze", path, *COLUMNS)

    row = 2 if form in ("jsonl", "json", "parquet", "feather") else 3
    assert line == (
        f"{path.name}: row {row}: '1. C\\n2. B\\n3. A' is no ranking; write b > a > c, a JSON list "
        '["b", "a", "c"], or ids with commas between'
    )


@pytest.mark.parametrize("form", FORMATS)
def test_the_same_rankings_in_a_documented_form_are_what_they_are(tables, tmp_path, form):
    """case T6, read: first candidates A C, A C, B C: 0 of 3; pairs kept 0, 0, 0 of 9."""
    path = tables.write(tmp_path, form, rows("A>B>C", "C>B>A", "A>B>C", "C>B>A", "B>A>C", "C>A>B"))

    document = tables.told("analyze", path, *COLUMNS)

    found = {e["analysis"]: e for e in document["parts"][0]["estimates"]}
    assert found["ranking_top1"]["exact"] == "0/1"
    assert found["ranking_pairwise"]["exact"] == "0/1"
    assert "candidates seen: A 6, B 6, C 6" in document["notes"]


@pytest.mark.parametrize(
    "cell",
    ["b>a>c", " b > a > c ", "b,a,c", "b, a, c", "b; a; c", "b|a|c", '["b", "a", "c"]',
     ' [ "b","a" , " c " ]'],
)  # fmt: skip
def test_the_documented_forms(cell):
    assert candidates_in(cell) == ("b", "a", "c")


@pytest.mark.parametrize(
    "cell",
    ["b a c", "b", "1. b, 2. a", "1) b > 2) a", "#1 b", "- b, - a", "Rank 1: b, Rank 2: a",
     "b > a, c", "b = a > c", "b > > c", "b,a,", "[", '["b"]', '["b", null]', '["b", ["a"]]',
     '{"b": 1}', '["b", "a"] and so on', "b\n> a", '["b", true]', "", "[1.5, []]"],
)  # fmt: skip
def test_what_is_no_documented_form(cell):
    assert candidates_in(cell) is None


def test_ids_may_be_numbers_and_hold_blanks():
    assert candidates_in("2 > 1 > 3") == ("2", "1", "3")
    assert candidates_in("[2, 1, 3]") == ("2", "1", "3")
    assert candidates_in("model 1 > model 2") == ("model 1", "model 2")
    assert candidates_in("gpt-4.1 > o3") == ("gpt-4.1", "o3")


@pytest.mark.parametrize("lists", [[["y", "x"], ["x", "y"]], [[2, 1], [1, 2]]], ids=["text", "ids"])
def test_lists_are_read_in_parquet_and_in_json(tables, tmp_path, lists):
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"item": ["a", "a"], "run": [1, 2], "rank": lists}), path)
    lines = tables.write(tmp_path, "jsonl", rows(*lists))

    for table in (path, lines):
        (part,) = tables.told("analyze", table, *COLUMNS)["parts"]
        assert {e["analysis"]: e for e in part["estimates"]}["ranking_exact"]["exact"] == "0/1"


@pytest.mark.parametrize("entry", [None, True, {"id": "x"}, ["x"]])
def test_a_list_of_anything_but_ids_is_refused(tables, tmp_path, entry):
    path = tables.write(tmp_path, "jsonl", rows(["x", "y"], ["x", entry]))

    if entry is True:  # a candidate may be called true
        document = tables.told("analyze", path, *COLUMNS, code=3)
        assert "candidates seen: x 2, y 1, true 1" in document["notes"]
    else:
        assert "row 2" in tables.refused("analyze", path, *COLUMNS)


def test_a_double_and_another_candidate_are_counted_and_sets_are_told(tables, tmp_path):
    """a>a is no permutation, nor is x>y beside two of a and b; item c ranks others: 2 sets."""
    cells = [
        ("a", 1, "a > b"), ("a", 2, "a > a"), ("a", 3, "b > a"),
        ("b", 1, "a > b"), ("b", 2, "x > y"), ("b", 3, "a > b"),
        ("c", 1, "p > q"), ("c", 2, "p > q"), ("c", 3, "q > p"),
    ]  # fmt: skip
    path = tables.write(
        tmp_path, "csv", [{"item": i, "run": k, "rank": cell} for i, k, cell in cells]
    )

    document = tables.told("analyze", path, *COLUMNS)

    assert document["parts"][0]["excluded"] == {"not_a_permutation": 2}
    assert "items are ranked among 2 different sets of candidates" in document["notes"]


def test_candidates_that_look_alike_are_named(tables, tmp_path):
    path = tables.write(tmp_path, "csv", rows("a > b", "A > b"))

    document = tables.told("analyze", path, *COLUMNS, code=3)

    assert "candidates that look alike and are kept apart: 'a', 'A'" in document["notes"]


def test_the_words_of_a_refusal_can_be_declared(tables, tmp_path):
    path = tables.write(tmp_path, "csv", rows("a > b", "I cannot rank these.", "", "b > a"))

    document = tables.told("analyze", path, *COLUMNS, "--invalid", "I cannot rank these.", code=3)

    assert document["parts"][0]["excluded"] == {"empty": 1, "unparsed": 1}
