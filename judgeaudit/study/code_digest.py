"""A digest of the code that estimates and decides, recorded beside what it simulated."""

from __future__ import annotations

from pathlib import Path

from judgeaudit.canonical import digest, file_digest

ROOMS = ("analysis", "verdict")


def code_digest() -> str:
    """Return the digest of every source file of `analysis` and `verdict`, by name."""
    root = Path(__file__).parents[1]
    lines = [
        f"{path.relative_to(root).as_posix()} {file_digest(path)}"
        for room in ROOMS
        for path in sorted((root / room).rglob("*.py"))
    ]
    return str(digest("\n".join(lines).encode()))
