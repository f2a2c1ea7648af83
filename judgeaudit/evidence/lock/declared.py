"""What providers stated of a study's models, kept beside the registration (IO).

`declared.json` holds the answers of `prereg check --online`, each with its time and the version of
the SDK that asked. It is declared identity: nothing is decided by it. A freeze puts it into the
lock's `beside`; asking again replaces the file and leaves a lock as it is.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from judgeaudit.canonical import canonical_bytes
from judgeaudit.errors import InputError
from judgeaudit.evidence.log.files import sweep
from judgeaudit.model import JSON

NAME = "declared.json"
SCHEMA = "judgeaudit/declared/1"


def write_declared(root: Path, answers: Sequence[dict[str, JSON]], now: datetime) -> Path:
    """Write the answers of all endpoints, replacing those of an earlier asking; return the path."""
    asked = now.astimezone(UTC).isoformat(timespec="seconds")
    document = {"schema": SCHEMA, "asked_at": asked, "endpoints": list(answers)}
    path = root / NAME
    sweep(path)
    temporary = path.with_name(f".{NAME}.{os.getpid()}")
    with temporary.open("xb") as stream:
        stream.write(canonical_bytes(document))
    temporary.replace(path)
    return path


def read_declared(root: Path) -> dict[str, JSON] | None:
    """Return what was stated, None where nobody asked; raises `InputError` for another file."""
    path = root / NAME
    if not path.is_file():
        return None
    try:
        document = json.loads(path.read_bytes())
    except (ValueError, RecursionError):
        document = None
    if not isinstance(document, dict) or document.get("schema") != SCHEMA:
        raise InputError(
            path, found="not what `prereg check --online` writes", remedy="delete it, or ask again"
        )
    return document
