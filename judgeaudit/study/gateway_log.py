"""A gateway's log: whether it is one, what it says, whether it is what it was."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from judgeaudit.analysis.exploratory import Wish
from judgeaudit.analysis.shadow.calls import CALLS
from judgeaudit.analysis.shadow.kinds import ShadowReport, reports
from judgeaudit.collect.past import log_dir
from judgeaudit.design.layout import FROZEN
from judgeaudit.errors import InputError, UndefinedEstimate
from judgeaudit.evidence.lock.gate_run import is_run
from judgeaudit.evidence.log.reader import attempts_by_call
from judgeaudit.evidence.log.runs import unsealed_runs
from judgeaudit.evidence.log.sessions import HARNESS, OTHER, Session, reading_of, sealed_sessions
from judgeaudit.evidence.marks import mark_of
from judgeaudit.gateway.kinds import Kind, kinds_of
from judgeaudit.instrument.spoken import said
from judgeaudit.instrument.value import ValueRule, value_rule
from judgeaudit.model import Attempt, Invalid, Outcome, PlannedCall

_MOSTLY = 0.9


def is_log(root: Path) -> bool:
    """Return whether a folder is a gateway's log: it has a log and no registration."""
    return (log_dir(root) / "journal").is_dir() and not (
        (root / FROZEN).exists() or (root / "registration.toml").exists() or is_run(root)
    )


def sessions_of(root: Path, names: Sequence[str] = ()) -> list[Session]:
    """Return the sealed sessions in order, each checked against its manifest.

    Raises `UndefinedEstimate` where nothing is sealed, `EvidenceError` where a journal or a part is
    not what its manifest says.
    """
    log = log_dir(root)
    found = sealed_sessions(log, names)
    if not found:
        left = unsealed_runs(log)
        told = "the next gateway seals it" if left else "`judgeaudit gateway --to URL` records one"
        raise UndefinedEstimate(f"{root}: no sealed session; {told}")
    return found


def kinds_in(sessions: Sequence[Session]) -> list[Kind]:
    """Return the kinds of all requests of these sessions."""
    bodies = {}
    for session in sessions:
        shapes = {asked.body_sha256: asked.shape for asked in session.asked.values() if asked.api}
        for body_sha256, asked in session.bodies():
            if asked.api is None or asked.body is None or body_sha256 not in shapes:
                continue
            found = said(asked.api, asked.body)
            if found is not None:
                bodies[body_sha256] = (asked.shape, found)
    return kinds_of(bodies)


def analyze_log(
    root: Path,
    *,
    value: str | None = None,
    sessions: Sequence[str] = (),
    gap: float | None = None,
    pass_at: float | None = None,
) -> ShadowReport:
    """Return what a gateway's log says of its judges, by kind of call.

    `value` reads the answers otherwise than the sessions did; `sessions` narrows to some of them.
    """
    read = sessions_of(root, sessions)
    rule = None if value is None else value_rule(value)
    calls = calls_frame(read, rule)
    rules = [rule] if rule is not None else [session.value for session in read]
    hints = _hints(calls) if all(one.kind == "text" for one in rules) else {}
    words = {one.word for one in rules}
    notes = (
        ("sessions read their answers differently: name one way with --value",)
        if len(words) > 1
        else ()
    )
    return ShadowReport(
        source=str(root),
        sessions=tuple(session.name for session in read),
        kinds=tuple(reports(calls, Wish(gap, pass_at), hints)) if len(calls) else (),
        value=rules[0].word,
        notes=notes,
    )


def calls_frame(sessions: Sequence[Session], rule: ValueRule | None = None) -> pd.DataFrame:
    """Return one row a call in an API that is read here, with the columns of `CALLS`."""
    names = {body: kind.name for kind in kinds_in(sessions) for body in kind.bodies}
    rows = [
        _row(session, call, attempts, names, rule or session.value)
        for session in sessions
        for call, attempts in attempts_by_call(session.read.path, session.index, session.calls)
        if call is not None and call.group != OTHER and attempts
    ]
    frame = pd.DataFrame(rows, columns=list(CALLS))
    for name in ("number", "in_flight", "prompt_tokens", "cached_tokens", "retry_count"):
        frame[name] = pd.to_numeric(frame[name])
    return frame


def _row(
    session: Session,
    call: PlannedCall,
    attempts: list[Attempt],
    names: dict[str, str],
    rule: ValueRule,
) -> tuple[Any, ...]:
    asked, last = session.asked[call.call_id], attempts[-1]
    reading = reading_of(attempts, call, asked.api, rule, session.rules).value
    invalid = isinstance(reading, Invalid)
    ended = last.received_at or last.sent_at or last.reserved_at
    if last.received_at is None and last.elapsed_ms is not None and last.sent_at is not None:
        ended = last.sent_at + round(last.elapsed_ms * 1e6)
    retries = asked.headers.get("x-stainless-retry-count", "")
    document = {
        "call_id": call.call_id,
        "attempt": last.attempt,
        "endpoint": call.endpoint,
        "window": call.window,
        "repeat": call.repeat,
        "body_sha256": asked.body_sha256,
        "response_body": last.response_body,
        "response_headers": last.response_headers,
        "request_id": last.request_id,
    }
    return (
        session.name,
        call.day,
        call.call_id,
        call.item,
        call.condition,
        call.repeat,
        call.endpoint,
        names.get(asked.body_sha256, f"{asked.shape}:(not kept)"),
        asked.body_sha256,
        last.outcome is Outcome.OK,
        "invalid" if invalid else "ok",
        reading.reason.value if isinstance(reading, Invalid) else None,
        None if isinstance(reading, Invalid) else reading.number,
        None if isinstance(reading, Invalid) else reading.category,
        None if isinstance(reading, Invalid) else reading.text,
        last.reserved_at,
        ended,
        last.in_flight,
        int(retries) if retries.isdecimal() else None,
        last.prompt_tokens,
        last.cached_tokens,
        mark_of(document).reply_id,
        last.request_id,
        last.model_returned,
        asked.system,
    )


def _hints(calls: pd.DataFrame) -> dict[str, str]:
    """Return, by kind, how answers that are JSON objects could be read instead of as text."""
    found = {}
    own = calls[calls["condition"].eq(HARNESS) & calls["text"].notna()]
    for kind, part in own.groupby("kind", observed=True):
        keys = [set(_plain_keys(text)) for text in part["text"]]
        if keys and sum(map(bool, keys)) >= _MOSTLY * len(keys):
            common = sorted(set.intersection(*(k for k in keys if k)))
            if common:
                ways = ", ".join(f"--value '$.{key}'" for key in common[:4])
                found[str(kind)] = f"the answers are JSON: {ways} reads a place in them"
    return found


def _plain_keys(text: str) -> Iterator[str]:
    try:
        document = json.loads(text)
    except ValueError:
        return
    if isinstance(document, dict):
        for key, value in document.items():
            if isinstance(value, int | float | str | bool) and key.isidentifier():
                yield key


def chosen_kind(kinds: Sequence[Kind], name: str) -> Kind:
    """Return the kind of a name, or of the unique beginning or part of one.

    Raises `InputError` naming those there are.
    """
    exact = [kind for kind in kinds if kind.name == name]
    found = exact or [kind for kind in kinds if name in kind.name]
    if len(found) == 1:
        return found[0]
    what = f"{len(found)} kinds have {name!r} in their name" if found else f"no kind {name!r}"
    there = "; ".join(f"{kind.name} ({len(kind.bodies)} requests)" for kind in kinds[:8])
    raise InputError("--kind", found=what, remedy=f"there are: {there}")
