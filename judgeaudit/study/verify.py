"""Whether every file of a study is what it was: registration, log, results, gate runs, exports."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from judgeaudit.collect.lock import HOLDER_NAME, LOCK_NAME
from judgeaudit.collect.past import LOG, log_dir
from judgeaudit.design.frozen import FrozenStudy
from judgeaudit.design.layout import FROZEN
from judgeaudit.errors import JudgeauditError, OtherVersion
from judgeaudit.evidence.derive import derive
from judgeaudit.evidence.deviations import FOLDER as DEVIATIONS
from judgeaudit.evidence.deviations import deviation_findings
from judgeaudit.evidence.inventory import (
    NAME,
    file_findings,
    inventory_findings,
    read_inventory,
)
from judgeaudit.evidence.lock.gate_run import GATES, RUN, home_of
from judgeaudit.evidence.lock.sources import input_names
from judgeaudit.evidence.lock.verify import verify_frozen
from judgeaudit.evidence.log.finding import Defect
from judgeaudit.evidence.log.reader import read_journal
from judgeaudit.evidence.log.runs import journal_path, sealed_folders, sealed_runs, unsealed_runs
from judgeaudit.evidence.log.sessions import Derivation, read_session
from judgeaudit.evidence.log.verify import verify_log
from judgeaudit.evidence.strays import beside
from judgeaudit.study.folders import Folder
from judgeaudit.study.gateway_log import is_log
from judgeaudit.study.log_facts import stage_findings
from judgeaudit.study.results import GATE, PROVENANCE, RESULTS
from judgeaudit.study.sealed import head_of, load
from judgeaudit.study.supplement_files import is_export


@dataclass(frozen=True, slots=True)
class Verified:
    """What was checked, and every file, row and digest that is not what it should be.

    `calls` is None where the log was not checked, since what it stands on does not hold. `head` is
    the digest of the last sealed run's manifest, `unsealed` tells how far other runs have come.
    `other_versions` are files in formats that this version does not read: no word on their
    integrity. `notes` are no findings: what nothing here covers. `planned` is False for a gateway's
    log, whose calls no registration planned.
    """

    findings: tuple[str, ...]
    runs: tuple[str, ...] = ()
    calls: int | None = None
    head: str | None = None
    unsealed: tuple[str, ...] = ()
    other_versions: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    planned: bool = True

    @property
    def ok(self) -> bool:
        """True where everything could be read and is what its digest says."""
        return not self.findings and not self.other_versions


@dataclass(slots=True)
class _Found:
    """Findings as they are gathered, each once."""

    findings: list[str] = field(default_factory=list)
    other: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def add(self, findings: Iterable[str]) -> None:
        self.findings += [one for one in dict.fromkeys(findings) if one not in self.findings]

    def said(self, check: Callable[[], Iterable[str]]) -> None:
        """Take in what a check finds, or the error that ended it."""
        try:
            self.add(list(check()))
        except OtherVersion as error:
            self.other.append(str(error))
        except JudgeauditError as error:
            self.add([str(error)])


def verify(folder: Folder, *, expected_head: str | None = None) -> Verified:
    """Re-hash and re-derive everything of a study, of one of its gate runs, or of an export.

    `expected_head` is the digest of the last manifest as noted elsewhere: it shows removed last
    runs. Raises `InputError` for a folder that is neither frozen nor exported.
    """
    root = Path(folder)
    if is_log(root):
        return _verify_log(root, expected_head)
    if not (root / FROZEN).exists() and is_export(root):
        found = _Found()
        found.said(partial(_export_findings, root))
        return Verified(tuple(found.findings), other_versions=tuple(found.other))
    return _verify_study(root, expected_head)


def _verify_log(root: Path, expected_head: str | None) -> Verified:
    """Verify a gateway's log: its plan is what its journals say was asked."""
    found, log = _Found(), log_dir(root)
    read, names = [], [path.stem for path in sorted((log / "journal").glob("*.jsonl"))]
    for name in names:
        try:
            read.append(read_session(journal_path(log, name)))
        except OtherVersion as error:
            found.other.append(str(error))
        except JudgeauditError as error:
            found.add([str(error)])
    derivations = {session.name: Derivation(session) for session in read}
    for one in verify_log(
        log,
        [call for session in read for call in session.calls],
        "",
        lambda attempts, call: derivations[call.window](list(attempts), call),
        expected_head=expected_head,
        superseded={session.lock_digest for session in read},
        windows=names,
    ):
        if one.defect is Defect.OTHER_VERSION:
            found.other.append(one.detail)
        else:
            found.add([str(one)])
    return Verified(
        tuple(found.findings),
        tuple(place.name for place in sealed_folders(log)),
        sum(len(session.calls) for session in read),
        _last_digest(log),
        tuple(_unsealed(log)),
        tuple(found.other),
        planned=False,
    )


def _last_digest(log: Path) -> str | None:
    try:
        runs = sealed_runs(log)
    except JudgeauditError:
        return None
    return str(runs[-1].digest) if runs else None


def _verify_study(root: Path, expected_head: str | None) -> Verified:
    found = _Found()
    try:
        found.add(verify_frozen(home_of(root)))
    except OtherVersion as error:
        return Verified((), other_versions=(str(error),))
    try:
        frozen = load(root)
    except OtherVersion as error:
        return Verified(tuple(found.findings), other_versions=(str(error),))
    except JudgeauditError as error:
        found.add([str(error)])
        return Verified(tuple(found.findings))
    found.said(lambda: _log_findings(frozen, expected_head, found))
    if not found.findings:
        found.said(lambda: stage_findings(frozen))
    found.said(lambda: _results_findings(frozen, found))
    found.said(lambda: deviation_findings(root))
    for run in sorted((root / GATES).glob(f"*/{RUN}")):
        found.said(partial(_gate_run_findings, run.parent, found))
    for export in _exports(root):
        found.said(partial(_export_findings, export))
    found.notes += _beside_study(root, frozen)
    runs = sealed_folders(log_dir(frozen.root))
    return Verified(
        tuple(found.findings),
        tuple(place.name for place in runs),
        len(frozen.plan),
        head_of(frozen),
        tuple(_unsealed(log_dir(frozen.root))),
        tuple(found.other),
        tuple(found.notes),
    )


def _log_findings(frozen: FrozenStudy, expected_head: str | None, found: _Found) -> Iterator[str]:
    """Yield what is wrong with a study's log; what another version wrote is told apart."""
    for one in verify_log(
        log_dir(frozen.root),
        frozen.plan,
        str(frozen.lock_digest),
        derive(frozen),
        expected_head=expected_head,
        superseded=frozen.locks,
    ):
        if one.defect is Defect.OTHER_VERSION:
            found.other.append(one.detail)
        else:
            yield str(one)


def _gate_run_findings(folder: Path, found: _Found) -> Iterator[str]:
    frozen = load(folder)
    known = {RUN, f"{LOG}/", f"{RESULTS}/", LOCK_NAME, HOLDER_NAME}
    yield from map(str, beside(folder, known))
    yield from _log_findings(frozen, None, found)
    yield from _results_findings(frozen, found)


def _export_findings(folder: Path) -> Iterator[str]:
    yield from map(str, inventory_findings(folder))


def _unsealed(log: Path) -> Iterator[str]:
    for name in unsealed_runs(log):
        path = journal_path(log, name)
        try:
            read = read_journal(path)
        except (JudgeauditError, OSError):
            continue
        torn = f", {read.torn} bytes of a torn last line" if read.torn else ""
        yield f"run {name} is not sealed: {read.chain.length} whole records, last {read.head}{torn}"


def _results_findings(frozen: FrozenStudy, found: _Found) -> Iterator[str]:
    """Yield what of `results/` is not what `analyze`, `gate` or `pilot` wrote."""
    folder = frozen.root / RESULTS
    if folder.is_symlink():
        yield f"{folder}: link: its bytes are kept elsewhere"
    if not folder.is_dir() or not any(folder.iterdir()):
        return
    if not (folder / NAME).exists() and (listed := _listed_by_0_1(folder)) is not None:
        known = {PROVENANCE, GATE, *listed}
        yield from map(str, beside(folder, known | {"pilot.json", "figures/"}))
        for name, promised in listed.items():
            yield from map(str, file_findings(folder / name, promised))
        return
    yield from map(str, inventory_findings(folder))
    yield from _made_from(frozen, folder, found)


def _listed_by_0_1(folder: Path) -> dict[str, str] | None:
    """Return the digests that 0.1's provenance lists; None where results are a later version's."""
    path = folder / PROVENANCE
    try:
        document = json.loads(path.read_bytes())
    except FileNotFoundError:
        only = {entry.name for entry in folder.iterdir()} <= {GATE}
        return {} if only else None
    except ValueError:
        return None
    if not isinstance(document, dict) or document.get("format") != "judgeaudit-provenance/1":
        return None
    files: dict[str, str] = document.get("files") or {}
    return files


def _made_from(frozen: FrozenStudy, folder: Path, found: _Found) -> Iterator[str]:
    """Yield results that rest on another lock or other runs; tell those that are behind the log."""
    try:
        about: dict[str, Any] = read_inventory(folder)["about"]
    except (JudgeauditError, OSError, KeyError):
        return
    sealed = {run.name: str(run.digest) for run in sealed_runs(log_dir(frozen.root))}
    if about.get("lock_digest") not in set(map(str, frozen.locks)):
        yield f"{folder}: made under lock {about.get('lock_digest')}, which is none of this study"
    for name, promised in (about.get("runs") or {}).items():
        if sealed.get(name) != promised:
            yield f"{folder}: made from run {name} {promised}, but the log has {sealed.get(name)}"
    if behind := sorted(sealed.keys() - (about.get("runs") or {}).keys()):
        found.notes.append(f"{folder}: made before {', '.join(behind)} was sealed; analyze again")


def _exports(root: Path) -> Iterator[Path]:
    """Yield the exports that lie in a study's folder."""
    for path in sorted(root.iterdir()):
        own = path.name in (FROZEN, LOG, RESULTS, GATES) or path.name.startswith(".")
        if path.is_dir() and not own and is_export(path):
            yield path


def _beside_study(root: Path, frozen: FrozenStudy) -> Iterator[str]:
    """Yield what lies in a study's folder without being part of it; hidden names are passed by."""
    registration = frozen.registration
    known = {
        FROZEN,
        LOG,
        RESULTS,
        GATES,
        RUN,
        DEVIATIONS,
        *map(_first, input_names(registration).values()),
    }
    known |= {path.name for path in _exports(root)}
    if registration.pilot is not None:
        known.add(_first(registration.pilot.results))
    if registration.sequential is not None and registration.sequential.baseline is not None:
        known.add(_first(registration.sequential.baseline))
    for path in sorted(root.iterdir()):
        if path.name not in known and not path.name.startswith("."):
            yield f"{path}: not part of the study; nothing here covers it"


def _first(name: str) -> str:
    return name.replace("\\", "/").partition("/")[0]
