"""Items from a seed, written as a file of their own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from judgeaudit.battery import KINDS, build_battery, items_to_bytes, lint
from judgeaudit.battery.catalogue import options_of
from judgeaudit.battery.kind import Finding
from judgeaudit.errors import InputError
from judgeaudit.study.folders import Folder


@dataclass(frozen=True, slots=True)
class Written:
    """A battery that was written: its file, how many items, the builder's report, what to know."""

    file: Path
    items: int
    report: Mapping[str, Any]
    findings: tuple[Finding, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return JSON values."""
        told = [asdict(finding) for finding in self.findings]
        report = dict(self.report)
        return {"file": str(self.file), "items": self.items, "report": report, "findings": told}


def kinds() -> list[dict[str, Any]]:
    """Return the kinds that a seed can build: name, what it is, what `n` counts, options."""
    return [
        {"name": one.name, "about": one.about, "counts": one.counted, "options": options_of(name)}
        for name, one in KINDS.items()
    ]


def write_battery(
    kind: str, out: Folder, *, n: int = 20, seed: int = 1, options: Mapping[str, Any] | None = None
) -> Written:
    """Write `n` items of a kind to a new file; the same seed gives the same bytes.

    Raises `InputError` for an unknown kind or option, for items that the linter refuses, and for a
    file that exists.
    """
    built = build_battery(kind, n, seed, **dict(options or {}))
    findings = lint(built.items)
    if errors := [finding for finding in findings if finding.severity == "error"]:
        raise InputError(f"battery {kind}", found="; ".join(map(str, errors)))
    path = Path(out)
    try:
        with path.open("xb") as stream:
            stream.write(items_to_bytes(built.items))
    except FileExistsError:
        raise InputError(path, found="exists already", remedy="name another file") from None
    return Written(path, len(built.items), built.report, tuple(findings))
