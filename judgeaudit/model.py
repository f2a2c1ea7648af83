"""What every layer shares: items, calls, attempts, replies and readings.

All classes are frozen values. Times are integer nanoseconds since the Unix epoch, UTC.
A reply is what came back; a reading is the value read from it, or `Invalid` with its reason.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol

JSON = Any
"""A value that JSON can hold: None, bool, int, float, str, list or dict of such."""

SOLE_ARM = "-"
"""The arm of a readout that asks an item in one way only."""


class Reason(StrEnum):
    """Why a planned call has no valid reading. The one list; nothing else may name a reason."""

    UNPARSED = "unparsed"
    NOT_A_PERMUTATION = "not_a_permutation"
    LABEL_MISSING = "label_missing"
    REFUSED = "refused"
    TRUNCATED = "truncated"
    EMPTY = "empty"
    OUT_OF_SCALE = "out_of_scale"
    BAD_BODY = "bad_body"
    NO_REPLY = "no_reply"
    CAP_REACHED = "cap_reached"
    WINDOW_CLOSED = "window_closed"
    UNRESOLVED = "unresolved"
    NO_MEMORY = "no_memory"
    STOPPED_BY_RULE = "stopped_by_rule"


@dataclass(frozen=True, slots=True)
class Invalid:
    """A reading that could not be had, as a value: its reason and what was found."""

    reason: Reason
    detail: str = ""


class Outcome(StrEnum):
    """How one attempt ended. The ledger: attempts = responses + transport failures + unresolved."""

    OK = "ok"
    HTTP_ERROR = "http_error"
    BAD_BODY = "bad_body"
    TRANSPORT_ERROR = "transport_error"
    TIMEOUT = "timeout"
    CANCELLED = "cancelled"
    UNRESOLVED = "unresolved"

    @property
    def bar(self) -> str:
        """The ledger's column: `response`, `transport` or `unresolved`."""
        if self in (Outcome.OK, Outcome.HTTP_ERROR, Outcome.BAD_BODY):
            return "response"
        return "unresolved" if self is Outcome.UNRESOLVED else "transport"


class Responsibility(StrEnum):
    """Whose failing an attempt that is not `ok` was."""

    TOOL = "tool"
    USER = "user"
    TRANSPORT = "transport"
    PROVIDER = "provider"
    MODEL = "model"


@dataclass(frozen=True, slots=True)
class Candidate:
    """One answer under judgement. `correct` is constructed truth, never a model's word."""

    id: str
    text: str
    correct: bool | None = None
    meta: Mapping[str, JSON] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Item:
    """What is judged once.

    `group` is what rankings are formed within (a task at one prefix), `task` what items are
    nested in (the cluster). `fields` fill the prompt's placeholders. `gold` is the right
    verdict where there is one: a candidate's id, a category or a number as text.
    """

    id: str
    group: str
    task: str
    fields: Mapping[str, JSON] = field(default_factory=dict)
    candidates: tuple[Candidate, ...] = ()
    gold: str | None = None
    meta: Mapping[str, JSON] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a conversation: role is `system`, `user` or `assistant`."""

    role: str
    content: str


@dataclass(frozen=True, slots=True)
class Ask:
    """What a readout wants asked: messages and what the answer must carry.

    `top_logprobs` is how many log-probability entries a position must show (None: not asked);
    `json_schema` is the schema of a structured answer (None: free text).
    """

    messages: tuple[Message, ...]
    top_logprobs: int | None = None
    json_schema: Mapping[str, JSON] | None = None


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a judge is reached. `key_env` names an environment variable, never a key."""

    id: str
    api: str
    base_url: str
    model: str
    key_env: str | None = None
    params: Mapping[str, JSON] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    api_version: str | None = None


@dataclass(frozen=True, slots=True)
class Window:
    """A bounded stretch of time on a day, within which calls count as one condition of time."""

    id: str
    stage: int
    day: int
    index: int


@dataclass(frozen=True, slots=True)
class PlannedCall:
    """One planned request. `body_sha256` is None until a later stage is rendered."""

    plan_index: int
    call_id: str
    stage: int
    endpoint: str
    item: str
    group: str
    task: str
    arm: str
    condition: str
    day: int
    window: str
    repeat: int
    draw: int
    body_sha256: str | None
    derivation_sha256: str | None = None


@dataclass(frozen=True, slots=True)
class Composed:
    """A request ready to freeze: path below the base URL, headers without secrets, body."""

    path: str
    headers: tuple[tuple[str, str], ...]
    body: bytes


@dataclass(frozen=True, slots=True)
class FrozenBody:
    """A composed request as frozen: what `bodies.parquet` holds in a row.

    `prompt_sha256` covers the messages alone (RFC 8785), so that one prompt can be followed over
    endpoints whose bodies must differ.
    """

    body_sha256: str
    prompt_sha256: str
    endpoint: str
    request: Composed


@dataclass(frozen=True, slots=True)
class TokenLogprob:
    """One alternative at one position: its text, its bytes where reported, ln p.

    Two entries may share one text; they stay two entries.
    """

    token: str
    logprob: float
    bytes_: bytes | None = None


@dataclass(frozen=True, slots=True)
class Usage:
    """Token counts as reported; None is "not reported", never 0."""

    prompt: int | None = None
    completion: int | None = None
    cached: int | None = None
    reasoning: int | None = None


class Ending(StrEnum):
    """What an API's word for the end of an answer means: only a whole answer is read."""

    WHOLE = "whole"
    CUT = "cut"
    DECLINED = "declined"
    NOT_REPORTED = "not reported"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Reply:
    """What an API's answer says, before any readout looks at it. None is "not reported".

    `positions[k]` holds the alternatives at answer position k, as a tuple, in the reply's order.
    `refusal` is the text of a refusal that the API marked as one. `ending` is what `finish_reason`
    means in this API. `text` is of `parts` text parts, which are one answer only where there is
    one of them; `other` names the places where something stood that is no answer's text.
    """

    text: str | None
    finish_reason: str | None = None
    refusal: str | None = None
    positions: tuple[tuple[TokenLogprob, ...], ...] | None = None
    model: str | None = None
    fingerprint: str | None = None
    service_tier: str | None = None
    provider: str | None = None
    usage: Usage = Usage()
    ending: Ending = Ending.NOT_REPORTED
    parts: int = 1
    other: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Value:
    """A valid reading. Which fields are filled depends on the readout.

    `number`: a score on its scale, or a probability r in [0, 1]. `category`: the verdict or choice,
    decoded to its meaning (a candidate's id where candidates swap places). `label`: the answer as
    it was given. `ranking`: candidate ids, best first. `text`: free text. `mass`: the summed
    probability of the registered labels.
    """

    number: float | None = None
    category: str | None = None
    label: str | None = None
    ranking: tuple[str, ...] | None = None
    text: str | None = None
    mass: float | None = None


@dataclass(frozen=True, slots=True)
class Reading:
    """One row a planned call: its value, or why there is none."""

    call: PlannedCall
    value: Value | Invalid
    attempt: int | None = None


@dataclass(frozen=True, slots=True)
class Attempt:
    """One try on the network, as the log keeps it. None is "not reported" or "not known"."""

    call_id: str
    attempt: int
    endpoint: str
    condition: str
    window: str
    repeat: int
    body_sha256: str
    canonical_sha256: str
    reserved_at: int
    sent_at: int | None
    received_at: int | None
    ttfb_ms: float | None
    elapsed_ms: float | None
    in_flight: int | None
    status: int | None
    outcome: Outcome
    error: str | None = None
    responsibility: Responsibility | None = None
    retry_after_ms: int | None = None
    response_body: bytes | None = None
    received_sha256: str | None = None
    stored_sha256: str | None = None
    redacted: bool = False
    response_headers: Mapping[str, str] = field(default_factory=dict)
    request_id: str | None = None
    model_returned: str | None = None
    fingerprint: str | None = None
    service_tier: str | None = None
    finish_reason: str | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cached_tokens: int | None = None
    reasoning_tokens: int | None = None


class Clock(Protocol):
    """The clock that runner and simulated endpoints share."""

    @property
    def virtual(self) -> bool:
        """True where days pass without anyone waiting."""
        ...

    def now_ns(self) -> int:
        """Return UTC nanoseconds since the epoch."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Let `seconds` pass."""
        ...
