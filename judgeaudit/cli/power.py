"""The body of `judgeaudit prereg power`: how often each design would show what it is meant to."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from judgeaudit.cli.exits import ExitCode
from judgeaudit.cli.output import document, lines


def power(study: Path, as_json: bool) -> ExitCode:
    """Print each gate's power at its healthy instrument and the size for 80 and 90 %.

    0 if it could be told for every gate, 3 if not.
    """
    from judgeaudit.cli.progress import heard
    from judgeaudit.study.power import power as powers

    rows = powers(study, progress=heard)
    if as_json:
        document({"gates": rows})
    else:
        lines(text for row in rows for text in _lines(row))
    known = all(row["power"] is not None for row in rows)
    return ExitCode.DONE if known else ExitCode.UNDECIDED


def _lines(row: dict[str, Any]) -> Iterator[str]:
    yield f"gate {row['gate']}: {row['statistic']}, healthy {row['healthy'] or 'not declared'}"
    if row["power"] is None:
        yield "  not known: declare healthy, and pilot"
    else:
        by = row.get("method") or ("by the pilot's precision" if row["from_pilot"] else "assumed")
        wrong = "" if row["wrong_pass"] is None else f"; degraded passes {row['wrong_pass']:.2f}"
        yield f"  {row['units']} independent units: power {row['power']:.2f} ({by}){wrong}"
    if row["kappa"] is not None:
        yield f"  kappa {row['kappa']:.3g}"
    for wanted, told in row["needed"].items():
        if told["units"] is None:
            yield f"  for power {wanted}: {told['why']}"
        else:
            cost = f", {told['cost']} an endpoint" if told.get("cost") else ""
            yield f"  for power {wanted}: {told['units']:,} units{cost}"
    if "sentence" in row:
        yield f"  {row['sentence']}"
