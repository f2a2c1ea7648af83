"""The table side of `judgeaudit export`: normalised readings and exploratory estimates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from judgeaudit.analysis.exploratory import explore
from judgeaudit.canonical import file_digest
from judgeaudit.report.supplement.readings import readings_table
from judgeaudit.report.supplement.tables import Origin, Part, estimates_table, items_table
from judgeaudit.study.folders import whole_folder
from judgeaudit.study.supplement_files import Exported, write_manifest, write_part, write_readme
from judgeaudit.study.table import wish_of
from judgeaudit.tables.raw import check_files
from judgeaudit.tables.read import read_long
from judgeaudit.tables.roles import roles_of
from judgeaudit.version import __version__


def export_table(
    paths: Sequence[Path],
    columns: Mapping[str, Any],
    out: Path,
    *,
    gap: float | None = None,
    pass_at: float | None = None,
    also: str | None = None,
) -> Exported:
    """Write what `analyze` finds in a table, and the readings that it rests on.

    `columns` says which column plays which part. Raises `InputError` naming row or column.
    """
    check_files(paths)
    long = read_long(paths, roles_of(columns, "export"))
    report = explore(long, wish_of(gap, pass_at, also))
    digests = {path.name: str(file_digest(path)) for path in paths}
    origin = Origin(f"Supplement: {long.source}", __version__, True, digests, report.notes)
    readings, estimates = readings_table(long), estimates_table(report.estimates)
    with whole_folder(out) as folder:
        parts = [
            write_part(folder, origin, Part(name, row, table.schema), [table])
            for name, row, table in (
                ("readings", "one row of the source, valid or not", readings),
                ("estimates", "one estimate of one part of the table", estimates),
                ("items", "one change of one item's answer", items_table(report.items())),
            )
        ]
        write_readme(folder, origin, parts)
        write_manifest(folder, parts, {"writer": __version__, "sources": digests})
    return Exported(out, origin, tuple(parts), says_nothing=report.says_nothing)
