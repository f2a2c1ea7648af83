"""Where a sequential gate stands after what is sealed, and the baseline it is compared with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from judgeaudit.collect.past import log_dir
from judgeaudit.design.frozen import FrozenStudy
from judgeaudit.errors import EvidenceError, InputError
from judgeaudit.evidence.lock.files import load_frozen
from judgeaudit.evidence.lock.gate_run import home_of
from judgeaudit.evidence.log.runs import sealed_folders, sealed_runs
from judgeaudit.readings.table import probes
from judgeaudit.study.sealed import planned_table, sealed_runs_of, study_table
from judgeaudit.verdict import stopping
from judgeaudit.verdict.flips import BaselineReplies
from judgeaudit.verdict.stopping import LEAST_BASELINE


def items_of(study: FrozenStudy) -> list[str]:
    """Return the probes that a plan can ask, in the order of its first endpoint."""
    first = study.registration.endpoints[0].id
    names = (call.item for call in study.plan if call.endpoint == first)
    return list(dict.fromkeys(n for n in names if "control" not in study.items[n].meta))


def standing(study: FrozenStudy, baseline: BaselineReplies) -> list[stopping.Progress]:
    """Return where each gate stands at each endpoint; nothing where nothing is sealed."""
    if not sealed_folders(log_dir(study.root)):
        return []
    table, items = planned_table(study), len(items_of(study))
    return stopping.progress(study.registration, table, items, baseline)


def baseline_of(study: FrozenStudy) -> Mapping[tuple[str, str], Sequence[str]]:
    """Return the baseline's valid replies by endpoint and item; none where none is registered.

    Raises `EvidenceError` where the baseline is not the registered one, `InputError` where an item
    was asked with other bytes or fewer than five times.
    """
    design = study.registration.sequential
    if design is None or design.baseline is None:
        return {}
    folder = home_of(study.root) / design.baseline
    base = load_frozen(folder)
    check_head(folder, design.digest)
    check_bodies(study, base, folder)
    return _replies(base)


def check_head(folder: Path, expected: str | None) -> None:
    """Raise `EvidenceError` unless a study's last manifest has the expected digest."""
    runs = sealed_runs(log_dir(folder))
    found = runs[-1].digest if runs else None
    if found is None or (expected is not None and str(found) != expected):
        raise EvidenceError(
            f"{folder}: last manifest is {found or 'missing'}, registered is {expected}"
        )


def check_bodies(study: FrozenStudy, base: FrozenStudy, folder: Path) -> None:
    """Raise `InputError` where an item that may be asked has no k >= 5 equal requests there."""
    counts: dict[tuple[str, str, str | None], int] = {}
    for call in base.plan:
        key = (call.endpoint, call.item, call.body_sha256)
        counts[key] = counts.get(key, 0) + 1
    names = set(items_of(study))
    for call in study.plan:
        if call.item not in names:
            continue
        found = counts.get((call.endpoint, call.item, call.body_sha256), 0)
        if found < LEAST_BASELINE:
            raise InputError(
                folder,
                f"item {call.item!r}",
                f"{found} replies to the same request at {call.endpoint!r}",
                f"a baseline needs k >= {LEAST_BASELINE} of each item",
            )


def _replies(base: FrozenStudy) -> dict[tuple[str, str], list[str]]:
    sealed_runs_of(base)
    found: dict[tuple[str, str], list[str]] = {}
    table = probes(study_table(base))
    valid = table[table["status"].eq("ok") & table["category"].notna()]
    for row in valid.sort_values("call_id").itertuples():
        found.setdefault((str(row.endpoint), str(row.item)), []).append(str(row.category))
    return found
