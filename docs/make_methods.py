"""Fill the generated blocks of docs/methods.md: `python docs/make_methods.py` (`--check` compares).

A block stands between a comment that names it and `<!-- end -->`:

* `coverage: NAME; NAME`: rows of docs/coverage.md whose analysis is one of the names, and the cells
  of theirs that fell short;
* `table: FILE | HEADING`: the table under a heading of another page that a benchmark wrote;
* `limits`: where the commands warn, from `judgeaudit.stats.limits`;
* `names`: what a registration may use, from `judgeaudit.analysis.catalogue`.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path

from judgeaudit.analysis.catalogue import NAMES
from judgeaudit.statistic import Statistic
from judgeaudit.stats.limits import LEAST_MEASURED_CLUSTERS, LEAST_MEASURED_ITEMS, LIMITS

DOCS = Path(__file__).parent
PAGE = DOCS / "methods.md"
BLOCK = re.compile(r"(<!-- (names|limits|(?:coverage|table): [^>]+) -->\n).*?(<!-- end -->)", re.S)


def table_under(file: str, heading: str) -> list[str]:
    """Return the lines of the table under a heading; raises `ValueError` where there is none."""
    lines = (DOCS / file).read_text(encoding="utf-8").splitlines()
    if f"## {heading}" not in lines:
        raise ValueError(f"{file} has no heading {heading!r}")
    after = lines[lines.index(f"## {heading}") + 1 :]
    until = next((i for i, line in enumerate(after) if line.startswith("## ")), len(after))
    return [line for line in after[:until] if line.startswith("|")]


def coverage(names: str) -> str:
    """Return the coverage rows of some analyses, then their cells that fell short."""
    wanted = [name.strip() for name in names.split(";")]
    whole = _of("Lowest, median and highest coverage", wanted)
    if len(whole) == 2:
        raise ValueError(f"coverage.md has no row of {names}")
    failing = _of(_heading("Cells that fail"), wanted)
    if len(failing) == 2:
        return "\n".join(whole)
    return "\n".join([*whole, "", "Cells that fell short:", "", *failing])


def _of(heading: str, wanted: list[str]) -> list[str]:
    head, rule, *rows = table_under("coverage.md", heading)
    return [head, rule, *(row for row in rows if _analysis(row).startswith(_prefixes(wanted)))]


def _prefixes(wanted: list[str]) -> tuple[str, ...]:
    return tuple(f"{name}{mark}" for name in wanted for mark in (",", "(", " ", "|"))


def _analysis(row: str) -> str:
    return row.removeprefix("|").split("|")[0].strip() + "|"


def _heading(start: str) -> str:
    lines = (DOCS / "coverage.md").read_text(encoding="utf-8").splitlines()
    return next(line[3:] for line in lines if line.startswith(f"## {start}"))


def limits() -> str:
    """Return where the commands warn of an interval."""
    rows = ["| interval of | up to | where | covered as little as |", "|---|---|---|---|"]
    rows += [
        f"| {limit.analysis} | {limit.items} items | {limit.condition} | {limit.coverage:.2f} |"
        for limit in LIMITS
    ]
    return "\n".join(
        [
            *rows,
            "",
            f"Nothing was measured below {LEAST_MEASURED_ITEMS} items, nor, where the error is "
            f"summed by task, below {LEAST_MEASURED_CLUSTERS} tasks.",
        ]
    )


def names() -> str:
    """Return the names that a registration may use, with the facts of their records."""
    rows = [f"| {' | '.join(HEADS)} |", "|---" * len(HEADS) + "|"]
    rows += [f"| {' | '.join(_cells(NAMES[name]))} |" for name in sorted(NAMES)]
    return "\n".join(rows)


HEADS = (
    "name",
    "gives",
    "reads",
    "values",
    "interval from",
    "measured to cover as",
    "over",
    "needs",
    "answers",
    "params",
    "gate",
)


def _cells(found: Statistic) -> tuple[str, ...]:
    low, high = found.bounds
    return (
        f"`{found.name}`",
        found.about.replace("|", "\\|"),
        ", ".join(found.reads) or "any",
        f"{low:g} to {high:g} {found.unit}, {BETTER[found.better]}",
        f"{found.least_units} units" if found.least_units else "none",
        found.covered.name if found.covered else "not measured",
        ", ".join(found.over),
        ", ".join(sorted(found.needs)),
        ", ".join(sorted({answer.decision for answer in found.answers})),
        "; ".join(f"{param.name}: {param.allowed}" for param in found.params),
        "yes" if found.gate else f"no: {found.why_no_gate}",
    )


BETTER = {"high": "more is better", "low": "less is better", "": "neither way is better"}


def made(block: str) -> str:
    """Return what a block should hold."""
    kind, _, argument = block.partition(": ")
    if kind == "table":
        file, heading = (part.strip() for part in argument.split("|", 1))
        return "\n".join(table_under(file, heading))
    if kind == "coverage":
        return coverage(argument)
    plain: dict[str, Callable[[], str]] = {"limits": limits, "names": names}
    return plain[kind]()


def filled(text: str) -> str:
    """Return the page with its blocks made anew."""
    return BLOCK.sub(lambda m: f"{m[1]}{made(m[2])}\n{m[3]}", text)


def main() -> int:
    """Write the page, or say whether it is current."""
    old = PAGE.read_text(encoding="utf-8")
    new = filled(old)
    if "--check" in sys.argv:
        return int(new != old)
    PAGE.write_text(new, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
