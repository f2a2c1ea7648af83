"""Several files as the runs of one table: what they are called, and whether they may be repeats."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from judgeaudit.errors import InputError
from judgeaudit.readings.sheet import Coded
from judgeaudit.tables.source import Source

NOT_DECLARED = frozenset({"_record", "run", "n_items", "note", "notes", "date", "time", "seconds"})
REDRAWN = {"datasets_map_cache": "fresh", "candidate_order": "redrawn", "shuffle": "fresh"}
"""Metadata that declares an order of candidates drawn anew in each run."""


def run_of_files(sources: Sequence[Source]) -> Coded:
    """Return each row's run: its file's name, or the run that the file's metadata name."""
    names = [str(source.meta.get("run", source.path.stem)) for source in sources]
    if len(set(names)) < len(names):
        names = [source.path.stem for source in sources]
    sizes = [source.table.num_rows for source in sources]
    return Coded(np.repeat(np.arange(len(names), dtype=np.int32), sizes), names)


def check_metadata(sources: Sequence[Source]) -> None:
    """Refuse files as runs whose metadata differ in more than the run's name."""
    first = sources[0]
    for other in sources[1:]:
        for key in first.meta.keys() | other.meta.keys():
            mine, theirs = first.meta.get(key), other.meta.get(key)
            if key not in NOT_DECLARED and mine != theirs:
                raise InputError(
                    other.path.name,
                    f"metadata {key!r}",
                    f"{theirs!r} differs from {mine!r} in {first.path.name}",
                    "files that differ in it are no repeats of one request",
                )


def redrawn(sources: Sequence[Source]) -> str:
    """Return why the files' candidate orders differ, as their metadata declare."""
    for source in sources:
        for key, value in REDRAWN.items():
            if str(source.meta.get(key)) == value:
                return (
                    f"metadata {key!r} is {value!r}: the candidate order was drawn anew in each "
                    "run, so the requests differ"
                )
    return ""
