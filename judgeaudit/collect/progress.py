"""How far an earlier executor came, read from the journal it left.

A call is finished, and is not asked again, once it has

* a reply with a success status, whatever it says (an invalid reading is never retried);
* a refusal that stands for the bytes that are planned now: a body that an amendment replaced is
  asked anew;
* used up the attempts of the retry policy.

Attempts that were cut off (cancelled, unresolved) or that paused the run (authentication, 404,
quota) say nothing about the call: they stand on the ledger and count against the cap, but not
against the retry policy, and the call is asked again. So are the calls that an outage took, which a
pause names, and none whose server asked for a longer wait than the registered one.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from judgeaudit.collect.clock import MS
from judgeaudit.collect.retrying import too_long
from judgeaudit.design.document import Retry
from judgeaudit.evidence.log.chain import Entry
from judgeaudit.evidence.log.reader import JournalRead, read_journal
from judgeaudit.evidence.log.records import PREFLIGHT
from judgeaudit.evidence.log.records import Kind as Record
from judgeaudit.instrument.provider import Kind, Provider
from judgeaudit.instrument.provider.compressed import readable
from judgeaudit.model import Invalid, Outcome

CUT_OFF = frozenset({Outcome.CANCELLED, Outcome.UNRESOLVED})


@dataclass(slots=True)
class Failures:
    """A call's failures so far: how many count, when the last ended, what wait its server asked."""

    count: int = 0
    ended_ns: int = 0
    retry_after_ms: int | None = None


@dataclass(slots=True)
class Earlier:
    """What an earlier executor left. `first_reserved` is of the first planned call."""

    finished: set[str] = field(default_factory=set)
    failures: dict[str, Failures] = field(default_factory=dict)
    tokens: dict[str, list[int]] = field(default_factory=dict)
    first_reserved: int | None = None

    def failed(self, call_id: str) -> Failures:
        """Return a call's failures; none where nothing failed."""
        return self.failures.get(call_id, Failures())

    def ask_anew(self, call_ids: Iterable[str]) -> None:
        """Forget how these calls failed: an outage says nothing about them."""
        for call_id in call_ids:
            self.finished.discard(call_id)
            self.failures.pop(call_id, None)


def read_earlier(
    path: Path,
    providers: Mapping[str, Provider],
    bodies: Callable[[str], str | None],
    policy: Retry,
) -> tuple[JournalRead, Earlier]:
    """Return a journal and what it says about each call.

    `providers` by endpoint; `bodies` gives the digest that is planned for a call now. Raises
    `EvidenceError` for a broken chain.
    """
    earlier = Earlier()

    def note(entry: Entry) -> None:
        record = entry.record
        if record["kind"] == Record.RESERVE and record["condition"] != PREFLIGHT:
            if earlier.first_reserved is None:
                earlier.first_reserved = int(record["reserved_at"])
        elif record["kind"] == Record.OUTCOME and record["endpoint"] in providers:
            _note(earlier, record, providers[record["endpoint"]], bodies, policy)
        elif record["kind"] == Record.EVENT and record["name"] == "pause":
            earlier.ask_anew(record["data"].get("anew", ()))

    return read_journal(path, note), earlier


def _note(
    earlier: Earlier,
    record: Mapping[str, Any],
    provider: Provider,
    bodies: Callable[[str], str | None],
    policy: Retry,
) -> None:
    call_id, outcome = record["call_id"], Outcome(record["outcome"])
    spent = earlier.tokens.setdefault(record["endpoint"], [0, 0])
    spent[0] += record["prompt_tokens"] or 0
    spent[1] += record["completion_tokens"] or 0
    if outcome in CUT_OFF:
        return
    if outcome in (Outcome.OK, Outcome.BAD_BODY):
        earlier.finished.add(call_id)
        return
    if outcome is Outcome.HTTP_ERROR:
        headers = record["response_headers"]
        found = provider.classify(record["status"], headers, _body(record, headers))
        if found.kind is not Kind.RETRY:
            if not found.pause and bodies(call_id) in (None, record["body_sha256"]):
                earlier.finished.add(call_id)
            return
    failures = earlier.failures.setdefault(call_id, Failures())
    failures.count += 1
    failures.retry_after_ms = record["retry_after_ms"]
    failures.ended_ns = _ended(record)
    if failures.count >= policy.attempts or too_long(policy, record["retry_after_ms"]):
        earlier.finished.add(call_id)


def _body(record: Mapping[str, Any], headers: Mapping[str, str]) -> bytes:
    stored = record["response_body"]
    found = readable(b"" if stored is None else base64.b64decode(stored), headers)
    return b"" if isinstance(found, Invalid) else found


def _ended(record: Mapping[str, Any]) -> int:
    begun = int(record["sent_at"] or record["reserved_at"])
    return begun + round(float(record["elapsed_ms"] or 0) * MS)
