"""Reading and writing a study's files. What they mean is decided elsewhere.

* `frozen/` is written whole under a temporary name and renamed; its files are read-only.
* Freezing an unchanged study again writes nothing.
* `load_frozen` refuses a frozen file that differs from its lock, and an input file that differs
  from its frozen copy, naming both digests.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from judgeaudit.canonical import digest
from judgeaudit.errors import EvidenceError, InputError, JudgeauditError, Problem
from judgeaudit.model import JSON, Item
from judgeaudit.registration.document import Registration
from judgeaudit.registration.draft import (
    FROZEN_NAMES,
    Draft,
    Source,
    parse_document,
    parse_items,
)
from judgeaudit.registration.freeze import (
    Facts,
    Lock,
    Rendered,
    check_lock,
    first_difference,
    frozen_sources,
    make_lock,
    render,
)
from judgeaudit.registration.frozen import FrozenStudy
from judgeaudit.registration.protocol import ProtocolDocument
from judgeaudit.registration.tables import (
    BODY_SCHEMA,
    PLAN_SCHEMA,
    Bodies,
    check_schema,
    plan_from,
    rows_digest,
)

FROZEN = "frozen"
LOCK = "lock.json"
PLAN = "plan.parquet"
BODIES = "bodies.parquet"


def load_study(root: Path, registration: str = FROZEN_NAMES["registration"]) -> Draft:
    """Return the study in `root` as far as it can be read, with everything that cannot.

    Raises `InputError` only where there is no registration at all.
    """
    path = root / registration
    if not path.is_file():
        raise InputError(path, found="no such file", remedy="`judgeaudit init` makes a study")
    source = Source(registration, path.read_bytes())
    document, problems = parse_document(Registration, source)
    if document is None:
        return Draft(root, {"registration": source}, problems=tuple(problems))
    wanted = {
        "protocol": document.protocol.file,
        "battery": document.battery.file,
        "controls": document.controls.items,
    }
    sources = {"registration": source}
    for role, name in wanted.items():
        if name is not None:
            _read_into(sources, root, role, name, problems)
    return _parsed(root, sources, document, problems)


def _read_into(
    sources: dict[str, Source], root: Path, role: str, name: str, problems: list[Problem]
) -> None:
    key = "controls.items" if role == "controls" else f"{role}.file"
    try:
        sources[role] = Source(name, (root / name).read_bytes())
    except OSError as error:
        problems.append(Problem(key, f"{name}: {error.strerror or error}", "name a file there is"))


def _parsed(
    root: Path, sources: Mapping[str, Source], document: Registration, problems: list[Problem]
) -> Draft:
    protocol: ProtocolDocument | None = None
    if "protocol" in sources:
        protocol, found = parse_document(ProtocolDocument, sources["protocol"])
        problems += [replace(p, key=f"{sources['protocol'].path}: {p.key}") for p in found]
    items: dict[str, tuple[Item, ...]] = {"battery": (), "controls": ()}
    for role in [role for role in items if role in sources]:
        items[role], found = parse_items(sources[role])
        problems += found
    return Draft(
        root, sources, document, protocol, items["battery"], items["controls"], tuple(problems)
    )


def freeze(root: Path, facts: Facts) -> tuple[Lock, bool]:
    """Freeze the study in `root`; return its lock, and whether anything was written.

    `check.py` must have found nothing: a draft with problems raises `RegistrationError` here only
    for what could not be read or rendered. Raises `EvidenceError` where the study is frozen
    already and has changed since.
    """
    draft = load_study(root)
    rendered = render(draft.whole())
    lock = make_lock(draft, rendered, facts)
    target = root / FROZEN
    if target.exists():
        return _unchanged(target, lock), False
    write_frozen(target, draft, rendered, lock)
    return lock, True


def _unchanged(target: Path, new: Lock) -> Lock:
    old = read_lock(target)
    if difference := first_difference(old.document["content"], new.document["content"]):
        raise EvidenceError(
            f"{target.parent}: frozen already, and {difference}; "
            "if the change is meant, `judgeaudit prereg amend`"
        )
    check_frozen(target, old.document)
    return old


def write_frozen(target: Path, draft: Draft, rendered: Rendered, lock: Lock) -> None:
    """Write a frozen folder under a temporary name and give it its own when it is whole."""
    with tempfile.TemporaryDirectory(prefix=".freezing-", dir=target.parent) as name:
        folder = Path(name) / target.name
        folder.mkdir()
        for file, source in frozen_sources(draft).items():
            write_bytes(folder / file, source.data)
        write_table(folder / PLAN, rendered.plan_table)
        write_table(folder / BODIES, rendered.body_table)
        write_bytes(folder / LOCK, lock.data)
        sync_folder(folder)
        os.rename(folder, target)
    sync_folder(target.parent)


def write_bytes(path: Path, data: bytes) -> None:
    """Write a read-only file durably."""
    with path.open("xb") as stream:
        stream.write(data)
        stream.flush()
        os.fsync(stream.fileno())
    path.chmod(0o444)


def write_table(path: Path, table: pa.Table) -> None:
    """Write a table as a read-only Parquet file, durably."""
    pq.write_table(table, path, compression="zstd")
    with path.open("rb") as stream:
        os.fsync(stream.fileno())
    path.chmod(0o444)


def sync_folder(folder: Path) -> None:
    """Make the names in a folder durable."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def read_lock(folder: Path) -> Lock:
    """Return a folder's lock; raises `EvidenceError` where it is no sound lock."""
    path = folder / LOCK
    if not path.is_file():
        raise InputError(path, found="no such file", remedy="`judgeaudit prereg freeze` makes it")
    data = path.read_bytes()
    try:
        document: Any = json.loads(data)
    except ValueError as error:
        raise EvidenceError(f"{path}: not JSON: {error}") from error
    if not isinstance(document, dict):
        raise EvidenceError(f"{path}: not a JSON object")
    check_lock(document, str(path))
    return Lock(document, data)


def read_table(path: Path, expected: pa.Schema, promised: Mapping[str, JSON]) -> pa.Table:
    """Return a frozen table; raises `EvidenceError` where it is not what the lock promised."""
    try:
        table = pq.read_table(path, partitioning=None)
    except (OSError, pa.ArrowException) as error:
        raise EvidenceError(f"{path}: cannot be read: {error}") from error
    check_schema(table, expected, str(path))
    actual = rows_digest(table)
    if actual != promised["sha256"]:
        raise EvidenceError(
            f"{path}: {table.num_rows} rows with digest {actual}, but the lock has "
            f"{promised['rows']} rows with {promised['sha256']}"
        )
    return table


def check_frozen(folder: Path, lock: Mapping[str, JSON]) -> dict[str, bytes]:
    """Return the frozen input files; raises `EvidenceError` for one that differs from the lock."""
    files: dict[str, bytes] = {}
    for name, promised in lock["content"]["files"].items():
        path = folder / name
        if not path.is_file():
            raise EvidenceError(f"{path}: missing, but the lock has it with digest {promised}")
        files[name] = path.read_bytes()
        if (actual := digest(files[name])) != promised:
            raise EvidenceError(f"{path}: digest {actual} differs from the lock's {promised}")
    return files


def check_working_copies(root: Path, registration: Registration, lock: Mapping[str, JSON]) -> None:
    """Raise `EvidenceError` where an input file beside `frozen/` was changed after the freeze."""
    names = {
        "registration": FROZEN_NAMES["registration"],
        "protocol": registration.protocol.file,
        "battery": registration.battery.file,
        "controls": registration.controls.items,
    }
    for role, name in names.items():
        path = root / name if name is not None else None
        if path is None or not path.is_file():
            continue
        actual, promised = digest(path.read_bytes()), lock["content"]["files"][FROZEN_NAMES[role]]
        if actual != promised:
            raise EvidenceError(
                f"{path}: digest {actual} differs from the lock's {promised}; "
                "if the change is meant, `judgeaudit prereg amend`"
            )


def parse_frozen(folder: Path, files: Mapping[str, bytes]) -> Draft:
    """Return the documents in frozen copies."""
    roles = {name: role for role, name in FROZEN_NAMES.items()}
    sources = {roles[name]: Source(name, data) for name, data in files.items()}
    document, problems = parse_document(Registration, sources["registration"])
    if document is None:
        return Draft(folder, sources, problems=tuple(problems))
    return _parsed(folder, sources, document, problems)


def load_frozen(root: Path) -> FrozenStudy:
    """Return the frozen study in `root`.

    Raises `InputError` where it is not frozen, `EvidenceError` where anything differs from its
    lock. What is re-derived, and not only compared with a digest, is `verify_frozen`'s.
    """
    folder = root / FROZEN
    lock = read_lock(folder)
    files = check_frozen(folder, lock.document)
    content = lock.document["content"]
    plan = read_table(folder / PLAN, PLAN_SCHEMA, content["plan"])
    bodies = read_table(folder / BODIES, BODY_SCHEMA, content["bodies"])
    try:
        inputs = parse_frozen(folder, files).whole()
    except EvidenceError:
        raise
    except JudgeauditError as error:
        raise EvidenceError(f"{folder}: frozen files of another version: {error}") from error
    check_working_copies(root, inputs.registration, lock.document)
    return FrozenStudy(
        root=root,
        registration=inputs.registration,
        protocol=inputs.protocol,
        items={item.id: item for item in (*inputs.items, *inputs.controls)},
        plan=plan_from(plan),
        bodies=Bodies(bodies),
        lock=lock.document,
        lock_digest=lock.digest,
        locks=(lock.digest,),
        stage_locks={},
    )
