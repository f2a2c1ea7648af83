"""Amendments: a change of a frozen study, decided and written down before the calls it affects.

* An amendment says what changes, why, and to what effect; it carries the digest of the lock that it
  supersedes, and the new lock carries the amendment's digest: a chain from the first freeze on.
* A call that was tried keeps its row of the plan and the body that was sent. A call that was
  answered may not change at all: neither its body nor its item nor how it is read. A body that was
  met by a 400 was tried and not answered, so the calls after it can be mended.
* Once any call was answered, what decides verdicts is fixed (claim, consumer, hypotheses, gates,
  rules, unit, analyses, pilot): a change there would follow the data. It is a deviation to report
  or a new study, never an amendment.
* An amendment ends where a later stage is frozen, whose bodies rest on the lock.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import pyarrow as pa

from judgeaudit.canonical import Digest, canonical_bytes, digest
from judgeaudit.design.asking import readout_of
from judgeaudit.design.bodies import distinct
from judgeaudit.design.draft import Inputs
from judgeaudit.design.lock import Rendered, base_urls, rendered_of
from judgeaudit.design.protocol import ProtocolDocument
from judgeaudit.design.tables import TODAY, FrozenTables, body_table
from judgeaudit.errors import GuardError, InputError
from judgeaudit.model import JSON, FrozenBody, PlannedCall

AMENDMENT_SCHEMA = "judgeaudit/amendment"
AMENDMENT_VERSION = 2
"""Since 2 an amendment holds what had been seen, and what it changes of verdicts."""

FIXED = ("gates", "rules", "unit", "analyses", "pilot")
FIXED_OF_STUDY = ("claim", "consumer", "hypotheses", "prohibitions")


@dataclass(frozen=True, slots=True)
class Progress:
    """Which calls were tried, or closed without a try, and which of them were answered."""

    tried: frozenset[str] = frozenset()
    answered: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Words:
    """What a person says of an amendment; each must say something."""

    what: str
    why: str
    effect: str

    def __post_init__(self) -> None:
        for name in ("what", "why", "effect"):
            if not getattr(self, name).strip():
                raise InputError(f"--{name}", found="empty", remedy="one sentence is enough")


@dataclass(frozen=True, slots=True)
class Seen:
    """What was there when an amendment was made, and what it changes: derived, not claimed.

    `head` is the digest of the last sealed run's manifest. `before` and `after` are outcomes by
    gate or rule and `overall`, by the old and by the new registration on the same sealed runs;
    None where nothing was sealed or nothing could be said.
    """

    sealed_runs: Sequence[str] = ()
    head: str | None = None
    before: Mapping[str, str] | None = None
    after: Mapping[str, str] | None = None

    def changes(self) -> list[dict[str, JSON]]:
        """Return each verdict that the amendment changes, with both outcomes."""
        before, after = self.before or {}, self.after or {}
        return [
            {"verdict": name, "before": before.get(name), "after": after.get(name)}
            for name in dict.fromkeys([*before, *after])
            if before.get(name) != after.get(name)
        ]


@dataclass(frozen=True, slots=True)
class Before:
    """What is superseded: documents, plan, bodies, lock."""

    inputs: Inputs
    plan: Sequence[PlannedCall]
    bodies: Sequence[FrozenBody]
    lock_digest: Digest


def amended(
    before: Before, inputs: Inputs, rendered: Rendered, progress: Progress
) -> tuple[Rendered, dict[str, str]]:
    """Return plan and bodies as amended, and the body digest that each tried call keeps.

    Raises `GuardError` where a call that was answered, or the order of calls that were tried,
    would change.
    """
    _check_fixed(before.inputs, inputs, progress)
    _check_answered(before, inputs, rendered.plan, progress)
    old = {call.call_id: call for call in before.plan}
    new = {call.call_id: call for call in rendered.plan}
    kept: dict[str, str] = {}
    for call_id in sorted(progress.tried):
        was, now = old[call_id], new.get(call_id)
        if now is None or _place(was) != _place(now):
            raise GuardError(
                f"call {call_id} (item {was.item!r}, window {was.window}) was tried, and the "
                "amendment would remove or move it; amend only what comes after it"
            )
        if was.body_sha256 != now.body_sha256 and was.body_sha256 is not None:
            kept[call_id] = was.body_sha256
    _check_prefix(before.plan, rendered.plan, progress)
    return with_kept(rendered, kept, before.bodies, base_urls(inputs.registration.endpoints)), kept


def _place(call: PlannedCall) -> PlannedCall:
    return replace(call, body_sha256=None)


def _check_fixed(before: Inputs, after: Inputs, progress: Progress) -> None:
    if not progress.answered:
        return
    pairs = [(name, before.registration, after.registration, name) for name in FIXED]
    studies = before.registration.study, after.registration.study
    for name, was, now, key in [*pairs, *((n, *studies, f"study.{n}") for n in FIXED_OF_STUDY)]:
        if getattr(was, name) != getattr(now, name):
            raise GuardError(
                f"{key} cannot be amended: {len(progress.answered)} calls were answered; "
                "report a deviation, or register a new study"
            )


def _check_answered(
    before: Before, after: Inputs, plan: Iterable[PlannedCall], progress: Progress
) -> None:
    """Raise `GuardError` for an answered call whose body, item or reading rule would change."""
    new = {call.call_id: call for call in plan}
    items = {item.id: item for item in (*after.items, *after.controls)}
    old_items = {item.id: item for item in (*before.inputs.items, *before.inputs.controls)}
    for call in before.plan:
        if call.call_id not in progress.answered:
            continue
        now = new.get(call.call_id)
        for what, changed in (
            ("endpoint", _asks(before.inputs, call) != _asks(after, call)),
            ("body", now is not None and now.body_sha256 != call.body_sha256),
            ("item", items.get(call.item) != old_items[call.item]),
            ("readout", _reads(before.inputs.protocol, call) != _reads(after.protocol, call)),
        ):
            if changed:
                raise GuardError(
                    f"call {call.call_id} (item {call.item!r}, window {call.window}) was answered "
                    f"already, and the amendment would change its {what}; register a new study"
                )


def _asks(inputs: Inputs, call: PlannedCall) -> object:
    """Return what of an endpoint an answer depends on, beside the body."""
    specs = (spec for spec in inputs.registration.endpoints if spec.id == call.endpoint)
    fields = ("api", "base_url", "model", "api_version", "headers", "embedded")
    return next((spec.model_dump(include=set(fields)) for spec in specs), None)


def _reads(protocol: ProtocolDocument, call: PlannedCall) -> object:
    stages = protocol.all_stages()
    if call.stage > len(stages):
        return None
    stage, name = stages[call.stage - 1], call.arm.partition(":")[0]
    return readout_of(stage, next((cell for cell in stage.cells if cell.name == name), None))


def _check_prefix(
    old: Iterable[PlannedCall], new: Iterable[PlannedCall], progress: Progress
) -> None:
    """Raise `GuardError` unless in each lane the tried calls still come first, in order."""
    tried = {lane: [c for c in calls if c in progress.tried] for lane, calls in _lanes(old).items()}
    lanes = _lanes(new)
    for lane, calls in tried.items():
        if lanes.get(lane, [])[: len(calls)] != calls:
            raise GuardError(
                f"window {lane[0]}, endpoint {lane[1]}: the {len(calls)} calls that were tried "
                "would no longer be the first of their lane; amend only what comes after them"
            )


def _lanes(plan: Iterable[PlannedCall]) -> Mapping[tuple[str, str], list[str]]:
    lanes: dict[tuple[str, str], list[str]] = defaultdict(list)
    for call in plan:
        lanes[call.window, call.endpoint].append(call.call_id)
    return lanes


def with_kept(
    rendered: Rendered,
    kept: Mapping[str, str],
    bodies: Sequence[FrozenBody],
    urls: Mapping[str, str],
    tables: FrozenTables = TODAY,
) -> Rendered:
    """Return plan and bodies in which the calls in `kept` have the bodies that were sent."""
    if not kept:
        return rendered
    plan = tuple(
        replace(call, body_sha256=kept[call.call_id]) if call.call_id in kept else call
        for call in rendered.plan
    )
    used = {(call.endpoint, call.body_sha256) for call in plan}
    every = distinct([*rendered.bodies, *bodies])
    found = tuple(body for body in every if (body.endpoint, body.body_sha256) in used)
    return rendered_of(plan, found, urls, tables)


def amendment_document(
    number: int,
    words: Words,
    amended_at: str,
    before: Before,
    after: Rendered,
    kept: Mapping[str, str],
    difference: str,
    answered: int,
    seen: Seen,
) -> dict[str, JSON]:
    """Return the amendment as a JSON document."""
    return {
        "schema": f"{AMENDMENT_SCHEMA}/{AMENDMENT_VERSION}",
        "number": number,
        "what": words.what,
        "why": words.why,
        "effect": words.effect,
        "amended_at": amended_at,
        "superseded_lock": str(before.lock_digest),
        "difference": difference,
        "affected_calls": affected(before, after),
        "kept": dict(kept),
        "seen": {
            "answered_calls": answered,
            "sealed_runs": list(seen.sealed_runs),
            "head": seen.head,
            "outcomes": None if seen.before is None else dict(seen.before),
        },
        "changes": seen.changes(),
    }


def affected(before: Before, after: Rendered) -> int:
    """Return how many calls are added, removed, or sent otherwise: body, headers or address."""
    urls = base_urls(before.inputs.registration.endpoints)
    was = _requests(before.plan, body_table(before.bodies, urls, TODAY))
    now = _requests(after.plan, after.body_table)
    return sum(was.get(name) != now.get(name) for name in was.keys() | now.keys())


def _requests(plan: Iterable[PlannedCall], bodies: pa.Table) -> dict[str, object]:
    """Return what each call sends, or how a later stage's call will be made."""
    columns = [bodies.column(n).to_pylist() for n in ("endpoint", "body_sha256", "url", "headers")]
    sent = {(row[0], row[1]): row for row in zip(*columns, strict=True)}
    return {
        call.call_id: sent.get((call.endpoint, call.body_sha256 or ""), call.derivation_sha256)
        for call in plan
    }


def amendment_bytes(document: Mapping[str, JSON]) -> tuple[bytes, Digest]:
    """Return an amendment's canonical bytes and their digest."""
    data = canonical_bytes(document)
    return data, digest(data)


@dataclass(frozen=True, slots=True)
class Amendment:
    """One amendment of a study as reports show it, and how many answers were known by then."""

    document: Mapping[str, JSON]
    answers: int

    @property
    def seen(self) -> str:
        """What was known when it was made, in words."""
        if not self.answers:
            return "no answer"
        return f"{self.answers} answer{'' if self.answers == 1 else 's'}"

    def sentence(self) -> str:
        """Return what, why, effect and what had been seen by then, in one line."""
        return f"{next(described([self.document]))}; seen by then: {self.seen}"

    def to_dict(self) -> dict[str, JSON]:
        """Return JSON values."""
        shown = ("number", "amended_at", "what", "why", "effect", "affected_calls", "difference")
        told = {name: self.document[name] for name in shown} | {"seen": self.seen}
        return {**told, "changes": self.document.get("changes")}


def described(documents: Iterable[Mapping[str, JSON]]) -> Iterator[str]:
    """Yield amendments as text, one line each."""
    for one in documents:
        yield (
            f"amendment {one['number']} ({one['amended_at']}): {one['what']}; because "
            f"{one['why']}; effect: {one['effect']}; {one['affected_calls']} calls affected"
            f"{changes_told(one)}"
        )


def changes_told(document: Mapping[str, JSON]) -> str:
    """Return what an amendment changes of verdicts, as part of a sentence; empty for nothing."""
    told = [
        f"{one['verdict']} {one['before'] or 'absent'} -> {one['after'] or 'absent'}"
        for one in document.get("changes") or ()
    ]
    return f"; IT CHANGES VERDICTS: {', '.join(told)}" if told else ""
