"""Tables as files: Parquet with a sentence a column, CSV, JSON lines; one-line errors."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd


def write_table(
    path: Path, frame: pd.DataFrame, sentences: Mapping[str, str], meta: Mapping[str, str]
) -> None:
    """Write `frame` as Parquet, each column with its sentence, `meta` in the file's metadata."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    from judgeaudit.version import __version__

    table = pa.Table.from_pandas(frame, preserve_index=False)
    fields = [
        field.with_metadata({"description": sentences[field.name]})
        if field.name in sentences
        else field
        for field in table.schema
    ]
    about = {"judgeaudit.schema": "results/1", "judgeaudit.writer": __version__, **meta}
    whole = table.cast(pa.schema(fields, metadata=about))
    replace_whole(path, lambda part: pq.write_table(whole, part))


def replace_whole(path: Path, write: Callable[[Path], object]) -> None:
    """Let `write` fill a file beside `path`, then put it there in one step.

    The file is new: what stands under its name, be it a link, is taken away first.
    """
    part = path.with_name(f".{path.name}.part")
    part.unlink(missing_ok=True)
    part.touch(exist_ok=False)
    write(part)
    os.replace(part, path)
