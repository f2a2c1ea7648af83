"""What `judgeaudit export` says of the supplement that it wrote."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from judgeaudit.cli.exits import ExitCode
from judgeaudit.cli.output import document, lines

if TYPE_CHECKING:
    from judgeaudit.study.supplement_files import Exported


def tell(found: Exported, as_json: bool) -> ExitCode:
    """Print what was written."""
    from judgeaudit.study.supplement_files import README

    if as_json:
        document(as_document(found))
        return ExitCode.DONE
    told = [f"  {part.name}.parquet  {part.rows:,} rows: {part.row}" for part in found.parts]
    lines([f"{found.folder}:", *told, f"  {README}  what each file, row and column is"])
    return ExitCode.DONE


def as_document(found: Exported) -> dict[str, Any]:
    """Return what was written as one JSON document."""
    return {
        "folder": str(found.folder),
        "exploratory": found.origin.exploratory,
        "digests": dict(found.origin.digests),
        "files": {
            f"{part.name}.parquet": {"rows": part.rows, "row": part.row} for part in found.parts
        },
    }
