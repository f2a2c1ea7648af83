"""Reservations are a prefix of the plan, lane by lane, by call id and never by position alone.

A lane is what one endpoint is asked in one run, in plan order. A call enters its lane with its
first reservation or with a skip record; retries change nothing. Calls of a lane enter one after
the other without a gap, so a resumed run can only go on where the journal ends, and a journal of
another plan is refused. An id that the plan does not know is refused, not ignored: a guard that
matches nothing must not pass.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from judgeaudit.errors import GuardError
from judgeaudit.model import PlannedCall


def lanes_of(calls: Iterable[PlannedCall]) -> dict[str, list[str]]:
    """Return each endpoint's call ids in plan order."""
    lanes: dict[str, list[str]] = {}
    for call in sorted(calls, key=lambda call: call.plan_index):
        lanes.setdefault(call.endpoint, []).append(call.call_id)
    return lanes


def check_prefix(entered: Sequence[str], planned: Sequence[str], lane: str = "") -> None:
    """Return if `entered` is a prefix of `planned`; raises `GuardError` naming the first stranger.

    The whole plan counts as a prefix: then nothing is left to send.
    """
    name = f"lane {lane!r}" if lane else "lane"
    known = set(planned)
    for position, call_id in enumerate(entered):
        if call_id not in known:
            raise GuardError(f"{name}: call {call_id!r} is not in the plan; nothing is resumed")
        if position >= len(planned) or call_id != planned[position]:
            due = planned[position] if position < len(planned) else "the end"
            raise GuardError(
                f"{name}: entry {position} is call {call_id!r} where the plan has {due!r}; "
                "nothing is resumed"
            )


def check_lanes(entered: Mapping[str, Sequence[str]], planned: Mapping[str, Sequence[str]]) -> None:
    """Return if every lane is a prefix of its plan; raises `GuardError`."""
    for endpoint, call_ids in entered.items():
        check_prefix(call_ids, planned.get(endpoint, ()), endpoint)


class Entrance(Protocol):
    """What says which call may enter next."""

    @property
    def planned(self) -> Mapping[str, Sequence[str]]:
        """Each endpoint's planned calls."""
        ...

    def check(self, endpoint: str, call_id: str) -> None:
        """Return if a call may enter; raises `GuardError` unless it may."""
        ...

    def enter(self, endpoint: str) -> None:
        """Let a call enter."""
        ...

    def waiting(self, endpoint: str) -> list[str]:
        """Return the ids of the endpoint's calls that have not entered."""
        ...


class Unplanned:
    """No plan: somebody else's program asks, and whatever it asks enters."""

    planned: Mapping[str, Sequence[str]] = {}

    def check(self, endpoint: str, call_id: str) -> None:
        """Return: there is no order to keep."""

    def enter(self, endpoint: str) -> None:
        """Do nothing."""

    def waiting(self, endpoint: str) -> list[str]:
        """Return none: nothing waits that was not asked."""
        return []


def entrance(
    calls: Sequence[PlannedCall] | None, entered: Mapping[str, Sequence[str]] | None = None
) -> Entrance:
    """Return the lanes of planned calls; None is a log without a plan."""
    return Unplanned() if calls is None else Lanes(calls, entered)


class Lanes:
    """The calls that may enter next. One of them at a time per endpoint."""

    def __init__(
        self, calls: Iterable[PlannedCall], entered: Mapping[str, Sequence[str]] | None = None
    ) -> None:
        """Take the run's calls and what has entered so far; raises `GuardError` if that strays."""
        self.planned = lanes_of(calls)
        check_lanes(entered or {}, self.planned)
        self._entered = {endpoint: len(ids) for endpoint, ids in (entered or {}).items()}

    def check(self, endpoint: str, call_id: str) -> None:
        """Return if a call may enter its lane; raises `GuardError` unless it is the next one."""
        lane, position = self.planned.get(endpoint, []), self._entered.get(endpoint, 0)
        due = lane[position] if position < len(lane) else None
        if call_id != due:
            raise GuardError(
                f"lane {endpoint!r}: call {call_id!r} is not the plan's next, which is {due!r}; "
                "nothing was sent"
            )

    def enter(self, endpoint: str) -> None:
        """Let the lane's next call enter."""
        self._entered[endpoint] = self._entered.get(endpoint, 0) + 1

    def waiting(self, endpoint: str) -> list[str]:
        """Return the ids of the endpoint's calls that have not entered."""
        return self.planned.get(endpoint, [])[self._entered.get(endpoint, 0) :]
