"""A later stage's frozen folder: `frozen/stage-2/` with lock, calls and bodies (IO).

Its lock extends the chain: it names the study's lock and the manifests of the sealed runs that the
bodies were made from. What it holds can be derived again from those, and `verify` does.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

from judgeaudit.canonical import digest_of
from judgeaudit.design.differences import differing_rows
from judgeaudit.design.frozen import FrozenStudy
from judgeaudit.design.layout import BODIES, CALLS, FROZEN, LOCK
from judgeaudit.design.lock import Facts, Lock, base_urls
from judgeaudit.design.stages import make_stage, stage_bodies, stage_table
from judgeaudit.design.tables import TODAY, FrozenTables, body_table, rows_digest
from judgeaudit.errors import EvidenceError, InputError
from judgeaudit.evidence.formats import catalogue
from judgeaudit.evidence.formats.catalogue import tables_of
from judgeaudit.evidence.lock.disk import (
    read_lock,
    read_table,
    sync_folder,
    write_lock,
    write_table,
)
from judgeaudit.evidence.lock.layout import table_file_findings
from judgeaudit.evidence.log.files import working_folder
from judgeaudit.model import JSON, Reading

STAGE_SCHEMA_NAME = f"{catalogue.STAGE_LOCK}/{TODAY.number}"


def stage_folder(root: Path, stage: int) -> Path:
    """Return the folder of a later stage."""
    return root / FROZEN / f"stage-{stage}"


def stage_content(calls: pa.Table, bodies: pa.Table) -> dict[str, Any]:
    """Return what alone decides whether a stage is unchanged."""
    return {
        "calls": {"rows": calls.num_rows, "sha256": str(rows_digest(calls))},
        "bodies": {"rows": bodies.num_rows, "sha256": str(rows_digest(bodies))},
    }


def render_stage(
    study: FrozenStudy, stage: int, readings: Iterable[Reading], tables: FrozenTables = TODAY
) -> tuple[pa.Table, pa.Table]:
    """Return a stage's calls and bodies as tables."""
    made = make_stage(study, stage, readings)
    urls = base_urls(study.registration.endpoints)
    return stage_table(made, tables), body_table(stage_bodies(made), urls, tables)


def freeze_stage(
    study: FrozenStudy,
    stage: int,
    readings: Iterable[Reading],
    manifests: Mapping[str, str],
    facts: Facts,
) -> tuple[Lock, bool]:
    """Freeze a later stage from sealed readings; return its lock and whether it was written.

    `manifests` gives the digest of each sealed run of the earlier stages. Freezing an unchanged
    stage again changes nothing; raises `EvidenceError` where it would be another.
    """
    if not 1 < stage <= len(study.asker.stages):
        raise InputError("stage", found=f"{stage}", remedy=f"2 to {len(study.asker.stages)}")
    target = stage_folder(study.root, stage)
    old = read_lock(target, catalogue.STAGE_LOCK) if target.exists() else None
    tables = TODAY if old is None else tables_of(old)
    calls, bodies = render_stage(study, stage, readings, tables)
    content = stage_content(calls, bodies)
    lock = Lock.of(
        {
            "schema": STAGE_SCHEMA_NAME,
            "study": study.registration.study.id,
            "stage": stage,
            "content": content,
            "content_sha256": str(digest_of(content)),
            "extends": {"lock": str(study.lock_digest), "manifests": dict(manifests)},
            "beside": facts.as_json(),
        }
    )
    if old is not None:
        return _unchanged(target, old, lock), False
    return _write(target, calls, bodies, lock), True


def _unchanged(target: Path, old: Lock, new: Lock) -> Lock:
    for part in ("content", "extends"):
        if old.document[part] != new.document[part]:
            raise EvidenceError(
                f"{target / LOCK}: {part} is {digest_of(old.document[part])}, but the sealed "
                f"readings give {digest_of(new.document[part])}"
            )
    return old


def _write(target: Path, calls: pa.Table, bodies: pa.Table, lock: Lock) -> Lock:
    with working_folder(target.parent.parent, ".freezing-") as name:
        folder = name / target.name
        folder.mkdir()
        write_table(folder / CALLS, calls)
        write_table(folder / BODIES, bodies)
        whole = write_lock(folder, lock, (CALLS, BODIES))
        os.rename(folder, target)
    sync_folder(target.parent)
    return whole


def load_stage(root: Path, stage: int, study_lock: str) -> tuple[Lock, pa.Table, pa.Table] | None:
    """Return a later stage's lock, calls and bodies; None where it is not frozen.

    Raises `EvidenceError` where a file differs from the stage's lock, or the lock extends another.
    """
    folder = stage_folder(root, stage)
    if not folder.is_dir():
        return None
    lock = read_lock(folder, catalogue.STAGE_LOCK)
    extends: Mapping[str, JSON] = lock.document["extends"]
    if extends["lock"] != study_lock:
        raise EvidenceError(
            f"{folder / LOCK}: extends lock {extends['lock']}, but the study's is {study_lock}"
        )
    content = lock.document["content"]
    tables = tables_of(lock)
    calls = read_table(folder / CALLS, tables.stage_calls, content["calls"])
    bodies = read_table(folder / BODIES, tables.bodies, content["bodies"])
    return lock, calls, bodies


def verify_stage(
    study: FrozenStudy, stage: int, readings: Iterable[Reading], manifests: Mapping[str, str]
) -> list[str]:
    """Return what differs from a stage made again from sealed readings, by file, row and digest."""
    folder = stage_folder(study.root, stage)
    lock = read_lock(folder, catalogue.STAGE_LOCK)
    findings = list(table_file_findings(folder, lock))
    promised: Mapping[str, JSON] = lock.document["extends"]["manifests"]
    for run in sorted({*promised, *manifests}):
        if promised.get(run) != manifests.get(run):
            findings.append(
                f"{folder / LOCK}: rests on manifest {promised.get(run)} of run {run}, "
                f"but the log has {manifests.get(run)}"
            )
    content = lock.document["content"]
    tables = tables_of(lock)
    calls, bodies = render_stage(study, stage, readings, tables)
    for name, part, schema, again in (
        (CALLS, "calls", tables.stage_calls, calls),
        (BODIES, "bodies", tables.bodies, bodies),
    ):
        found = read_table(folder / name, schema, content[part])
        findings += differing_rows(folder / name, found, again)
    return findings
