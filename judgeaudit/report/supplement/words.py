"""The README beside a supplement's files, made from their schemas: it cannot drift from them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from judgeaudit.report.supplement.tables import VERSION, Origin, Part

OPENING = """
Any of these opens a file; each column's sentence stands in its field's metadata too:

```python
pandas.read_parquet("{name}.parquet")
polars.read_parquet("{name}.parquet")
duckdb.sql("select * from '{name}.parquet'")
pyarrow.parquet.read_schema("{name}.parquet").field("{column}").metadata
```
"""


def readme(origin: Origin, parts: Sequence[Part]) -> str:
    """Return README.md: what was exported, from what, and what each file, row and column is."""
    return "\n".join([*_head(origin), *_files(parts), *_provenance(origin), *_columns(parts)])


def _head(origin: Origin) -> Iterator[str]:
    yield f"# {origin.title}"
    yield ""
    yield f"Written by judgeaudit {origin.writer}, schema `{VERSION}`."
    if origin.exploratory:
        yield "Exploratory: no gate with a pilot and no rule was frozen before these data."
    yield from origin.notes


def _files(parts: Sequence[Part]) -> Iterator[str]:
    yield from ("", "## Files", "", "| file | rows | a row is |", "|---|---|---|")
    for part in parts:
        yield f"| `{part.name}.parquet` | {part.rows:,} | {cell(part.row)} |"
    notes = [note for part in parts for note in part.notes]
    yield from ("", *notes) if notes else ()
    yield OPENING.format(name=parts[0].name, column=parts[0].schema.names[0]).rstrip()


def _provenance(origin: Origin) -> Iterator[str]:
    yield from ("", "## Made from", "", "| what | SHA-256 |", "|---|---|")
    for name, digest in origin.digests.items():
        yield f"| {cell(name)} | `{digest}` |"
    yield from ("", "The same digests stand in each file's metadata, under `judgeaudit.digests`.")


def _columns(parts: Sequence[Part]) -> Iterator[str]:
    for part in parts:
        yield from ("", f"## Columns of `{part.name}.parquet`", "")
        yield from ("| column | type | meaning |", "|---|---|---|")
        for field in part.schema:
            sentence = (field.metadata or {}).get(b"description", b"").decode()
            yield f"| `{cell(field.name)}` | {field.type} | {cell(sentence)} |"
    yield ""


def cell(text: str) -> str:
    """Return text that stays in its cell of a Markdown table."""
    return " ".join(str(text).split()).replace("|", "\\|")
