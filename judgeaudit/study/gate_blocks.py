"""Asking in sealed blocks: a block, its seal, the pure stop rule, the next block.

Whoever asks sees no estimate inside a block; the rule reads sealed readings alone. Once it stops,
the blocks that were not asked are sealed as `stopped_by_rule`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from judgeaudit.errors import EvidenceError, InputError
from judgeaudit.study.progress import Progress, silent

if TYPE_CHECKING:
    import pandas as pd

    from judgeaudit.design.frozen import FrozenStudy
    from judgeaudit.verdict.stopping import Progress as Standing


def items_of(study: FrozenStudy) -> list[str]:
    """Return the probes that a plan can ask, in the order of its first endpoint."""
    first = study.registration.endpoints[0].id
    names = (call.item for call in study.plan if call.endpoint == first)
    return list(dict.fromkeys(n for n in names if "control" not in study.items[n].meta))


def planned_table(study: FrozenStudy) -> pd.DataFrame:
    """Return the sealed readings in plan order, without calls that the rule left unasked."""
    from judgeaudit.study.results import study_table

    table = study_table(study)
    places = {call.call_id: call.plan_index for call in study.plan}
    asked = table[table["reason"].ne("stopped_by_rule")]
    order = asked["call_id"].map(places).sort_values(kind="stable").index
    return asked.loc[order].reset_index(drop=True)


class Blocks:
    """The blocks of one gate run."""

    def __init__(self, study: FrozenStudy, progress: Progress = silent) -> None:
        self.study, self.heard = study, progress
        self.baseline = baseline_of(study)

    def run(self) -> None:
        """Ask block by block until the rule stops or the plan ends; close what is left."""
        from judgeaudit.study.windows import Windows
        from judgeaudit.verdict.stopping import decided

        if not decided(self.progress()):
            for _ in Windows(self.study.root, self.study, self.heard).each():
                if decided(self.progress()):
                    break
        if decided(self.progress()):
            self._close()

    def progress(self) -> list[Standing]:
        """Return where each gate stands after what is sealed."""
        from judgeaudit.collect.past import log_dir
        from judgeaudit.evidence.log.runs import sealed_folders
        from judgeaudit.verdict.stopping import progress

        if not sealed_folders(log_dir(self.study.root)):
            return []
        table = planned_table(self.study)
        return progress(self.study.registration, table, len(items_of(self.study)), self.baseline)

    def waiting(self) -> list[str]:
        """Return the blocks that are neither asked nor closed."""
        from judgeaudit.collect.status import unsealed

        return [window.id for window in unsealed(self.study)]

    def _close(self) -> None:
        from judgeaudit.collect.closing import close_unasked
        from judgeaudit.evidence.derive import derive
        from judgeaudit.study.windows import clock_of

        clock = clock_of(self.study)
        for window in self.waiting():
            close_unasked(self.study, window, clock=clock, derive=derive(self.study))


def baseline_of(study: FrozenStudy) -> Mapping[tuple[str, str], Sequence[str]]:
    """Return the baseline's valid replies by endpoint and item; none where none is registered.

    Raises `EvidenceError` where the baseline is not the registered one, `InputError` where an item
    was asked with other bytes or fewer than five times.
    """
    from judgeaudit.evidence.lock.files import load_frozen
    from judgeaudit.evidence.lock.gate_run import home_of

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
    from judgeaudit.collect.past import log_dir
    from judgeaudit.evidence.log.runs import sealed_runs

    runs = sealed_runs(log_dir(folder))
    found = runs[-1].digest if runs else None
    if found is None or (expected is not None and str(found) != expected):
        raise EvidenceError(
            f"{folder}: last manifest is {found or 'missing'}, registered is {expected}"
        )


def check_bodies(study: FrozenStudy, base: FrozenStudy, folder: Path) -> None:
    """Raise `InputError` where an item that may be asked has no k >= 5 equal requests there."""
    from judgeaudit.verdict.stopping import LEAST_BASELINE

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
    from judgeaudit.readings.table import probes
    from judgeaudit.study.results import sealed_runs_of, study_table

    sealed_runs_of(base)
    found: dict[tuple[str, str], list[str]] = {}
    table = probes(study_table(base))
    valid = table[table["status"].eq("ok") & table["category"].notna()]
    for row in valid.sort_values("call_id").itertuples():
        found.setdefault((str(row.endpoint), str(row.item)), []).append(str(row.category))
    return found
