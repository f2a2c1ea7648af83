"""A frozen study, as every later command sees it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from judgeaudit.canonical import Digest
from judgeaudit.design.asking import Asker, Asking
from judgeaudit.design.document import Condition, EndpointSpec, Registration
from judgeaudit.design.lock import reading_rules
from judgeaudit.design.plan import windows
from judgeaudit.design.protocol import ProtocolDocument
from judgeaudit.design.tables import Bodies
from judgeaudit.errors import EvidenceError, InputError
from judgeaudit.instrument.readout import Readout
from judgeaudit.instrument.rules import Rules
from judgeaudit.model import JSON, FrozenBody, Item, PlannedCall, Window


@dataclass(frozen=True)
class FrozenStudy:
    """A study whose frozen files are what its lock says.

    `items` holds the controls too. `plan` is complete; calls of a later stage have a body once
    that stage is frozen. `locks` lists every lock's digest from the first to the one in force:
    the log may name any of them, an amendment explains each step.
    """

    root: Path
    registration: Registration
    protocol: ProtocolDocument
    items: Mapping[str, Item]
    plan: tuple[PlannedCall, ...]
    bodies: Bodies
    lock: Mapping[str, JSON]
    lock_digest: Digest
    locks: tuple[Digest, ...]
    stage_locks: Mapping[int, Digest]

    @cached_property
    def asker(self) -> Asker:
        """How each call is asked."""
        return Asker.of(self.protocol)

    @cached_property
    def rules(self) -> Rules:
        """The version of the rules by which this study's replies are read."""
        return reading_rules(self.lock)

    @cached_property
    def _windows(self) -> tuple[Window, ...]:
        return windows(self.registration.schedule, len(self.protocol.all_stages()))

    def windows(self) -> tuple[Window, ...]:
        """Return all windows of all stages, in order."""
        return self._windows

    @cached_property
    def _lanes(self) -> Mapping[tuple[str, str], tuple[PlannedCall, ...]]:
        lanes: dict[tuple[str, str], list[PlannedCall]] = defaultdict(list)
        for call in self.plan:
            lanes[call.window, call.endpoint].append(call)
        return {key: tuple(calls) for key, calls in lanes.items()}

    def calls_of(self, window: str, endpoint: str) -> tuple[PlannedCall, ...]:
        """Return a lane's calls in sending order; empty for a lane that is not planned."""
        return self._lanes.get((window, endpoint), ())

    @cached_property
    def calls(self) -> Mapping[str, PlannedCall]:
        """All calls by id."""
        return {call.call_id: call for call in self.plan}

    def call(self, call_id: str) -> PlannedCall:
        """Return one call; raises `InputError` for an id that is not in the plan."""
        if call_id not in self.calls:
            raise InputError("plan", found=f"no call {call_id!r}")
        return self.calls[call_id]

    def endpoint(self, name: str) -> EndpointSpec:
        """Return one endpoint; raises `InputError` for an id that is not registered."""
        for spec in self.registration.endpoints:
            if spec.id == name:
                return spec
        known = ", ".join(spec.id for spec in self.registration.endpoints)
        raise InputError("registration", found=f"no endpoint {name!r}", remedy=f"known: {known}")

    def condition(self, name: str) -> Condition:
        """Return one condition; raises `InputError` for a name that is not registered."""
        for condition in self.registration.schedule.conditions:
            if condition.name == name:
                return condition
        raise InputError("registration", found=f"no condition {name!r}")

    def asking(self, call: PlannedCall) -> Asking:
        """Return how a call is asked."""
        return self.asker.find(call.stage, call.arm)

    def readout_of(self, call: PlannedCall) -> Readout:
        """Return a call's readout."""
        return self.asking(call).readout

    def readout_arm(self, call: PlannedCall) -> str:
        """Return the readout's own arm in a call's arm."""
        return self.asking(call).readout_arm(call.arm)

    def item_of(self, call: PlannedCall) -> Item:
        """Return a call's item with its cell's fields; nothing taken from earlier stages."""
        return self.asking(call).item(self.items[call.item])

    def body_of(self, call: PlannedCall) -> FrozenBody | None:
        """Return what a call sends; None where it has no body (yet).

        Raises `EvidenceError` where the plan names a body that is not frozen.
        """
        if call.body_sha256 is None:
            return None
        try:
            return self.bodies.at(call.endpoint, call.body_sha256)
        except KeyError:
            raise EvidenceError(
                f"plan.parquet: row {call.plan_index}: body {call.body_sha256} of endpoint "
                f"{call.endpoint!r} is not in bodies.parquet"
            ) from None
