"""What a sealed pilot says of itself (`results/pilot.json`), and whether gates still rest on it.

A pilot carries a gate while it is young enough, of the same judge asked in the same way, with the
same battery and as many requests in flight, and while the judge's own name in its replies has not
changed. Its age counts from the last reply of its sealed log.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from judgeaudit.design.base import plain
from judgeaudit.design.document import Condition, EndpointSpec, PilotRef, Registration
from judgeaudit.errors import EvidenceError, Problem
from judgeaudit.model import Item

FORMAT = "judgeaudit-pilot/1"


@dataclass(frozen=True, slots=True)
class PilotRecord:
    """The facts that decide whether a pilot holds.

    `finished_at` is when its last reply came (for a virtual clock: when it was frozen, in real
    time); `asked` and `served` hold by endpoint how it was addressed and the models that replies
    named. `runs` are its sealed runs' digests, `protocol` its protocol's.
    """

    study: str
    lock_digest: str
    protocol: str
    runs: Mapping[str, str]
    finished_at: datetime
    asked: Mapping[str, Mapping[str, Any]]
    served: Mapping[str, tuple[str, ...]]

    @classmethod
    def from_json(cls, data: bytes, source: object) -> PilotRecord:
        """Return the record that `pilot.json` holds; raises `EvidenceError` for anything else."""
        try:
            found = json.loads(data)
            if found["format"] != FORMAT:
                raise ValueError(f"format {found['format']!r}, this program reads {FORMAT!r}")
            return cls(
                str(found["study"]),
                str(found["lock_digest"]),
                str(found["protocol_sha256"]),
                dict(found["runs"]),
                datetime.fromisoformat(found["finished_at"]),
                dict(found["asked"]),
                {name: tuple(models) for name, models in found["served"].items()},
            )
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            told = f"{type(error).__name__}: {error}"
            raise EvidenceError(f"{source}: not a pilot's results: {told}") from error


def asked_of(spec: EndpointSpec) -> dict[str, Any]:
    """Return how an endpoint is addressed: what must be equal for a pilot to speak of it."""
    decoding, params = plain(dict(spec.decoding)), plain(dict(spec.params))
    told = {"api": spec.api, "base_url": spec.base_url, "model": spec.model}
    embedded, identity = plain(dict(spec.embedded)), plain(dict(spec.identity))
    beside = {"embedded": embedded, "headers": dict(spec.headers), "identity": identity}
    return {**told, "decoding": decoding, "params": params, **beside}


def pilot_problems(
    record: PilotRecord, ref: PilotRef, registration: Registration, protocol: str, now: datetime
) -> Iterator[Problem]:
    """Yield why gates may not rest on a pilot: age, another judge, another procedure."""
    age = now - record.finished_at
    if age > ref.max_age:
        yield Problem(
            "pilot.max_age",
            f"the pilot is {age.days} days old, {ref.max_age.days} are allowed",
            "run a new pilot",
        )
    if protocol != record.protocol:
        yield Problem("protocol", "is not the one that was piloted", "pilot this one")
    for number, spec in enumerate(registration.endpoints):
        asked = record.asked.get(spec.id)
        if asked is None:
            yield Problem(f"endpoints[{number}]", f"{spec.id!r} was not piloted", "pilot it")
            continue
        for name, value in asked_of(spec).items():
            if asked.get(name) != value:
                found = f"{value!r}, but {asked.get(name)!r} was piloted"
                yield Problem(f"endpoints[{number}].{name}", found, "pilot this judge")


def battery_problems(
    piloted: Iterable[Item], items: Iterable[Item], conditions: tuple[Sequence[Condition], ...]
) -> Iterator[Problem]:
    """Yield why a pilot does not speak of this battery, or of these conditions.

    `piloted` are its probes, each of which must stand in the battery as it was asked; `conditions`
    are those of the pilot and of the study.
    """
    known = {item.id: item for item in items}
    strange = [item.id for item in piloted if known.get(item.id) != item]
    if strange:
        found = (
            f"{len(strange)} piloted items are not in it as they were asked, e.g. {strange[0]!r}"
        )
        yield Problem("battery", found, "pilot this battery")
    had, wanted = ({one.name: one.in_flight for one in found} for found in conditions)
    if had != wanted:
        told = [", ".join(f"{k} {v} in flight" for k, v in one.items()) for one in (wanted, had)]
        found = f"{told[0]}, but {told[1]} was piloted"
        yield Problem("schedule.conditions", found, "pilot under these conditions")


def other_models(
    record: PilotRecord, served: Mapping[str, Iterable[str]]
) -> Iterator[tuple[str, str]]:
    """Yield (endpoint, model) for every served model that the pilot never saw."""
    for endpoint, models in served.items():
        for model in models:
            if model not in record.served.get(endpoint, ()):
                yield endpoint, model
