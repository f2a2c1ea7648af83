"""Every file of a log against every other, the plan and the derivation.

Checked are: the chain of manifests (a run in the middle cannot go missing), each manifest field by
field against journal, parts and plan, each file's digest, the journal's chain and rules, each
part's rows against the journal, each reading against a new derivation, the ledger. A defect gives
at least one `Finding`; a sound log gives none. What a folder alone cannot show is that its *last*
runs were removed: give `expected_head`, the digest of the last manifest, where it is known.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

from judgeaudit.canonical import file_digest
from judgeaudit.errors import EvidenceError, GuardError, OtherVersion
from judgeaudit.evidence.formats import catalogue
from judgeaudit.evidence.log.chain import genesis
from judgeaudit.evidence.log.examine import UNREADABLE, examine
from judgeaudit.evidence.log.files import leftover_of
from judgeaudit.evidence.log.finding import Defect, Finding
from judgeaudit.evidence.log.manifest import build, differences
from judgeaudit.evidence.log.parts import Part, provenance
from judgeaudit.evidence.log.reader import AttemptIndex, read_journal
from judgeaudit.evidence.log.runs import (
    MANIFEST,
    SealedRun,
    in_order,
    journal_path,
    read_manifest,
    sealed_folders,
    unsealed_runs,
)
from judgeaudit.evidence.log.schema import ATTEMPTS, READINGS
from judgeaudit.evidence.log.seal import check_finished, journal_facts
from judgeaudit.evidence.log.standard import Derive, Standard
from judgeaudit.evidence.strays import beside
from judgeaudit.model import PlannedCall


def calls_of(plan: Sequence[PlannedCall], stage: int, window: str) -> list[PlannedCall]:
    """Return the planned calls of one run: those of its window."""
    return [call for call in plan if (call.stage, call.window) == (stage, window)]


def verify_log(
    log_dir: Path,
    plan: Sequence[PlannedCall],
    lock_digest: str,
    derive: Derive,
    *,
    expected_head: str | None = None,
    superseded: Collection[str] = (),
    windows: Collection[str] = (),
) -> list[Finding]:
    """Return all that is wrong with a log; empty if it is sound.

    `superseded` are locks that amendments followed: a run may have begun under one of them.
    `windows` are names that belong here although no call of the plan has them.
    """
    findings = list(_strays(log_dir, {*windows, *(call.window for call in plan)}))
    runs: list[SealedRun] = []
    for folder in sealed_folders(log_dir):
        try:
            runs.append(read_manifest(folder))
        except OtherVersion as error:
            findings.append(_other_version(folder, error))
        except EvidenceError as error:
            findings.append(Finding(Defect.EDITED_MANIFEST, folder / MANIFEST, str(error)))
    ordered, problems = in_order(runs)
    findings += problems
    for run in ordered:
        calls = calls_of(plan, run.manifest["stage"], run.manifest["window"])
        said = run.manifest["lock_digest"]
        lock = said if said in superseded else lock_digest
        findings += verify_run(log_dir, run, calls, lock, derive)
    for name in unsealed_runs(log_dir):
        findings += _unsealed(journal_path(log_dir, name))
    head = ordered[-1].digest if ordered else None
    if expected_head is not None and head != expected_head:
        detail = "the last manifest is not the one that was noted"
        findings.append(
            Finding(Defect.MISSING_RUN, log_dir, detail, expected=expected_head, got=head)
        )
    return findings


def _other_version(folder: Path, error: OtherVersion) -> Finding:
    """Return the finding of a manifest that names a format that is not read.

    The parts beside it name theirs too: where one is of a format that is read, the manifest was
    edited, since a run keeps one format.
    """
    path = folder / MANIFEST
    for name in (ATTEMPTS, READINGS):
        said = _said(folder / name, "judgeaudit.schema")
        if said in {log.schema_version for log in catalogue.log_formats().values()}:
            detail = f"its format is not that of {name}"
            return Finding(Defect.EDITED_MANIFEST, path, detail, expected=said, got=error.said)
    return Finding(Defect.OTHER_VERSION, path, str(error))


def verify_run(
    log_dir: Path,
    run: SealedRun,
    calls: Sequence[PlannedCall],
    lock_digest: str,
    derive: Derive,
) -> list[Finding]:
    """Return all that is wrong with one sealed run, its place in the chain apart."""
    findings = list(_ledger(run))
    if not calls:
        found = f"window {run.manifest['window']!r} of stage {run.manifest['stage']}"
        findings.append(Finding(Defect.STRAY, run.folder, f"{found} is not in the plan"))
    standard, problems = _standard(log_dir, run, calls, lock_digest, derive)
    findings += problems
    parts = {}
    for name in (ATTEMPTS, READINGS):
        facts, problems = _part(run, name, lock_digest, standard)
        findings += problems
        if facts is not None:
            parts[name] = facts
    return findings if standard is None else [*findings, *_manifest(run, standard, parts)]


def _standard(
    log_dir: Path,
    run: SealedRun,
    calls: Sequence[PlannedCall],
    lock_digest: str,
    derive: Derive,
) -> tuple[Standard | None, list[Finding]]:
    path, said = journal_path(log_dir, run.name), run.manifest["journal"]["digest"]
    index = AttemptIndex()
    got = file_digest(path) if path.is_file() else None
    try:
        read = read_journal(path, index.note)
        check_finished(read, run.name, calls, lock_digest)
    except (EvidenceError, GuardError, OSError) as error:
        detail = f"{error}; readings were not derived again"
        return None, [Finding(Defect.JOURNAL_BROKEN, path, detail, expected=said, got=got)]
    if read.state.format.run_version != run.manifest["format"]:
        detail, wanted = "its format is not the journal's", read.state.format.run_version
        found = run.manifest["format"]
        place = run.folder / MANIFEST
        return None, [Finding(Defect.EDITED_MANIFEST, place, detail, expected=wanted, got=found)]
    standard = Standard(read, index, calls, derive)
    if got == said:
        return standard, []
    detail = "its digest is not the manifest's"
    return standard, [Finding(Defect.JOURNAL_DIFFERS, path, detail, expected=said, got=got)]


def _part(
    run: SealedRun, name: str, lock_digest: str, standard: Standard | None
) -> tuple[Part | None, list[Finding]]:
    """Return what a part is, None where its rows are not sound, and what is wrong with it."""
    path, said = run.folder / name, run.manifest["parts"][name]["digest"]
    if not path.is_file():
        return None, [Finding(Defect.MISSING_PART, path, "there is no such file", expected=said)]
    got, findings = file_digest(path), []
    if got != said:
        detail = "its digest is not the manifest's"
        findings.append(Finding(Defect.ALTERED_FILE, path, detail, expected=said, got=got))
    if (origin := _origin(path)) not in (None, f"{run.name}/{name}"):
        detail = "it was written as another part"
        expected = f"{run.name}/{name}"
        findings.append(Finding(Defect.SWAPPED_PART, path, detail, expected=expected, got=origin))
        return None, findings
    log = catalogue.log_format(run.manifest["format"], catalogue.RUN, run.folder / MANIFEST)
    examined = examine(path, genesis(run.name, name, lock_digest), standard, log)
    if examined.finding is not None:
        return None, [*findings, examined.finding]
    return Part(got, path.stat().st_size, examined.rows, examined.head), findings


def _origin(path: Path) -> str | None:
    """Return the run and part that a file says it is; None if it cannot be asked."""
    run, part = _said(path, "judgeaudit.run"), _said(path, "judgeaudit.part")
    return None if run is None and part is None else f"{run}/{part}"


def _said(path: Path, name: str) -> str | None:
    """Return one of the things that a part's file says about itself; None if it cannot be asked."""
    try:
        return provenance(path).get(name)
    except UNREADABLE:
        return None


def _manifest(run: SealedRun, standard: Standard, parts: Mapping[str, Part]) -> list[Finding]:
    """Return the fields of a manifest that differ from what it is made from.

    What depends on a file that was found to differ is left out: it has its finding.
    """
    manifest, path = run.manifest, run.folder / MANIFEST
    journal = journal_facts(standard.read)
    expected = build(
        standard.read.state,
        number=manifest["number"],
        previous=manifest["previous_manifest"],
        journal=journal,
        parts=parts,
        readings=standard.counts,
        writer=manifest["writer"],
    )
    told = [f"parts.{name}" for name in (ATTEMPTS, READINGS) if name not in parts]
    told += ["readings."] if READINGS not in parts else []
    told += ["journal."] if journal.digest != manifest["journal"]["digest"] else []
    for name, part in parts.items():
        if part.digest != manifest["parts"][name]["digest"]:
            told += [f"parts.{name}.digest", f"parts.{name}.bytes"]
    return [
        Finding(Defect.EDITED_MANIFEST, path, f"field {name}", expected=wanted, got=got)
        for name, wanted, got in differences(expected, manifest)
        if not name.startswith(tuple(told))
    ]


def _ledger(run: SealedRun) -> Iterator[Finding]:
    """Yield a finding for each ledger of the manifest that does not close."""
    ledger = run.manifest["ledger"]
    books = {"calls": ledger["calls"], "preflight": ledger["preflight"], **ledger["endpoints"]}
    for name, book in books.items():
        bars = book["response"] + book["transport"] + book["unresolved"]
        if book["attempts"] != bars:
            detail = f"ledger {name!r}: attempts are not responses + transport + unresolved"
            yield Finding(
                Defect.LEDGER_OPEN,
                run.folder / MANIFEST,
                detail,
                expected=bars,
                got=book["attempts"],
            )


def _strays(log_dir: Path, windows: Collection[str]) -> Iterator[Finding]:
    """Yield links, and what is neither the journal nor the sealed folder of a planned window.

    What an interrupted sealing left of a run that is not sealed yet is not told: sealing goes on.
    """
    known = {f"journal/{name}.jsonl" for name in windows}
    known |= {
        f"sealed/{name}/{part}" for name in windows for part in (ATTEMPTS, READINGS, MANIFEST)
    }
    unsealed = set(unsealed_runs(log_dir))
    known |= {f"sealed/.{name}.partial/" for name in unsealed}
    for path in (log_dir / "journal").glob(".*"):
        if (leftover_of(path.name) or "").removesuffix(".jsonl") in unsealed:
            known.add(f"journal/{path.name}")
    yield from beside(log_dir, known)


def _unsealed(path: Path) -> Iterator[Finding]:
    """Yield what is wrong with the journal of a run that is not sealed."""
    try:
        finished = read_journal(path).state.sealed
    except EvidenceError as error:
        yield Finding(Defect.JOURNAL_BROKEN, path, str(error))
        return
    if finished:
        detail = "the journal is finished and there is no sealed run; sealing is due, or it is gone"
        yield Finding(Defect.MISSING_RUN, path, detail)
