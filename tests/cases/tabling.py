"""One table in every format, for the tests of cases on tables."""

import json

import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
from typer.testing import CliRunner

from judgeaudit.cli import app, commands

commands.register(app)

TEXT = ("csv", "tsv", "semicolon.csv", "utf16.csv", "bom.csv")
TYPED = ("jsonl", "json", "parquet", "feather", "xlsx")
FORMATS = (*TEXT, *TYPED)


def write(folder, form, rows, name="t"):
    """Write rows (dicts of one shape) in a format and return the file.

    Text formats get `str` of a value and nothing for None; typed ones the values as they are.
    """
    path = folder / f"{name}.{form}"
    frame = pd.DataFrame(rows, dtype=object)
    if form in TEXT:
        separator = {"tsv": "\t", "semicolon.csv": ";"}.get(form, ",")
        encoding = {"utf16.csv": "utf-16", "bom.csv": "utf-8-sig"}.get(form, "utf-8")
        frame.to_csv(path, index=False, sep=separator, encoding=encoding)
    elif form == "jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    elif form == "json":
        path.write_text(json.dumps(rows))
    elif form == "xlsx":
        frame.to_excel(path, index=False)
    else:
        table = pa.table({column: pa.array(frame[column].tolist()) for column in frame})
        if form == "parquet":
            pyarrow.parquet.write_table(table, path)
        else:
            pyarrow.feather.write_feather(table, path)
    return path


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def told(*arguments, code=0):
    """Return the document that a command prints with --json."""
    result = run(*arguments, "--json")
    assert result.exit_code == code, result.output
    return json.loads(result.stdout)


def refused(*arguments):
    """Return the one line of a refusal, without its "error: "."""
    result = run(*arguments)
    assert result.exit_code == 2, result.output
    assert "Traceback" not in result.output
    (line,) = result.stderr.splitlines()
    return line.removeprefix("error: ")
