"""Freezing a study and loading a frozen one (IO). What the files mean is decided elsewhere.

* `frozen/` is written whole under a temporary name and renamed; its files are read-only.
* Freezing an unchanged study again writes nothing.
* `load_frozen` refuses a frozen file that differs from its lock, and an input file that differs
  from its frozen copy, naming both digests.
"""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

from judgeaudit.canonical import Digest
from judgeaudit.design.amendments import with_kept
from judgeaudit.design.draft import Draft, Inputs
from judgeaudit.design.frozen import FrozenStudy
from judgeaudit.design.layout import BODIES, FROZEN, PLAN
from judgeaudit.design.lock import (
    Facts,
    Lock,
    Rendered,
    base_urls,
    first_difference,
    make_lock,
    render,
)
from judgeaudit.design.stages import with_bodies
from judgeaudit.design.tables import Bodies, plan_from
from judgeaudit.errors import EvidenceError, JudgeauditError
from judgeaudit.evidence.documents import load_json
from judgeaudit.evidence.formats.catalogue import tables_of
from judgeaudit.evidence.lock.amendment_files import amendment_paths, chain, kept_of
from judgeaudit.evidence.lock.disk import read_lock, read_table, sync_folder
from judgeaudit.evidence.lock.sources import (
    check_frozen,
    check_working_copies,
    fill_frozen,
    load_study,
    parse_frozen,
)
from judgeaudit.evidence.lock.stage_files import load_stage
from judgeaudit.evidence.log.files import working_folder

__all__ = ["freeze", "load_frozen", "load_study", "render_frozen", "superseded_studies"]


def freeze(root: Path, facts: Facts) -> tuple[Lock, bool]:
    """Freeze the study in `root`; return its lock, and whether anything was written.

    `check` must have found nothing: a draft with problems raises `RegistrationError` here only for
    what could not be read or rendered. Raises `EvidenceError` where the study is frozen already
    and has changed since.
    """
    draft = load_study(root)
    target = root / FROZEN
    if target.exists():
        return _unchanged(target, draft, facts), False
    rendered = render(draft.whole())
    lock = make_lock(draft, rendered, facts)
    return write_frozen(target, draft, rendered, lock), True


def _unchanged(target: Path, draft: Draft, facts: Facts) -> Lock:
    """Return the lock in force if freezing would give the same; raises `EvidenceError` if not."""
    old = read_lock(target)
    new = make_lock(draft, render_frozen(target, draft.whole(), old), facts)
    if difference := first_difference(old.document["content"], new.document["content"]):
        raise EvidenceError(
            f"{target.parent}: frozen already, and {difference}; "
            "`judgeaudit prereg restore` shows the change and puts the frozen file back; if the "
            "change is meant, `judgeaudit prereg amend`"
        )
    check_frozen(target, old.document)
    return old


def render_frozen(folder: Path, inputs: Inputs, lock: Lock) -> Rendered:
    """Return plan and bodies derived again, in the format of the lock in force.

    Tried calls have the bodies that amendments kept.
    """
    tables = tables_of(lock)
    kept, superseded = kept_of(folder)
    urls = base_urls(inputs.registration.endpoints)
    return with_kept(render(inputs, tables), kept, superseded, urls, tables)


def write_frozen(target: Path, draft: Draft, rendered: Rendered, lock: Lock) -> Lock:
    """Write a frozen folder under a temporary name and give it its own when it is whole.

    Returns the lock as it was written.
    """
    with working_folder(target.parent, ".freezing-") as name:
        folder = name / target.name
        folder.mkdir()
        whole = fill_frozen(folder, draft, rendered, lock)
        os.rename(folder, target)
    sync_folder(target.parent)
    return whole


def load_frozen(root: Path, *, inputs_too: bool = True) -> FrozenStudy:
    """Return the frozen study in `root`; without `inputs_too` whatever its input files are now.

    Raises `InputError` where it is not frozen, `EvidenceError` where anything differs from its
    lock. What is re-derived, and not only compared with a digest, is `verify_frozen`'s.
    """
    folder = root / FROZEN
    lock = read_lock(folder)
    locks, _ = chain(folder, lock)
    study = _study(root, folder, lock, locks)
    if inputs_too:
        check_working_copies(root, study.registration, lock.document)
    return with_stages(study)


def superseded_studies(root: Path) -> list[tuple[FrozenStudy, str]]:
    """Return the study as each amendment found it, with the amendment's time, in order.

    Raises `EvidenceError` where a superseded file is not what its lock says.
    """
    found = []
    for path in amendment_paths(root / FROZEN):
        folder = path.with_name(f"{path.stem}-superseded")
        lock = read_lock(folder)
        amended_at = str(load_json(path.read_bytes(), path)["amended_at"])
        found.append((_study(root, folder, lock, (lock.digest,)), amended_at))
    return found


def _study(root: Path, folder: Path, lock: Lock, locks: tuple[Digest, ...]) -> FrozenStudy:
    """Return what a frozen folder holds, without later stages."""
    files = check_frozen(folder, lock.document)
    content = lock.document["content"]
    tables = tables_of(lock)
    plan = read_table(folder / PLAN, tables.plan, content["plan"])
    bodies = read_table(folder / BODIES, tables.bodies, content["bodies"])
    try:
        inputs = parse_frozen(folder, files).whole()
    except EvidenceError:
        raise
    except JudgeauditError as error:
        raise EvidenceError(f"{folder}: frozen files of another version: {error}") from error
    return FrozenStudy(
        root=root,
        registration=inputs.registration,
        protocol=inputs.protocol,
        items={item.id: item for item in (*inputs.items, *inputs.controls)},
        plan=plan_from(plan),
        bodies=Bodies(bodies),
        lock=lock.document,
        lock_digest=lock.digest,
        locks=locks,
        stage_locks={},
    )


def with_stages(study: FrozenStudy) -> FrozenStudy:
    """Return the study with the bodies of every later stage that is frozen."""
    for stage in range(2, len(study.protocol.all_stages()) + 1):
        found = load_stage(study.root, stage, study.lock_digest)
        if found is None:
            break
        lock, calls, bodies = found
        study = replace(
            study,
            plan=tuple(with_bodies(study.plan, calls)),
            bodies=study.bodies.also(bodies),
            stage_locks={**study.stage_locks, stage: lock.digest},
        )
    return study
