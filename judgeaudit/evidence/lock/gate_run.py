"""A gate run: one asking of a frozen study in an order of its own.

A gate that asks its items in one fixed order tests the same first items on every commit. So each
run draws its order anew, and nothing else: registration, bodies and lock stay as frozen, the plan
is made again with the seed that the lock's digest and the run's key give. The key is the commit as
a rule. The same key gives the same plan and the same folder, so that asking again on a commit goes
on with what was asked and does not begin anew.

    STUDY/gates/<name>/run.json    key, commit, day, seed, the lock's digest
    STUDY/gates/<name>/log/        its journal and sealed blocks
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from judgeaudit.canonical import digest
from judgeaudit.design.frozen import FrozenStudy
from judgeaudit.design.plan import make_plan
from judgeaudit.errors import EvidenceError, InputError
from judgeaudit.evidence.documents import load_json
from judgeaudit.evidence.lock.files import load_frozen, superseded_studies
from judgeaudit.evidence.log.files import create

GATES, RUN = "gates", "run.json"
FORMAT = "judgeaudit-gate-run/1"


def run_seed(lock_digest: str, key: str) -> int:
    """Return the seed of a run: 62 bits of the digest of lock and key."""
    return int(digest(f"{lock_digest}\n{key}".encode()).removeprefix("sha256:")[:16], 16) >> 2


def run_name(key: str, seed: int) -> str:
    """Return the folder's name of a run: the key as far as it can be shown, and its seed."""
    shown = re.sub(r"[^A-Za-z0-9._-]+", "-", key).strip("-._")[:40] or "run"
    return f"{shown}-{seed:016x}"


def of_run(study: FrozenStudy, key: str) -> FrozenStudy:
    """Return the study with the plan that a run's key draws and the run's own folder.

    Raises `InputError` for a protocol of several stages, whose later bodies hang on one log.
    """
    if len(study.protocol.all_stages()) > 1:
        raise InputError(
            str(study.root), "--run-key", "a protocol of several stages", "gate it without a key"
        )
    seed = run_seed(str(study.lock_digest), key)
    schedule = study.registration.schedule.model_copy(update={"seed": seed})
    registration = study.registration.model_copy(update={"schedule": schedule})
    bodies = {(c.endpoint, c.stage, c.item, c.arm): c.body_sha256 for c in study.plan}
    controls = [item for item in study.items.values() if "control" in item.meta]
    items = [item for item in study.items.values() if "control" not in item.meta]
    known = {name: body for name, body in bodies.items() if body is not None}
    plan = make_plan(registration, study.protocol, items, controls, known)
    root = study.root / GATES / run_name(key, seed)
    return replace(study, root=root, registration=registration, plan=plan)


def begin(run: FrozenStudy, key: str, commit: str | None, day: str) -> Mapping[str, Any]:
    """Write the run's facts, or check those that are there; returns them. `day` is today, UTC.

    Raises `EvidenceError` where the folder holds a run of another key or another registration.
    """
    facts = {
        "format": FORMAT,
        "key": key,
        "commit": commit,
        "day": day,
        "seed": run.registration.schedule.seed,
        "lock_digest": str(run.lock_digest),
    }
    path = run.root / RUN
    if not path.exists():
        run.root.mkdir(parents=True, exist_ok=True)
        create(path, (json.dumps(facts, indent=2) + "\n").encode())
        return facts
    found = read_run(run.root)
    for name in ("key", "lock_digest"):
        if found.get(name) != facts[name]:
            raise EvidenceError(
                f"{path}: {name} {found.get(name)!r} differs from {facts[name]!r}; "
                "give another --run-key"
            )
    return found


def read_run(folder: Path) -> Mapping[str, Any]:
    """Return the facts of a gate run; raises `EvidenceError` for a file that is not one."""
    path = folder / RUN
    try:
        found = load_json(path.read_bytes(), path, any_integer=True)
    except OSError as error:
        raise EvidenceError(f"{path}: not readable: {error}") from error
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        raise EvidenceError(f"{path}: no gate run; expected format {FORMAT!r}")
    return found


def load_run(folder: Path) -> FrozenStudy:
    """Return the study as the gate run in `folder` asks it, by the lock under which it began.

    Raises `EvidenceError` where run and folder do not belong together.
    """
    facts, home = read_run(folder), home_of(folder)
    study = load_frozen(home)
    if facts["lock_digest"] != study.lock_digest:
        earlier = [found for found, _ in superseded_studies(home)]
        study = next((s for s in earlier if s.lock_digest == facts["lock_digest"]), study)
    run = of_run(study, str(facts["key"]))
    if run.root.name != folder.resolve().name or facts["lock_digest"] not in study.locks:
        raise EvidenceError(
            f"{folder / RUN}: key {facts['key']!r} and lock {facts['lock_digest']} give the run "
            f"{run.root.name!r}, the folder is {folder.name!r}"
        )
    return replace(run, root=folder)


def is_run(folder: Path) -> bool:
    """Return whether a folder is a gate run."""
    return (folder / RUN).is_file()


def home_of(folder: Path) -> Path:
    """Return the folder of the study that a gate run, or the study itself, belongs to."""
    place = folder.resolve()
    return place.parent.parent if place.parent.name == GATES else folder


def run_folders(home: Path) -> list[Path]:
    """Return the folders of a study's gate runs, by name."""
    return sorted(path.parent for path in (home / GATES).glob(f"*/{RUN}"))
