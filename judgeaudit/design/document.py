"""The registration document (`registration.toml`): every key, its type and its default.

Validation here is by shape; what needs several parts at once (does the cap hold the plan, can this
API give log-probabilities) is in `check.py`.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any, Literal, Self

from pydantic import Field, field_validator, model_validator

from judgeaudit.design.base import Duration, Name, Strict, plain
from judgeaudit.design.criteria import Analysis, Gate, Rule, Sequential, Watch
from judgeaudit.instrument.provider import CATALOGUE
from judgeaudit.instrument.readout.record import Claim
from judgeaudit.model import Endpoint


class Consumer(Strict):
    """The decision that uses the judge and what it tolerates (the requirement).

    `tolerated` is the largest share of wrong or flipped decisions.
    """

    decision: Literal[
        "leaderboard_order", "best_of_n", "pass_fail_filter", "reward_sign", "ranking", "other"
    ]
    tolerated: Decimal = Field(gt=0, lt=1)
    params: dict[str, Any] = Field(default_factory=dict)
    note: str = ""


class Study(Strict):
    """Who asks what, for which use."""

    id: Name
    title: str
    authors: list[str] = Field(min_length=1)
    claim: Claim
    consumer: Consumer | None = None
    hypotheses: list[str] = Field(default_factory=list)
    prohibitions: list[str] = Field(default_factory=list)
    notes: str = ""


class ProtocolRef(Strict):
    """The protocol's file, relative to the study."""

    file: str = "protocol.toml"


class BatteryRef(Strict):
    """The items' file, relative to the study, and how it was made."""

    file: str = "items.jsonl"
    kind: str = "user"
    seed: int | None = None
    options: dict[str, Any] = Field(default_factory=dict)


class Timeouts(Strict):
    """Seconds as durations."""

    connect: Duration = timedelta(seconds=10)
    read: Duration = timedelta(seconds=120)
    total: Duration = timedelta(seconds=180)


class Prices(Strict):
    """Price per million tokens, in `currency`."""

    prompt: Decimal = Field(default=Decimal(0), ge=0)
    completion: Decimal = Field(default=Decimal(0), ge=0)
    currency: str = "USD"


class EndpointSpec(Strict):
    """One judge's endpoint.

    `base_url` is a URL, `embedded:SCENARIO` or `embedded:local`. `params` are body fields in the
    API's own names, added as they are. `key_env` names the environment variable with the key.
    `plain_http` allows the key to travel unencrypted to another machine (`addresses`).
    `decoding` overrides the protocol's decoding for this endpoint (a value of "unset" leaves a
    parameter out).
    """

    id: Name
    api: str
    base_url: str
    model: str = Field(min_length=1)
    key_env: str | None = None
    plain_http: bool = False
    api_version: str | None = None
    params: dict[str, Any] = Field(default_factory=dict)
    headers: dict[str, str] = Field(default_factory=dict)
    decoding: dict[str, Any] = Field(default_factory=dict)
    timeouts: Timeouts = Timeouts()
    requests_per_minute: int | None = Field(default=None, ge=1)
    tokens_per_minute: int | None = Field(default=None, ge=1)
    prices: Prices = Prices()
    identity: dict[str, Any] = Field(default_factory=dict)
    embedded: dict[str, Any] = Field(default_factory=dict)

    @field_validator("api")
    @classmethod
    def _is_spoken(cls, api: str) -> str:
        if api not in CATALOGUE:
            raise ValueError(f"one of {', '.join(CATALOGUE)}")
        return api

    @property
    def is_embedded(self) -> bool:
        """True for `embedded:...` endpoints."""
        return self.base_url.startswith("embedded:")

    @property
    def is_simulated(self) -> bool:
        """True for embedded endpoints with planted truth."""
        return self.is_embedded and self.base_url != "embedded:local"

    def to_endpoint(self) -> Endpoint:
        """Return what a provider needs to compose a request."""
        return Endpoint(
            id=self.id,
            api=self.api,
            base_url=self.base_url,
            model=self.model,
            key_env=self.key_env,
            params=plain(self.params),
            headers=dict(self.headers),
            api_version=self.api_version,
        )


class Condition(Strict):
    """One condition of measurement: how many requests are in flight at once."""

    name: Name
    in_flight: int = Field(default=1, ge=1, le=512)


MOST = 100_000
"""The largest number of days, windows a day, repeats or draws: more is a slip of the pen."""


class Schedule(Strict):
    """When and how often. All times UTC.

    `repeats` asks the same bytes again within a window; `repeat_share` of the groups get them
    (whole groups, drawn by seed), `replay_share` of the groups return in windows after the first.
    `draws` are the k draws that one reading aggregates. `order = "interleaved"` mixes conditions
    in seeded chunks of `chunk` calls; `"blocked"` runs them one after the other. `block` gives each
    window that many items which no other window asks, in one seeded order. A window is sealed
    without being asked for it only where, of the calls that were sent, at least the share
    `least_answered` brought a reply and `least_valid` a valid reading.
    """

    start: datetime | None = None
    conditions: list[Condition] = Field(default=[Condition(name="default")], min_length=1)
    order: Literal["interleaved", "blocked"] = "interleaved"
    chunk: int = Field(default=16, ge=1)
    days: int = Field(default=1, ge=1, le=MOST)
    windows_per_day: int = Field(default=1, ge=1, le=MOST)
    min_gap: Duration = timedelta(0)
    day_gap: Duration = timedelta(hours=24)
    max_duration: Duration = timedelta(hours=6)
    repeats: int = Field(default=1, ge=1, le=MOST)
    repeat_share: Decimal = Field(default=Decimal(1), gt=0, le=1)
    replay_share: Decimal = Field(default=Decimal(1), gt=0, le=1)
    draws: int = Field(default=1, ge=1, le=MOST)
    block: int | None = Field(default=None, ge=1)
    seed: int
    cap: int = Field(ge=1, le=2**53)
    budget: Decimal | None = Field(default=None, gt=0)
    on_budget: Literal["pause", "close"] = "pause"
    least_answered: Decimal = Field(default=Decimal("0.5"), ge=0, le=1)
    least_valid: Decimal = Field(default=Decimal(0), ge=0, le=1)
    clock: Literal["utc", "virtual"] = "utc"

    @model_validator(mode="after")
    def _names_differ(self) -> Self:
        names = [(f"conditions[{n}]", one.name) for n, one in enumerate(self.conditions)]
        if shared := _shared(names, "name"):
            raise ValueError(shared)
        return self


class Retry(Strict):
    """The retry policy: transport failures, 408, 409, 429, 5xx and 529 only.

    `longest` is the longest wait of our own, `longest_wait` the longest that a server may ask for.
    `breaker` equal client errors in a row pause a run, and so do `outage` calls in a row that end
    without a reply (5xx, 429, transport, bodies that are none).
    """

    attempts: int = Field(default=5, ge=1, le=20)
    base: Duration = timedelta(seconds=1)
    longest: Duration = timedelta(seconds=60)
    longest_wait: Duration = timedelta(minutes=10)
    breaker: int = Field(default=5, ge=1)
    outage: int = Field(default=5, ge=1)


class Unit(Strict):
    """The unit of measurement and of inference."""

    k: int = Field(default=1, ge=1)
    aggregate: Literal["none", "mean", "borda", "median_rank", "majority"] = "none"
    ties: Literal["average", "first", "invalid"] = "average"
    cluster: Literal["item", "task", "world", "window"] = "item"
    target: Literal["these probes", "probes like these"] = "probes like these"


class Controls(Strict):
    """Checks in every window: known-answer items, and a loopback echo of one frozen body.

    A share of wrong readings of a gold control above `allowed_wrong` bars every gate; so does a
    share of unlike twins above `allowed_unlike`, where that is given.
    """

    items: str | None = None
    echo: bool = True
    allowed_wrong: Decimal = Field(default=Decimal("0.05"), ge=0, le=1)
    allowed_unlike: Decimal | None = Field(default=None, ge=0, lt=1)


class PilotRef(Strict):
    """The sealed pilot that the gates rest on.

    `digest` is that of the pilot's `results/pilot.json`, in the folder `study` beside the
    registration. `override` is a written reason to freeze gates that the pilot does not carry; it
    marks every verdict for life.
    """

    digest: str | None = Field(default=None, pattern=r"^sha256:[0-9a-f]{64}$")
    study: str = "pilot"
    max_age: Duration = timedelta(days=30)
    override: str | None = Field(default=None, min_length=1)

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if self.digest is None and self.override is None:
            raise ValueError("give the digest of the pilot's results, or an override's reason")
        return self

    @property
    def results(self) -> str:
        """Where the pilot's results are, relative to the study."""
        return f"{self.study}/results/pilot.json"


class Registration(Strict):
    """A whole registration."""

    study: Study
    protocol: ProtocolRef = ProtocolRef()
    battery: BatteryRef = BatteryRef()
    endpoints: list[EndpointSpec] = Field(min_length=1)
    schedule: Schedule
    retry: Retry = Retry()
    unit: Unit = Unit()
    controls: Controls = Controls()
    gates: list[Gate] = Field(default_factory=list)
    rules: list[Rule] = Field(default_factory=list)
    analyses: list[str | Analysis] = Field(default_factory=list)
    pilot: PilotRef | None = None
    sequential: Sequential | None = None
    watch: Watch | None = None

    def asked_analyses(self) -> list[Analysis]:
        """Return the registered analyses, a name alone as the analysis that it stands for."""
        return [Analysis(statistic=one) if isinstance(one, str) else one for one in self.analyses]

    @model_validator(mode="after")
    def _ids_differ(self) -> Self:
        endpoints = [(f"endpoints[{n}]", one.id) for n, one in enumerate(self.endpoints)]
        gates = [(f"gates[{n}]", one.id) for n, one in enumerate(self.gates)]
        rules = [(f"rules[{n}]", one.id) for n, one in enumerate(self.rules)]
        if shared := _shared(endpoints, "id") or _shared([*gates, *rules], "id"):
            raise ValueError(shared)
        return self


def _shared(named: Iterable[tuple[str, str]], what: str) -> str:
    """Return which two tables have one name, and that name; nothing where all differ."""
    first: dict[str, str] = {}
    for place, name in named:
        if name in first:
            return f"{first[name]} and {place} share the {what} {name!r}; give each its own"
        first[name] = place
    return ""
