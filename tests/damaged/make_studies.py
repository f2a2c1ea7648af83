"""Make the damaged frozen studies: one folder a defect, from one small study.

    python tests/damaged/make_studies.py [FOLDER]      default: the folder of this script

Each specimen is a sound frozen study with one thing done to it, by hand and not by the tools that
made it. `STUDIES` names what `prereg verify` has to say of it.
"""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from judgeaudit.analysis.catalogue import NAMES
from judgeaudit.battery import build_battery
from judgeaudit.canonical import canonical_bytes, digest_of
from judgeaudit.design.amendments import Progress, Words
from judgeaudit.design.builtin_protocols import protocol_source
from judgeaudit.design.lock import Facts
from judgeaudit.design.scaffold import EndpointChoice, Origin, scaffold
from judgeaudit.design.tables import rows_digest
from judgeaudit.evidence.lock.amendment_files import amend
from judgeaudit.evidence.lock.files import freeze

FACTS = Facts("2026-11-29T12:00:00+00:00", "0.1.0", {"python": "any"})


def sound(root: Path) -> None:
    """Write and freeze a score study of four items, and amend it once."""
    root.mkdir(parents=True)
    items = build_battery("scores", 1, 1).items
    origin = Origin("scores", "A specimen.", 1)
    choice = EndpointChoice()
    files = scaffold(root, protocol_source("score"), items, (), choice, origin, NAMES)
    for name, data in files.items():
        (root / name).write_bytes(data)
    freeze(root, FACTS)
    text = (root / "protocol.toml").read_text()
    (root / "protocol.toml").write_text(text.replace("max_tokens = 16", "max_tokens = 9"))
    amend(root, Words("max_tokens 9", "16 met a 400", "all calls, none tried"), FACTS, Progress())


def overwrite(path: Path, data: bytes) -> None:
    path.chmod(0o644)
    path.write_bytes(data)
    path.chmod(0o444)


def edited_lock(frozen: Path) -> None:
    """Write one row fewer into the lock, and nothing else."""
    path = frozen / "lock.json"
    overwrite(path, path.read_bytes().replace(b'"rows":8', b'"rows":7', 1))


def replaced_plan(frozen: Path) -> None:
    """Leave the last call out of the plan, and make a lock that fits."""
    table: pa.Table = pq.read_table(frozen / "plan.parquet")
    table = table.slice(0, table.num_rows - 1)
    (frozen / "plan.parquet").unlink()
    pq.write_table(table, frozen / "plan.parquet")
    lock = json.loads((frozen / "lock.json").read_bytes())
    lock["content"]["plan"] = {"rows": table.num_rows, "sha256": rows_digest(table)}
    lock["content_sha256"] = digest_of(lock["content"])
    overwrite(frozen / "lock.json", canonical_bytes(lock))


def replaced_amendment(frozen: Path) -> None:
    """Give the amendment another reason."""
    path = frozen / "amendments" / "001.json"
    overwrite(path, path.read_bytes().replace(b"16 met a 400", b"no reason", 1))


STUDIES: dict[str, tuple[Callable[[Path], None], str | None]] = {
    "sound-study": (lambda frozen: None, None),
    "edited-lock": (edited_lock, "the lock was edited"),
    "replaced-plan": (replaced_plan, "plan.parquet: 7 rows, derived again 8"),
    "replaced-amendment": (replaced_amendment, "amendments/001.json: digest sha256:"),
}
"""Name of the specimen: what is done to a sound study, and what verification says of it."""


def make(folder: Path, name: str) -> Path:
    """Make one specimen anew and return its study."""
    root = folder / name / "study"
    if root.parent.exists():
        shutil.rmtree(root.parent)
    sound(root)
    STUDIES[name][0](root / "frozen")
    return root


if __name__ == "__main__":
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent
    for specimen in STUDIES:
        print(make(target, specimen))
