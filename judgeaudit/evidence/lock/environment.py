"""What is true of a machine and a checkout at the time of a freeze (IO: reads, never writes)."""

from __future__ import annotations

import platform
import subprocess
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from judgeaudit.design.lock import Facts
from judgeaudit.evidence.lock.declared import read_declared
from judgeaudit.model import JSON

DISTRIBUTION = "judgeaudit-toolkit"
PACKAGES = ("httpx", "numpy", "pandas", "pyarrow", "pydantic", "rfc8785", "scipy", "tenacity")
"""Packages whose versions can matter to what is sent or computed."""


def facts(root: Path, now: datetime) -> Facts:
    """Return the facts for freezing the study in `root` at `now`."""
    return Facts(
        frozen_at=now.astimezone(UTC).isoformat(timespec="seconds"),
        code_version=installed(DISTRIBUTION) or "not installed",
        environment={
            "python": platform.python_version(),
            "implementation": platform.python_implementation(),
            "platform": f"{platform.system()} {platform.machine()}",
            **{name: installed(name) or "not installed" for name in PACKAGES},
        },
        git=git_state(root),
        data_access=data_access(root),
        declared=read_declared(root),
    )


def installed(name: str) -> str | None:
    """Return a distribution's version, or None."""
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def git_state(root: Path) -> dict[str, JSON] | None:
    """Return commit and dirty flag of the checkout that `root` lies in; None outside of one."""
    commit = _git(root, "rev-parse", "HEAD")
    if commit is None:
        return None
    status = _git(root, "status", "--porcelain", "--", ".")
    return {"commit": commit, "dirty": bool(status) if status is not None else None}


def _git(root: Path, *arguments: str) -> str | None:
    try:
        done = subprocess.run(
            ["git", "-C", str(root), *arguments],
            capture_output=True,
            text=True,
            timeout=10,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()


def data_access(root: Path) -> dict[str, JSON]:
    """Return what had been collected for this study at the time: sealed runs, any journal."""
    sealed = root / "log" / "sealed"
    journal = root / "log" / "journal"
    return {
        "sealed_runs": sorted(path.name for path in sealed.iterdir()) if sealed.is_dir() else [],
        "journal_exists": journal.is_dir() and any(journal.iterdir()),
    }
