"""What earlier runs of a study leave for the next one: gaps, cap, budget.

Everything comes from sealed manifests and the attempts' token columns, matched by name.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

from judgeaudit.collect.guards import Past, cost_of
from judgeaudit.design.document import EndpointSpec
from judgeaudit.design.frozen import FrozenStudy
from judgeaudit.errors import GuardError
from judgeaudit.evidence.log.load import load_attempts
from judgeaudit.evidence.log.runs import SealedRun
from judgeaudit.model import Usage, Window

LOG = "log"


def log_dir(root: Path) -> Path:
    """Return where a study's log is."""
    return root / LOG


def pasts(study: FrozenStudy, window: Window, sealed: Sequence[SealedRun]) -> list[Past]:
    """Return every window before `window`, with each planned endpoint's last activity.

    Raises `GuardError` where the log holds a run that the plan has no window for.
    """
    manifests = {run.manifest["window"]: run.manifest for run in sealed}
    known = {other.id for other in study.windows()}
    if strangers := sorted(set(manifests) - known):
        raise GuardError(f"log: run of window {strangers[0]!r}, which the plan does not have")
    before = study.windows()[: [other.id for other in study.windows()].index(window.id)]
    return [_past(study, other, manifests.get(other.id)) for other in before]


def _past(study: FrozenStudy, window: Window, manifest: Mapping[str, Any] | None) -> Past:
    if manifest is None:
        return Past(window, sealed=False, last_activity={})
    activity: dict[str, int | None] = {
        name: None if times["last_activity"] is None else int(times["last_activity"])
        for name, times in manifest["times"].items()
    }
    for spec in study.registration.endpoints:
        # Silence is believed only where the run itself says that nothing was sent, and why.
        silent = spec.id in manifest["missing"] or not study.calls_of(window.id, spec.id)
        if silent:
            activity.setdefault(spec.id, None)
    return Past(window, sealed=True, last_activity=activity)


def cap_used(sealed: Iterable[SealedRun]) -> int:
    """Return the attempts at planned calls in sealed runs."""
    return sum(int(run.manifest["ledger"]["calls"]["attempts"]) for run in sealed)


def tokens_used(root: Path) -> dict[str, tuple[int, int]]:
    """Return the prompt and completion tokens that each endpoint reported in sealed runs."""
    table = load_attempts(log_dir(root), ["endpoint", "prompt_tokens", "completion_tokens"])
    sums = table.group_by("endpoint").aggregate(
        [("prompt_tokens", "sum"), ("completion_tokens", "sum")]
    )
    return {
        row["endpoint"]: (row["prompt_tokens_sum"] or 0, row["completion_tokens_sum"] or 0)
        for row in sums.to_pylist()
    }


def cost_so_far(
    specs: Iterable[EndpointSpec], *tokens: Mapping[str, tuple[int, int] | list[int]]
) -> Decimal:
    """Return what the tokens of all endpoints cost at the registered prices."""
    total = Decimal(0)
    for spec in specs:
        for used in tokens:
            prompt, completion = used.get(spec.id, (0, 0))
            total += cost_of(spec.prices, Usage(prompt=prompt, completion=completion))
    return total
