"""`judgeaudit status`: how far a study is."""

from __future__ import annotations

from judgeaudit.cli.exits import ExitCode, exits
from judgeaudit.cli.output import AsJson, StudyPath, document, lines


@exits
def status(study: StudyPath, as_json: AsJson = False) -> ExitCode:
    """Show windows, ledger, cap, cost, and up to five examples of each invalid reason.

    Looks only; a run may be under way. Example: judgeaudit status my-study --json
    """
    from judgeaudit.study.look import status as looked

    found = looked(study)
    if as_json:
        document(found)
    else:
        from judgeaudit.report.calls_text import status_lines

        lines(status_lines(found))
    return ExitCode.DONE
