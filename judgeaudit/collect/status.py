"""How far a study is: counts, ledger, cap, cost, and examples of what could not be read.

Looks only; nothing is locked, voided or repaired. An unsealed window is read from its journal, its
last line torn or not.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from judgeaudit.collect import past
from judgeaudit.collect.evidence import answer_text, sealed_attempts, sealed_invalid
from judgeaudit.design.frozen import FrozenStudy
from judgeaudit.evidence.log import runs
from judgeaudit.evidence.log.reader import AttemptIndex, attempts_by_call, read_journal
from judgeaudit.evidence.log.standard import Derive
from judgeaudit.evidence.log.state import JournalState, Tally
from judgeaudit.instrument.provider import Provider, provider
from judgeaudit.model import Attempt, Invalid, PlannedCall, Reading, Window

EXAMPLES = 5
"""How many invalid readings are shown for each reason."""

SNIPPET = 200


def unsealed(study: FrozenStudy) -> list[Window]:
    """Return the windows that are not sealed, in order."""
    log = past.log_dir(study.root)
    return [w for w in study.windows() if not runs.sealed_path(log, w.id).exists()]


def status_of(study: FrozenStudy, derive: Derive) -> dict[str, Any]:
    """Return the status as a JSON document; `derive` reads the replies of an unsealed window."""
    log = past.log_dir(study.root)
    sealed = {run.manifest["window"]: run for run in runs.sealed_runs(log)}
    examples = _Examples({s.id: provider(s.api) for s in study.registration.endpoints})
    tokens: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    windows, ledgers = [], []
    for window in study.windows():
        if window.id in sealed:
            found = _sealed(sealed[window.id])
            examples.take_sealed(sealed[window.id])
        else:
            found = _open(study, window, derive, examples, tokens)
        windows.append(found)
        ledgers.append(found["ledger"])
    cost = past.cost_so_far(
        study.registration.endpoints, past.tokens_used(study.root), dict(tokens)
    )
    return {
        "study": study.registration.study.id,
        "lock_digest": str(study.lock_digest),
        "clock": study.registration.schedule.clock,
        "windows": windows,
        "ledger": _sum(ledgers),
        "cap": study.registration.schedule.cap,
        "cap_used": sum(ledger["calls"]["attempts"] for ledger in ledgers),
        "cost": str(cost),
        "budget": _text(study.registration.schedule.budget),
        "priced": any(s.prices.prompt or s.prices.completion for s in study.registration.endpoints),
        "currency": sorted({s.prices.currency for s in study.registration.endpoints}),
        "invalid": examples.as_json(),
    }


def _text(value: object) -> str | None:
    return None if value is None else str(value)


def _sealed(run: runs.SealedRun) -> dict[str, Any]:
    manifest = run.manifest
    return {
        "window": manifest["window"],
        "state": "sealed",
        "planned": manifest["readings"]["planned"],
        "by_status": manifest["readings"]["by_status"],
        "ledger": manifest["ledger"],
        "manifest_sha256": run.digest,
    }


def _open(
    study: FrozenStudy,
    window: Window,
    derive: Derive,
    examples: _Examples,
    tokens: dict[str, list[int]],
) -> dict[str, Any]:
    calls = [c for s in study.registration.endpoints for c in study.calls_of(window.id, s.id)]
    path = runs.journal_path(past.log_dir(study.root), window.id)
    counts: Counter[str] = Counter()
    state = JournalState()
    if path.exists():
        index = AttemptIndex()
        state = read_journal(path, index.note).state
        for call, attempts in attempts_by_call(path, index, calls):
            _add_tokens(tokens, attempts)
            if call is not None and attempts:
                reading = derive(attempts, call)
                counts[examples.take(call, reading, attempts[-1])] += 1
    return {
        "window": window.id,
        "state": _state_of(state),
        "planned": len(calls),
        "by_status": {**counts, "waiting": len(calls) - counts.total() - len(state.skipped)},
        "ledger": state.ledger_json(),
        "open_attempts": len(state.open_attempts),
        "paused": _pause_of(state),
    }


def _state_of(state: JournalState) -> str:
    if state.opening is None:
        return "waiting"
    return "finished, not sealed" if state.sealed else "unsealed"


def _pause_of(state: JournalState) -> str | None:
    """Return why the last executor paused, unless another has resumed since."""
    last = [event for event in state.events if event.name in ("pause", "resume")][-1:]
    return str(last[0].data["why"]) if last and last[0].name == "pause" else None


def _add_tokens(tokens: dict[str, list[int]], attempts: Iterable[Attempt]) -> None:
    for attempt in attempts:
        tokens[attempt.endpoint][0] += attempt.prompt_tokens or 0
        tokens[attempt.endpoint][1] += attempt.completion_tokens or 0


def _sum(ledgers: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the ledger of all windows together, preflight apart."""
    return {
        book: {
            name: sum(ledger[book][name] for ledger in ledgers)
            for name in Tally().as_json(())
            if name != "outcomes"
        }
        for book in ("calls", "preflight")
    }


class _Examples:
    """A few invalid readings of each reason, and how many there are."""

    def __init__(self, providers: Mapping[str, Provider]) -> None:
        self._providers = providers
        self._counts: Counter[str] = Counter()
        self._shown: dict[str, list[dict[str, Any]]] = defaultdict(list)

    def take(self, call: PlannedCall, reading: Reading, last: Attempt) -> str:
        """Count a reading; return `ok` or its reason."""
        if not isinstance(reading.value, Invalid):
            return "ok"
        reason = reading.value.reason.value
        self._counts[reason] += 1
        if len(self._shown[reason]) < EXAMPLES:
            keys = {"call_id": call.call_id, "item": call.item, "arm": call.arm}
            self._shown[reason].append(
                {
                    **keys,
                    "window": call.window,
                    "detail": reading.value.detail,
                    "reply": self._answer(call.endpoint, last.response_body),
                }
            )
        return reason

    def take_sealed(self, run: runs.SealedRun) -> None:
        """Count a sealed run's invalid readings."""
        for row in sealed_invalid(run.folder):
            reason = row["reason"]
            self._counts[reason] += 1
            if len(self._shown[reason]) < EXAMPLES:
                keys = {name: row[name] for name in ("call_id", "item", "arm", "window", "detail")}
                body = self._body(run, row)
                self._shown[reason].append({**keys, "reply": self._answer(row["endpoint"], body)})

    def _answer(self, endpoint: str, body: bytes | None) -> str | None:
        return answer_text(self._providers[endpoint], body, SNIPPET)

    def _body(self, run: runs.SealedRun, row: dict[str, Any]) -> bytes | None:
        if row["attempt"] is None:
            return None
        found: Iterator[Attempt] = iter(sealed_attempts(run.folder, row["call_id"]))
        return next((a.response_body for a in found if a.attempt == row["attempt"]), None)

    def as_json(self) -> dict[str, Any]:
        """Return reason -> count and examples."""
        return {
            reason: {"count": count, "examples": self._shown[reason]}
            for reason, count in sorted(self._counts.items())
        }
