"""Which runs a log holds, in which order, and starting the next.

log/journal/<run>.jsonl
log/sealed/<run>/attempts.parquet, readings.parquet, manifest.json
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from judgeaudit.errors import EvidenceError, GuardError
from judgeaudit.evidence.log.files import DiskFile, Opener
from judgeaudit.evidence.log.finding import Defect, Finding
from judgeaudit.evidence.log.journal import Journal
from judgeaudit.evidence.log.manifest import manifest_from
from judgeaudit.evidence.log.records import Opening
from judgeaudit.model import PlannedCall

MANIFEST = "manifest.json"


@dataclass(frozen=True, slots=True)
class SealedRun:
    """A sealed run: its folder, its manifest and the manifest's digest."""

    folder: Path
    manifest: dict[str, Any]
    digest: str

    @property
    def name(self) -> str:
        """Return the run's name, its folder's."""
        return self.folder.name


def journal_path(log_dir: Path, run: str) -> Path:
    """Return where a run's journal is."""
    return log_dir / "journal" / f"{run}.jsonl"


def sealed_path(log_dir: Path, run: str) -> Path:
    """Return where a sealed run is."""
    return log_dir / "sealed" / run


def sealed_folders(log_dir: Path) -> list[Path]:
    """Return the folders of sealed runs, by name; unfinished ones start with a dot."""
    root = log_dir / "sealed"
    folders = sorted(root.iterdir()) if root.is_dir() else []
    return [path for path in folders if path.is_dir() and not path.name.startswith(".")]


def read_manifest(folder: Path) -> SealedRun:
    """Return a folder's sealed run as its manifest has it; raises `EvidenceError`."""
    path = folder / MANIFEST
    try:
        data = path.read_bytes()
    except FileNotFoundError as error:
        raise EvidenceError(f"{path}: missing; a sealed run has a manifest") from error
    return SealedRun(folder, *manifest_from(data, path))


def in_order(runs: Iterable[SealedRun]) -> tuple[list[SealedRun], list[Finding]]:
    """Return the runs by their numbers, and where the chain of their manifests is broken."""
    ordered = sorted(runs, key=lambda run: (run.manifest["number"], run.name))
    findings = []
    before: SealedRun | None = None
    for run in ordered:
        if found := _link(before, run):
            findings.append(found)
        before = run
    return ordered, findings


def _link(before: SealedRun | None, run: SealedRun) -> Finding | None:
    """Return what is wrong between a run and the one before it."""
    place, named = run.folder / MANIFEST, run.manifest["previous_manifest"]
    head, number = (before.digest, before.manifest["number"]) if before else (None, 0)
    if run.manifest["number"] != number + 1:
        detail = (
            f"runs {number + 1} to {run.manifest['number'] - 1} are missing before run {run.name}"
        )
        return Finding(Defect.MISSING_RUN, place, detail, expected=named, got=head)
    if named != head:
        edited = before.folder / MANIFEST if before else place
        detail = f"its digest is not what the next run, {run.name}, was chained to"
        return Finding(Defect.EDITED_MANIFEST, edited, detail, expected=named, got=head)
    return None


def sealed_runs(log_dir: Path) -> list[SealedRun]:
    """Return the sealed runs in order; raises `EvidenceError` if their chain is broken."""
    runs, findings = in_order(map(read_manifest, sealed_folders(log_dir)))
    if findings:
        raise EvidenceError(str(findings[0]))
    return runs


def unsealed_runs(log_dir: Path) -> list[str]:
    """Return the names of runs that have a journal and are not sealed."""
    journals = (path.stem for path in (log_dir / "journal").glob("*.jsonl"))
    return sorted(run for run in journals if not sealed_path(log_dir, run).exists())


def start(
    log_dir: Path,
    opening: Opening,
    calls: Sequence[PlannedCall] | None,
    *,
    secrets: Iterable[str] = (),
    opener: Opener = DiskFile,
) -> Journal:
    """Open the run's journal, new or where it ended, chained to the last sealed run.

    `opening.previous_manifest` is filled in here. Raises `GuardError` if the run is sealed or
    finished, or if another run waits to be sealed: manifests form one chain.
    """
    if sealed_path(log_dir, opening.run).exists():
        raise GuardError(f"{sealed_path(log_dir, opening.run)}: the run is sealed")
    if others := [run for run in unsealed_runs(log_dir) if run != opening.run]:
        raise GuardError(
            f"{journal_path(log_dir, others[0])}: run {others[0]!r} is not sealed yet; finish it "
            f"before run {opening.run!r} begins"
        )
    runs = sealed_runs(log_dir)
    opening = replace(opening, previous_manifest=runs[-1].digest if runs else None)
    path = journal_path(log_dir, opening.run)
    if path.exists():
        return Journal.resume(path, calls, opening=opening, secrets=secrets, opener=opener)
    return Journal.open(path, opening, calls, secrets=secrets, opener=opener)
