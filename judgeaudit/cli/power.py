"""The body of `judgeaudit prereg power`: how often each design would show what it is meant to."""

from __future__ import annotations

from pathlib import Path

from judgeaudit.cli.exits import ExitCode
from judgeaudit.cli.output import document, lines


def power(study: Path, as_json: bool) -> ExitCode:
    """Print each gate's power at its healthy instrument and the size for 80 and 90 %.

    0 if it could be told for every gate, 3 if not.
    """
    from judgeaudit.cli.progress import heard
    from judgeaudit.report.design_text import power_lines
    from judgeaudit.study.power import power as powers

    rows = powers(study, progress=heard)
    if as_json:
        document({"gates": rows})
    else:
        lines(text for row in rows for text in power_lines(row))
    known = all(row["power"] is not None for row in rows)
    return ExitCode.DONE if known else ExitCode.UNDECIDED
