"""From a gateway's log to a study: a registration whose bodies are the recorded ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from judgeaudit.canonical import digest
from judgeaudit.design.draft import Source
from judgeaudit.design.plan import shuffled
from judgeaudit.design.scaffold import EndpointChoice, Origin, scaffold
from judgeaudit.design.toml import toml_string
from judgeaudit.errors import InputError
from judgeaudit.evidence.log.records import Asked
from judgeaudit.evidence.log.sessions import HARNESS, Session
from judgeaudit.instrument.provider import CATALOGUE
from judgeaudit.instrument.spoken import said
from judgeaudit.instrument.value import ValueRule, value_rule
from judgeaudit.model import Item
from judgeaudit.study.folders import Folder, refuse_existing, write_study
from judgeaudit.study.gateway_log import calls_frame, chosen_kind, kinds_in, sessions_of
from judgeaudit.study.init import Made
from judgeaudit.study.sound import statistics

MOST_LABELS = 12
FIELD = "request"
"""The item's field that holds the recorded body."""


@dataclass(frozen=True, slots=True)
class Readable:
    """How a study reads the answers: a readout's name, its options as TOML, what is to be known."""

    readout: str
    options: Mapping[str, str]
    notes: tuple[str, ...] = ()


def init_from_log(
    folder: Folder,
    log: Folder,
    *,
    kind: str,
    n: int | None = None,
    seed: int = 1,
    value: str | None = None,
    scale: str | None = None,
    base_url: str | None = None,
    key_env: str | None = None,
) -> Made:
    """Make a study of one kind of a log's requests, byte for byte as they were recorded.

    `n` of the kind's different bodies are taken, in the order that `seed` draws. Answers are read
    as the log's sessions read them, or by `value`; numbers need their `scale` (`LOW,HIGH`); texts
    of which there are `MOST_LABELS` or fewer are categories. `base_url` and `key_env` say where the
    judge is, by default where the log has it. Raises `InputError` where nothing fits.
    """
    directory = Path(folder)
    refuse_existing(directory)
    sessions = sessions_of(Path(log))
    chosen = chosen_kind(kinds_in(sessions), kind)
    rule = sessions[-1].value if value is None else value_rule(value)
    usable, left_out = _usable(sessions, chosen.bodies)
    if not usable:
        told = "; ".join(f"{count} {why}" for why, count in left_out.items())
        raise InputError(log, f"kind {chosen.name}", f"no request can be asked again: {told}")
    apis = {asked.api for asked in usable.values()}
    bodies = shuffled(sorted(usable), seed, "from-log", chosen.name)[:n]
    items = tuple(_item(number, usable[body]) for number, body in enumerate(bodies, 1))
    readable = _readable(sessions, chosen.bodies, rule, scale)
    api = str(next(iter(apis)))
    endpoint = _endpoint(sessions, usable, api, chosen.model, base_url, key_env)
    source = Source("protocol.toml", _protocol(chosen.name, readable).encode())
    note = f"{len(items)} of {len(usable)} recorded requests of kind {chosen.name}, seed {seed}"
    origin = Origin("user", note, None)
    files = scaffold(directory, source, items, (), endpoint, origin, statistics())
    write_study(directory, files)
    notes = [f"left out: {count} {why}" for why, count in left_out.items()]
    if n is not None and len(items) < n:
        notes.append(f"{n} were wanted, the log has {len(items)} different requests of this kind")
    return Made(directory, tuple(sorted(files)), len(items), 0, (*notes, *readable.notes))


def _usable(
    sessions: Sequence[Session], wanted: frozenset[str]
) -> tuple[dict[str, Asked], dict[str, int]]:
    """Return the kind's requests that a study can send again, and why others cannot be."""
    found: dict[str, Asked] = {}
    left_out: dict[str, int] = {}
    for session in sessions:
        for body_sha256, asked in session.bodies():
            if body_sha256 not in wanted or body_sha256 in found:
                continue
            if why := _unusable(asked):
                left_out[why] = left_out.get(why, 0) + 1
            else:
                found[body_sha256] = asked
    return found, left_out


def _unusable(asked: Asked) -> str:
    body = asked.body or b""
    if asked.api not in CATALOGUE:
        return f"in an API that studies do not speak ({asked.api})"
    if asked.redacted or digest(body) != asked.body_sha256:
        return "held a secret, which was replaced"
    told = said(asked.api, body)
    try:
        body.decode("utf-8")
    except UnicodeDecodeError:
        return "are no UTF-8"
    if told is None or told.stream or told.count != 1:
        return "ask for a stream or for several answers; a study receives one reply, whole"
    return ""


def _item(number: int, asked: Asked) -> Item:
    name = f"r{number:04d}"
    meta = {"recorded_as": asked.call_id, "body_sha256": asked.body_sha256}
    return Item(name, name, name, {FIELD: (asked.body or b"").decode()}, meta=meta)


def _endpoint(
    sessions: Sequence[Session],
    usable: Mapping[str, Asked],
    api: str,
    model: str,
    base_url: str | None,
    key_env: str | None,
) -> EndpointChoice:
    """Return where the judge is: as given, else the origin and path that the log has."""
    if base_url is None:
        names = {call.body_sha256: call.endpoint for session in sessions for call in session.calls}
        body, asked = next(iter(usable.items()))
        target = str(sessions[-1].settings.get("targets", {}).get(names[body], ""))
        if not target:
            raise InputError(
                "--base-url", found="the log has none", remedy="say where the judge is"
            )
        origin = "/".join(target.split("/")[:3])
        base_url = origin + asked.path.removesuffix(CATALOGUE[api].record.path)
    return EndpointChoice(api, base_url, model, key_env)


def _readable(
    sessions: Sequence[Session], bodies: frozenset[str], rule: ValueRule, scale: str | None
) -> Readable:
    """Return the readout that reads what the rule reads."""
    calls = calls_frame(sessions, rule)
    own = calls[calls["body"].isin(bodies) & calls["condition"].eq(HARNESS)]
    if rule.word is None and scale is not None:
        remedy = "say by --value where the number stands, or leave --scale out"
        raise InputError("--scale", found="the answers are read as exact text", remedy=remedy)
    if rule.word is None:
        texts = sorted(set(own["text"].dropna().str.strip()))
        return _verdict({}, texts) if 2 <= len(texts) <= MOST_LABELS else Readable("text", {})
    numbers = own["number"].dropna()
    where: dict[str, str] = {"pattern": '"prefix"', "prefix": toml_string(rule.word)}
    if rule.kind == "json":
        if len(rule.steps) != 1 or not isinstance(rule.steps[0], str):
            remedy = "a study reads one key of an object, e.g. $.score"
            raise InputError("--value", found=repr(rule.word), remedy=remedy)
        key = toml_string(rule.steps[0])
        where = {"pattern": '"json"', "key": key, "other_keys": "true"}
    if len(numbers):
        return Readable("score", {**where, **_scale(scale, [float(n) for n in numbers])})
    categories = sorted(set(own["category"].dropna()))
    if len(categories) < 2:
        found = f"{len(categories)} categories among {len(own)} recorded answers"
        raise InputError("--value", found=found, remedy="read another place of the answers")
    return _verdict(where, categories)


def _verdict(where: Mapping[str, str], categories: Sequence[str]) -> Readable:
    listed = ", ".join(map(toml_string, categories))
    note = f"categories are those that were recorded ({listed}); add others that may come"
    return Readable("verdict", {**where, "categories": f"[{listed}]", "names": "[]"}, (note,))


def _scale(scale: str | None, numbers: Sequence[float]) -> dict[str, str]:
    low, high = min(numbers), max(numbers)
    try:
        ends = tuple(float(part) for part in (scale or "").split(","))
    except ValueError:
        ends = ()
    if len(ends) != 2 or not ends[0] < ends[1]:
        found = f"recorded answers lie from {low:g} to {high:g}; their scale is not told by that"
        raise InputError("--scale", found=found, remedy="write --scale LOW,HIGH")
    whole = all(number.is_integer() for number in (*numbers, *ends))
    text = [f"{end:.0f}" if whole else repr(end) for end in ends]
    kind = "int" if whole else "float"
    return {"scale": f"{{low = {text[0]}, high = {text[1]}}}", "type": f'"{kind}"'}


def _protocol(kind: str, readable: Readable) -> str:
    return "\n".join(_protocol_lines(kind, readable)) + "\n"


def _protocol_lines(kind: str, readable: Readable) -> Iterator[str]:
    yield "# Requests as a harness sent them, recorded by `judgeaudit gateway`; sent byte for byte."
    yield 'name = "recorded"'
    yield 'version = "1"'
    yield f"source = {toml_string(f'recorded requests of kind {kind}')}"
    yield f'readout = "{readable.readout}"'
    if readable.options:
        yield ""
        yield "[options]"
        yield from (f"{name} = {text}" for name, text in readable.options.items())
    yield ""
    yield "[prompt]"
    yield f'user = "{{{FIELD}}}"'
    yield "recorded = true"
