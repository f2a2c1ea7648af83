"""What `judgeaudit export` says of the supplement that it wrote."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from judgeaudit.cli.exits import ExitCode
from judgeaudit.cli.output import document, lines, remark

if TYPE_CHECKING:
    from judgeaudit.study.supplement_files import Exported


def tell(found: Exported, as_json: bool) -> ExitCode:
    """Print what was written; 3 where nothing could be said, as `analyze` of the same."""
    from judgeaudit.study.supplement_files import README

    code = ExitCode.UNDECIDED if found.says_nothing else ExitCode.DONE
    if as_json:
        document(as_document(found))
        return code
    told = [f"  {part.name}.parquet  {part.rows:,} rows: {part.row}" for part in found.parts]
    lines([f"{found.folder}:", *told, f"  {README}  what each file, row and column is"])
    if found.says_nothing:
        remark("nothing was asked twice, so nothing tells of repeatability")
    return code


def as_document(found: Exported) -> dict[str, Any]:
    """Return what was written as one JSON document."""
    return {
        "folder": str(found.folder),
        "exploratory": found.origin.exploratory,
        "says_nothing": found.says_nothing,
        "digests": dict(found.origin.digests),
        "files": {
            f"{part.name}.parquet": {"rows": part.rows, "row": part.row} for part in found.parts
        },
    }
