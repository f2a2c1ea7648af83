"""Files that cannot be read, each refused in one line; files that can be, in every encoding."""

import gzip
import os
import sys

import pyarrow as pa
import pyarrow.feather
import pytest

COLUMNS = ("--item", "item", "--repeat", "run", "--score", "score")
HEAD = "item,run,score\n"
GOOD = HEAD + "a,1,3\na,2,4\n"

REFUSED = {
    "nothing": ("t.csv", "", "t.csv: no rows; give one row a reading"),
    "blank lines": ("t.csv", "\n \n", "t.csv: no rows; give one row a reading"),
    "sep alone": ("t.csv", "sep=;\n", "t.csv: no rows; give one row a reading"),
    "header alone": ("t.csv", HEAD, "t.csv: no rows"),
    "a long row": ("t.csv", HEAD + "a,1,2,3\n", "row 2: Expected 3 columns, got 4"),
    "a short row": ("t.csv", HEAD + "a,1,2\na,2\n", "row 3: Expected 3 columns, got 2"),
    "an open quote at the end": ("t.csv", HEAD + 'a,1,"3\nb,2,4\n', "line 2: a quote is never"),
    "two quotes over rows": ("t.csv", HEAD + 'a,1,"3\nb,2,"4\n', "line 2: a quote inside a cell"),
    "text after a quote": ("t.csv", HEAD + 'a,1,"3" x\n', "line 2: a quote inside a cell"),
    "NUL": ("t.csv", GOOD + "b\0,1,2\n", "line 4: a NUL character"),
    "a name twice": ("t.csv", "item,run,run\na,1,2\n", "row 1: column 'run' stands twice"),
    "a name twice but for blanks": ("t.csv", "item,run, run\na,1,2\n", "'score': missing"),
    "bytes": ("t.csv", bytes(range(256)), "line 2: byte 0x80 is not UTF-8"),
    "PNG": ("t.csv", b"\x89PNG\r\n\x1a\n" + bytes(99), "line 1: byte 0x89 is not UTF-8"),
    "Parquet named CSV": ("t.csv", b"PAR1" + bytes(99), "no text: it is Parquet; call it .parquet"),
    "a workbook named CSV": ("t.csv", b"PK\x03\x04" + bytes(99), "call a workbook .xlsx"),
    "an old workbook": ("t.csv", b"\xd0\xcf\x11\xe0" + bytes(99), "save it as .xlsx or .csv"),
    "gzip": ("t.csv", gzip.compress(GOOD.encode()), "compressed (gzip); unpack it first"),
    "CSV named a workbook": ("t.xlsx", GOOD, "not a workbook (.xlsx), or damaged"),
    "CSV named Feather": ("t.feather", GOOD, "not Arrow, or damaged"),
    "no suffix": ("table", GOOD, "no table that can be read (no suffix)"),
    "another suffix": ("t.doc", GOOD, "no table that can be read (.doc)"),
    "a key twice": ("t.jsonl", '{"item":"a","item":"b"}', "key 'item' stands twice in one object"),
    "no object": ("t.json", "[1, 2]", "row 1: no JSON object"),
}


@pytest.mark.parametrize(("name", "content", "told"), REFUSED.values(), ids=REFUSED)
def test_a_file_that_cannot_be_used_is_refused_in_one_line(tables, tmp_path, name, content, told):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())

    assert told in tables.refused("analyze", path, *COLUMNS)


@pytest.mark.skipif(sys.platform == "win32", reason="needs named pipes and devices")
def test_a_pipe_and_a_device_are_refused_and_not_waited_for(tables, tmp_path):
    os.mkfifo(tmp_path / "pipe.csv")
    (tmp_path / "zero.csv").symlink_to("/dev/zero")

    for name in ("pipe.csv", "zero.csv"):
        line = tables.refused("analyze", tmp_path / name, *COLUMNS)
        assert line.endswith("no regular file (a pipe or a device); give a table's file")


GOODS = {
    "UTF-8": GOOD.encode(),
    "UTF-8 with a mark": GOOD.encode("utf-8-sig"),
    "UTF-16 with a mark": GOOD.encode("utf-16"),
    "UTF-16 LE": GOOD.encode("utf-16-le"),
    "UTF-16 BE": GOOD.encode("utf-16-be"),
    "UTF-16 BE with a mark": b"\xfe\xff" + GOOD.encode("utf-16-be"),
    "UTF-32 with a mark": GOOD.encode("utf-32"),
    "CR LF": GOOD.replace("\n", "\r\n").encode(),
    "CR": GOOD.replace("\n", "\r").encode(),
    "blanks in the header": GOOD.replace("run,score", " run , score ").encode(),
    "a column without a name": b",item,run,score\n0,a,1,3\n1,a,2,4\n",
    "tabs": GOOD.replace(",", "\t").encode(),
    "bars": GOOD.replace(",", "|").encode(),
    "semicolons and commas": b"item;run;score;a,b\na;1;3;x,y\na;2;4;x\n",
    "quotes": b'"item","run","score"\n"a","1","3"\n"a","2","4"\n',
    "a cell of three megabytes": b"item,run,score,text\na,1,3," + b"x" * 3_000_000 + b"\na,2,4,\n",
    "quotes within quotes": b'item,run,score,text\na,1,3,"say ""A"",\nthen B"\na,2,4,""\n',
    "no end of line": GOOD.rstrip().encode(),
    "a blank line": GOOD.replace("\na,2", "\n\na,2").encode(),
}


@pytest.mark.parametrize("content", GOODS.values(), ids=GOODS)
def test_a_file_that_can_be_read_is_read_the_same(tables, tmp_path, content):
    """3 and 4 in two runs of one item: the noise is the root of 1 / 2."""
    path = tmp_path / "t.csv"
    path.write_bytes(content)

    document = tables.told("analyze", path, *COLUMNS)

    found = {e["analysis"]: e["value"] for e in document["parts"][0]["estimates"]}
    assert document["rows"] == 2
    assert found["noise"] == pytest.approx(0.5**0.5)


def test_json_is_read_as_lines_and_as_an_array_whatever_the_suffix(tables, tmp_path):
    rows = '{"item": "a", "run": 1, "score": 3}', '{"item": "a", "run": 2, "score": 4}'
    for name, text in (
        ("a.jsonl", "\n".join(rows)),
        ("b.json", "\n".join(rows)),
        ("c.json", f"[{', '.join(rows)}]"),
        ("d.jsonl", f"[{', '.join(rows)}]"),
    ):
        (tmp_path / name).write_text(text)
        assert tables.told("analyze", tmp_path / name, *COLUMNS)["rows"] == 2


def test_an_arrow_stream_is_read(tables, tmp_path):
    table = pa.table({"item": ["a", "a"], "run": [1, 2], "score": [3, 4]})
    with (
        pa.OSFile(str(tmp_path / "t.arrow"), "wb") as sink,
        pa.ipc.new_stream(sink, table.schema) as stream,
    ):
        stream.write_table(table)

    assert tables.told("analyze", tmp_path / "t.arrow", *COLUMNS)["rows"] == 2


def test_without_its_reader_a_workbook_names_what_to_install(tables, tmp_path, monkeypatch):
    path = tables.write(tmp_path, "xlsx", [{"item": "a", "run": 1, "score": 3}])
    monkeypatch.setitem(sys.modules, "openpyxl", None)

    line = tables.refused("analyze", path, *COLUMNS)

    assert line == (
        't.xlsx: a workbook, and openpyxl is missing; pip install "judgeaudit-toolkit[xlsx]", or '
        "save the table as .csv"
    )


@pytest.mark.parametrize(
    ("cell", "told"),
    [("=A2", "cell C3: a formula without a saved value"), ("#DIV/0!", "cell C3: holds an error")],
)
def test_a_workbooks_formula_without_a_value_and_an_error_are_refused(tables, tmp_path, cell, told):
    """A formula that no spreadsheet has computed reads as an empty cell."""
    rows = [{"item": "a", "run": 1, "score": 3}, {"item": "a", "run": 2, "score": cell}]

    path = tables.write(tmp_path, "xlsx", rows)

    assert told in tables.refused("analyze", path, *COLUMNS)


def test_a_second_sheet_is_told(tables, tmp_path):
    import openpyxl

    path = tables.write(tmp_path, "xlsx", [{"item": "a", "run": k, "score": k} for k in (1, 2)])
    book = openpyxl.load_workbook(path)
    book.create_sheet("more").append([1, 2])
    book.save(path)

    document = tables.told("analyze", path, *COLUMNS)

    assert "2 sheets hold values; read was 'Sheet1'" in document["notes"]
