"""A finished journal to a sealed run: two Parquet parts and a manifest, read-only.

The run's folder appears whole under its name or not at all, and never over another. Sealing again
what is sealed changes nothing; after a crash it starts over from the journal.
"""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from judgeaudit.canonical import file_digest
from judgeaudit.errors import EvidenceError, GuardError
from judgeaudit.evidence.log.chain import genesis
from judgeaudit.evidence.log.files import publish
from judgeaudit.evidence.log.lanes import check_lanes, lanes_of
from judgeaudit.evidence.log.manifest import JournalFileFacts, build, manifest_bytes
from judgeaudit.evidence.log.parts import Part, PartWriter
from judgeaudit.evidence.log.reader import AttemptIndex, JournalRead, attempts_by_call, read_journal
from judgeaudit.evidence.log.rows import attempt_row, reading_row
from judgeaudit.evidence.log.runs import (
    MANIFEST,
    journal_path,
    read_manifest,
    sealed_path,
    sealed_runs,
)
from judgeaudit.evidence.log.schema import ATTEMPTS, READINGS, schema
from judgeaudit.evidence.log.standard import Derive, count_status, readings_of
from judgeaudit.evidence.log.state import JournalState
from judgeaudit.model import Attempt, PlannedCall
from judgeaudit.version import __version__


def seal_run(
    log_dir: Path, run: str, calls: Sequence[PlannedCall], lock_digest: str, derive: Derive
) -> dict[str, Any]:
    """Seal a run whose journal is finished; returns its manifest.

    `calls` are the planned calls of the run's window. Attempts stand in plan order, preflight
    first. Raises `GuardError` if the run is not finished or another run was sealed since it began,
    `EvidenceError` if journal, plan and lock do not fit.
    """
    final = sealed_path(log_dir, run)
    if final.exists():
        return read_manifest(final).manifest
    index = AttemptIndex()
    read = read_journal(journal_path(log_dir, run), index.note)
    check_finished(read, run, calls, lock_digest)
    before = sealed_runs(log_dir)
    previous = before[-1].digest if before else None
    if read.state.run.previous_manifest != previous:
        raise GuardError(
            f"{read.path}: began after manifest {read.state.run.previous_manifest}, the last "
            f"sealed one is {previous}; runs are sealed in the order in which they began"
        )
    folder = _fresh(final.with_name(f".{run}.partial"))
    parts, readings = _write_parts(folder, read, index, calls, derive)
    manifest = build(
        read.state,
        number=len(before) + 1,
        previous=previous,
        journal=journal_facts(read),
        parts=parts,
        readings=readings,
        writer=__version__,
    )
    (folder / MANIFEST).write_bytes(manifest_bytes(manifest))
    publish(folder, final)
    return manifest


def check_finished(
    read: JournalRead, run: str, calls: Sequence[PlannedCall], lock_digest: str
) -> None:
    """Return if a journal is the finished one of this run, plan and lock."""
    opening = read.state.run
    for name, expected in (("run", run), ("lock_digest", lock_digest)):
        if getattr(opening, name) != expected:
            raise EvidenceError(
                f"{read.path}: {name} expected {expected}, got {getattr(opening, name)}"
            )
    if not read.state.sealed:
        raise GuardError(f"{read.path}: the run is not finished; run it again to resume it")
    check_lanes(read.state.lanes, lanes_of(calls))


def journal_facts(read: JournalRead) -> JournalFileFacts:
    """Return what a manifest says about a journal's file."""
    return JournalFileFacts(
        file_digest(read.path), read.path.stat().st_size, read.chain.length, str(read.head)
    )


def _write_parts(
    folder: Path,
    read: JournalRead,
    index: AttemptIndex,
    calls: Sequence[PlannedCall],
    derive: Derive,
) -> tuple[dict[str, Part], Counter[str]]:
    attempts, readings = (_writer(folder, part, read.state) for part in (ATTEMPTS, READINGS))
    counts: Counter[str] = Counter()
    log = read.state.format

    def planned() -> Iterator[tuple[PlannedCall, list[Attempt]]]:
        for call, group in attempts_by_call(read.path, index, calls):
            for attempt in group:
                attempts.write(attempt_row(attempt, log))
            if call is not None:
                yield call, group

    for reading in readings_of(planned(), read.state, derive):
        row = reading_row(reading, log)
        count_status(counts, row)
        readings.write(row)
    return {ATTEMPTS: attempts.close(), READINGS: readings.close()}, counts


def _writer(folder: Path, part: str, state: JournalState) -> PartWriter:
    run, lock = state.run.run, state.run.lock_digest
    described = schema(part, run=run, lock_digest=lock, writer=__version__, log=state.format)
    return PartWriter(folder / part, described, genesis(run, part, lock))


def _fresh(folder: Path) -> Path:
    """Return an empty folder; what an interrupted sealing left in it is made again."""
    if folder.exists():
        shutil.rmtree(folder)
    folder.mkdir(parents=True)
    return folder
