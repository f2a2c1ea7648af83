"""Whether a frozen study is what its own inputs give: everything derived again (IO: reads).

Digests are compared first: they tell that something changed. Then plan and bodies are made again
from the frozen copies and compared row by row: that tells what. An edited lock fails its own
content digest; a lock that was replaced together with plan and bodies fails the derivation; one
that was replaced together with everything fails the log, whose records name the lock, and the
time stamp where there is one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from judgeaudit.design.differences import differing_rows
from judgeaudit.design.document import Registration
from judgeaudit.design.draft import Inputs
from judgeaudit.design.layout import BODIES, FROZEN, LOCK, PLAN, TOKEN
from judgeaudit.design.lock import Lock, content_of, first_difference
from judgeaudit.design.tables import rows_digest
from judgeaudit.errors import InputError, JudgeauditError, OtherVersion
from judgeaudit.evidence.lock.amendment_files import chain
from judgeaudit.evidence.lock.disk import read_lock
from judgeaudit.evidence.lock.files import render_frozen
from judgeaudit.evidence.lock.layout import (
    input_findings,
    layout_findings,
    superseded_findings,
)
from judgeaudit.evidence.lock.sources import check_working_copies, parse_frozen, read_frozen
from judgeaudit.evidence.lock.timestamp import check_token
from judgeaudit.model import JSON


def verify_frozen(root: Path) -> list[str]:
    """Return everything that is not what it should be, naming file, row and digests.

    Raises `InputError` where the study is not frozen at all, `OtherVersion` where another version
    froze it.
    """
    folder = root / FROZEN
    if not folder.is_dir():
        raise InputError(
            folder, found="no such folder", remedy="`judgeaudit prereg freeze` makes it"
        )
    try:
        lock = read_lock(folder)
    except OtherVersion:
        raise
    except JudgeauditError as error:
        return [str(error)]
    findings = list(_said(lambda: chain(folder, lock)))
    findings += layout_findings(folder, lock)
    findings += superseded_findings(folder)
    files, differing = read_frozen(folder, lock.document)
    findings += differing
    findings += _token_findings(folder, lock)
    promised = lock.document["content"]
    tables = {name: _table(folder / name, findings) for name in (PLAN, BODIES)}
    if len(files) < len(promised["files"]):
        return [*findings, *_promised(folder, tables, promised)]
    try:
        inputs = parse_frozen(folder, files).whole()
        findings += _derived_findings(folder, inputs, files, tables, lock)
    except JudgeauditError as error:
        return [*findings, f"{folder}: cannot be derived again: {error}"]
    findings += _working_findings(root, inputs.registration, lock.document)
    return findings


def _said(check: Callable[[], Any]) -> Iterator[str]:
    try:
        check()
    except JudgeauditError as error:
        yield str(error)


def _token_findings(folder: Path, lock: Lock) -> Iterator[str]:
    path = folder / TOKEN
    if path.is_file():
        yield from _said(lambda: check_token(path, path.read_bytes(), lock.data))


def _working_findings(
    root: Path, registration: Registration, lock: Mapping[str, JSON]
) -> Iterator[str]:
    yield from input_findings(root, registration)
    yield from _said(lambda: check_working_copies(root, registration, lock))


def _table(path: Path, findings: list[str]) -> pa.Table | None:
    try:
        return pq.read_table(path, partitioning=None)
    except (OSError, pa.ArrowException) as error:
        findings.append(f"{path}: cannot be read: {' '.join(str(error).split())}")
        return None


def _promised(
    folder: Path, tables: Mapping[str, pa.Table | None], content: Mapping[str, JSON]
) -> Iterator[str]:
    """Yield tables whose rows differ from the lock's digest."""
    for name, part in ((PLAN, "plan"), (BODIES, "bodies")):
        table = tables[name]
        if table is not None and (actual := rows_digest(table)) != content[part]["sha256"]:
            yield (
                f"{folder / name}: {table.num_rows} rows with digest {actual}, but the lock has "
                f"{content[part]['rows']} rows with {content[part]['sha256']}"
            )


def _derived_findings(
    folder: Path,
    inputs: Inputs,
    files: Mapping[str, bytes],
    tables: Mapping[str, pa.Table | None],
    lock: Lock,
) -> Iterator[str]:
    """Yield what differs from plan and bodies derived again from the frozen inputs."""
    promised = lock.document["content"]
    yield from _promised(folder, tables, promised)
    derived = render_frozen(folder, inputs, lock)
    content = content_of(files, derived.plan_table, derived.body_table)
    if difference := first_difference(promised, content):
        yield f"{folder / LOCK}: derived again from the frozen inputs, {difference}"
    for name, again in ((PLAN, derived.plan_table), (BODIES, derived.body_table)):
        table = tables[name]
        if table is not None:
            yield from differing_rows(folder / name, table, again)
