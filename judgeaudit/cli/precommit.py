"""What pre-commit runs: `prereg verify` of every frozen study that a commit touches.

pre-commit gives the changed files; a study is the nearest folder above one that holds `frozen/`.
Exits 0 where every study is as frozen, 1 where one is not, 2 where one cannot be read.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from judgeaudit.errors import JudgeauditError
from judgeaudit.printable import printable

FROZEN = "frozen"


def studies_of(files: Iterable[str]) -> list[Path]:
    """Return the frozen studies that the files belong to, each once, in order."""
    found: dict[Path, None] = {}
    for name in files:
        study = next((p for p in Path(name).parents if (p / FROZEN / "lock.json").is_file()), None)
        if study is not None:
            found[study] = None
    return list(found)


def main(arguments: Sequence[str] | None = None) -> int:
    """Verify the studies of the files that are given; returns the exit code."""
    from judgeaudit.study.freeze import frozen_findings

    worst = 0
    for study in studies_of(sys.argv[1:] if arguments is None else arguments):
        try:
            findings = frozen_findings(study, stages=False)
        except (JudgeauditError, OSError) as error:
            print(printable(f"error: {error}"), file=sys.stderr)
            worst = 2
            continue
        for finding in findings:
            print(printable(f"{study}: {finding}"))
        worst = max(worst, 1 if findings else 0)
    return worst
