"""Amendments on disk (IO).

    frozen/amendments/001.json              what, why, effect, the digest superseded
    frozen/amendments/001-superseded/       everything that was frozen before it

The new lock's `supersedes` names the amendment's digest, and the amendment the old lock's.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from judgeaudit.canonical import Digest, digest
from judgeaudit.design.amendments import (
    AMENDMENT_SCHEMA,
    AMENDMENT_VERSION,
    Before,
    Progress,
    Seen,
    Words,
    amended,
    amendment_bytes,
    amendment_document,
)
from judgeaudit.design.layout import AMENDMENTS, BODIES, FROZEN, PLAN
from judgeaudit.design.lock import (
    Facts,
    Lock,
    base_urls,
    first_difference,
    make_lock,
    reading_rules,
    render,
    rendered_of,
)
from judgeaudit.design.tables import body_from, plan_from
from judgeaudit.errors import EvidenceError, GuardError, InputError
from judgeaudit.evidence.documents import load_json
from judgeaudit.evidence.formats.catalogue import number_of, tables_of
from judgeaudit.evidence.lock.disk import read_lock, read_table, sync_folder, write_bytes
from judgeaudit.evidence.lock.sources import (
    check_frozen,
    fill_frozen,
    load_study,
    parse_frozen,
)
from judgeaudit.evidence.log.files import working_folder
from judgeaudit.model import JSON, FrozenBody


def amend(
    root: Path, words: Words, facts: Facts, progress: Progress, seen: Seen | None = None
) -> tuple[Lock, dict[str, JSON]]:
    """Freeze the study's changed files over the frozen ones; return new lock and amendment.

    The changed study must pass `check`. Raises `InputError` where nothing has changed and
    `GuardError` where what was tried or answered would change.
    """
    folder = root / FROZEN
    before, old = load_before(folder)
    _refuse_later_stage(folder)
    draft = load_study(root)
    inputs = draft.whole()
    rendered, kept = amended(before, inputs, render(inputs), progress)
    number = len(amendment_paths(folder)) + 1
    urls = base_urls(inputs.registration.endpoints)
    as_before = rendered_of(rendered.plan, rendered.bodies, urls, tables_of(old))
    trial = make_lock(draft, as_before, facts)
    difference = first_difference(old.document["content"], trial.document["content"])
    if not difference:
        raise InputError(root, found="nothing has changed since the freeze")
    document = amendment_document(
        number,
        words,
        facts.frozen_at,
        before,
        rendered,
        kept,
        difference,
        len(progress.answered),
        seen or Seen(),
    )
    data, sha = amendment_bytes(document)
    supersedes = {"lock": str(old.digest), "amendment": number, "amendment_sha256": str(sha)}
    lock = make_lock(draft, rendered, facts, supersedes, reading_rules(old.document))
    with working_folder(root, ".amending-") as name:
        new = name / FROZEN
        new.mkdir()
        lock = fill_frozen(new, draft, rendered, lock)
        _carry(folder, new / AMENDMENTS, number, data)
        _swap(folder, new, name / "superseded")
    return lock, document


def load_before(folder: Path) -> tuple[Before, Lock]:
    """Return what is frozen now; raises `EvidenceError` where it is not what its lock says."""
    lock = read_lock(folder)
    inputs = parse_frozen(folder, check_frozen(folder, lock.document)).whole()
    content = lock.document["content"]
    plan = plan_from(read_table(folder / PLAN, tables_of(lock).plan, content["plan"]))
    return Before(inputs, plan, load_bodies(folder, lock), lock.digest), lock


def load_bodies(folder: Path, lock: Lock) -> list[FrozenBody]:
    """Return all frozen bodies of a folder."""
    promised = lock.document["content"]["bodies"]
    table = read_table(folder / BODIES, tables_of(lock).bodies, promised)
    return [body_from(row) for row in table.to_pylist()]


def _refuse_later_stage(folder: Path) -> None:
    stages = sorted(folder.glob("stage-*"))
    if stages:
        raise GuardError(
            f"{stages[0]}: frozen on top of the lock; after it, report a deviation or register "
            "a new study"
        )


def _carry(folder: Path, target: Path, number: int, data: bytes) -> None:
    """Copy earlier amendments and what is superseded into the new folder."""
    if (folder / AMENDMENTS).is_dir():
        shutil.copytree(folder / AMENDMENTS, target)
    else:
        target.mkdir()
    kept = target / f"{number:03d}-superseded"
    shutil.copytree(folder, kept, ignore=shutil.ignore_patterns(AMENDMENTS))
    write_bytes(target / f"{number:03d}.json", data)
    for place in (kept, target):
        sync_folder(place)


def _swap(folder: Path, new: Path, aside: Path) -> None:
    """Put the new folder into the old one's place; the old comes back if that fails."""
    os.rename(folder, aside)
    try:
        os.rename(new, folder)
    except OSError:
        os.rename(aside, folder)
        raise
    sync_folder(folder.parent)


def amendment_paths(folder: Path) -> list[Path]:
    """Return the amendment files of a frozen folder in order."""
    return sorted((folder / AMENDMENTS).glob("[0-9][0-9][0-9].json"))


def chain(folder: Path, lock: Lock) -> tuple[tuple[Digest, ...], list[dict[str, JSON]]]:
    """Return every lock's digest from the first to `lock`, and the amendments between them.

    Raises `EvidenceError` where a link is missing or differs from what the next one says.
    """
    digests, documents, current = [lock.digest], [], lock
    for path in reversed(amendment_paths(folder)):
        document = _amendment(path, current)
        superseded = read_lock(path.with_name(f"{path.stem}-superseded"))
        if superseded.digest != document["superseded_lock"]:
            raise EvidenceError(
                f"{path}: supersedes lock {document['superseded_lock']}, but the lock kept beside "
                f"it has digest {superseded.digest}"
            )
        digests.append(superseded.digest)
        documents.append(document)
        current = superseded
    if (before := current.document["supersedes"]) is not None:
        missing = folder / AMENDMENTS / f"{int(before['amendment']):03d}.json"
        raise EvidenceError(
            f"{missing}: missing; lock {current.digest} supersedes {before['lock']} by it"
        )
    return tuple(digests[::-1]), documents[::-1]


def _amendment(path: Path, lock: Lock) -> dict[str, JSON]:
    data = path.read_bytes()
    promised = (lock.document["supersedes"] or {}).get("amendment_sha256")
    if digest(data) != promised:
        raise EvidenceError(
            f"{path}: digest {digest(data)}, but the lock that rests on it says {promised}"
        )
    document: dict[str, JSON] = load_json(data, path)
    known = range(1, AMENDMENT_VERSION + 1)
    number_of(document.get("schema"), AMENDMENT_SCHEMA, known, path)
    return document


def kept_of(folder: Path) -> tuple[dict[str, str], list[FrozenBody]]:
    """Return the body digest that each tried call keeps, and the bodies that were superseded."""
    paths = amendment_paths(folder)
    if not paths:
        return {}, []
    kept: dict[str, str] = load_json(paths[-1].read_bytes(), paths[-1])["kept"]
    superseded = paths[-1].with_name(f"{paths[-1].stem}-superseded")
    lock = read_lock(superseded)
    return kept, load_bodies(superseded, lock)
