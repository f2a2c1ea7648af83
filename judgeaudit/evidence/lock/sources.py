"""A study's input files and their frozen copies: read into a draft, checked, written (IO)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from judgeaudit.canonical import digest, read_regular
from judgeaudit.design.document import Registration
from judgeaudit.design.draft import (
    FROZEN_NAMES,
    Draft,
    Source,
    parse_document,
    parse_items,
    salvaged_document,
)
from judgeaudit.design.layout import BODIES, PLAN
from judgeaudit.design.lock import Lock, Rendered, frozen_sources
from judgeaudit.design.protocol import ProtocolDocument
from judgeaudit.errors import EvidenceError, InputError, Problem
from judgeaudit.evidence.lock.disk import write_bytes, write_lock, write_table
from judgeaudit.model import JSON, Item


def load_study(root: Path, registration: str = FROZEN_NAMES["registration"]) -> Draft:
    """Return the study in `root` as far as it can be read, with everything that cannot.

    Raises `InputError` only where there is no registration at all.
    """
    path = root / registration
    if not path.is_file():
        raise InputError(path, found="no such file", remedy="`judgeaudit init` makes a study")
    source = Source(registration, read_regular(path))
    document, problems = parse_document(Registration, source)
    if document is None:
        document = salvaged_document(Registration, source)
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
    if document.pilot is not None and document.pilot.digest is not None:
        _read_into(sources, root, "pilot", document.pilot.results, problems)
        problems += _pilot_problems(sources.get("pilot"), document.pilot.digest)
    return _parsed(root, sources, document, problems)


def _pilot_problems(source: Source | None, promised: str) -> list[Problem]:
    """Return that the pilot's results are not those which the registration names."""
    if source is None or (actual := str(digest(source.data))) == promised:
        return []
    found = f"{promised}, but {source.path} has digest {actual}"
    return [Problem("pilot.digest", found, "name the pilot that the gates were judged by")]


def _read_into(
    sources: dict[str, Source], root: Path, role: str, name: str, problems: list[Problem]
) -> None:
    key = {"controls": "controls.items", "pilot": "pilot.study"}.get(role, f"{role}.file")
    try:
        sources[role] = Source(name, read_regular(root / name))
    except InputError as error:
        problems.append(Problem(key, f"{name}: {error.found}", error.remedy))
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        named = name if name.isprintable() else repr(name)
        found = f"{named}: {getattr(error, 'strerror', None) or error}"
        problems.append(Problem(key, found, "name a file there is"))


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


def fill_frozen(folder: Path, draft: Draft, rendered: Rendered, lock: Lock) -> Lock:
    """Write the frozen files into an empty folder; return the lock with the tables' bytes."""
    for file, source in frozen_sources(draft).items():
        write_bytes(folder / file, source.data)
    write_table(folder / PLAN, rendered.plan_table)
    write_table(folder / BODIES, rendered.body_table)
    return write_lock(folder, lock, (PLAN, BODIES))


def read_frozen(folder: Path, lock: Mapping[str, JSON]) -> tuple[dict[str, bytes], list[str]]:
    """Return the frozen input files there are, and what differs from the lock."""
    files: dict[str, bytes] = {}
    findings: list[str] = []
    for name, promised in lock["content"]["files"].items():
        path = folder / name
        if not path.is_file():
            findings.append(f"{path}: missing, but the lock has it with digest {promised}")
            continue
        files[name] = path.read_bytes()
        if (actual := digest(files[name])) != promised:
            findings.append(f"{path}: digest {actual} differs from the lock's {promised}")
    return files, findings


def check_frozen(folder: Path, lock: Mapping[str, JSON]) -> dict[str, bytes]:
    """Return the frozen input files; raises `EvidenceError` for one that differs from the lock."""
    files, findings = read_frozen(folder, lock)
    if findings:
        raise EvidenceError(findings[0])
    return files


def input_names(registration: Registration) -> dict[str, str]:
    """Return the names of a study's input files, as the registration has them, by role."""
    names = {
        "registration": FROZEN_NAMES["registration"],
        "protocol": registration.protocol.file,
        "battery": registration.battery.file,
        "controls": registration.controls.items,
    }
    return {role: name for role, name in names.items() if name is not None}


def check_working_copies(root: Path, registration: Registration, lock: Mapping[str, JSON]) -> None:
    """Raise `EvidenceError` where an input file beside `frozen/` was changed after the freeze."""
    for role, name in input_names(registration).items():
        path = root / name
        if not path.is_file():
            continue
        actual, promised = digest(path.read_bytes()), lock["content"]["files"][FROZEN_NAMES[role]]
        if actual != promised:
            raise EvidenceError(
                f"{path}: digest {actual} differs from the lock's {promised}; "
                "`judgeaudit prereg restore` shows the change and puts the frozen file back; if "
                "the change is meant, `judgeaudit prereg amend`; a departure from the registration "
                "that has happened is told with `judgeaudit prereg deviate`"
            )


def parse_frozen(folder: Path, files: Mapping[str, bytes]) -> Draft:
    """Return the documents in frozen copies."""
    roles = {name: role for role, name in FROZEN_NAMES.items()}
    sources = {roles[name]: Source(name, data) for name, data in files.items()}
    document, problems = parse_document(Registration, sources["registration"])
    if document is None:
        return Draft(folder, sources, problems=tuple(problems))
    return _parsed(folder, sources, document, problems)
