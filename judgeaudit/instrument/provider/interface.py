"""What a provider is: one API's request and reply, as pure functions of values.

A provider composes the one request that is frozen, reads a reply's bytes, says whose failing a
status is, and names the header that carries a key. It never sends, never looks at a clock or at
the environment, and never keeps a key.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar, Protocol

from judgeaudit.instrument.rules import CURRENT, Rules
from judgeaudit.model import JSON, Ask, Composed, Endpoint, Invalid, Reply, Responsibility


class Kind(StrEnum):
    """What to do after a reply: keep it, try again, or give the call up."""

    FINAL = "final"
    RETRY = "retry"
    REFUSE = "refuse"


@dataclass(frozen=True, slots=True)
class Classified:
    """What a status, its headers and its body mean.

    `pause` is set where no later call can fare better until a person acts: a key that is not
    accepted, a model or path that is not there, money that is spent. `detail` is the provider's
    own word for it, on one line. `retry_after_ms` is None where nothing was said. `about` is not
    empty where the refusal speaks of this one item, so that the way to the model is open:
    `refused` by a filter, or `too_long`.
    """

    kind: Kind
    responsibility: Responsibility | None = None
    retry_after_ms: int | None = None
    pause: bool = False
    detail: str = ""
    about: str = ""


@dataclass(frozen=True, slots=True)
class ProviderRecord:
    """The one record of an API: every fact about it that another room needs; none has a default.

    `api`: its name in a registration. `title`: its name for people. `base_url` and `key_env`: the
    vendor's own address and the variable that usually holds its key. `sdk`: the package of its SDK,
    which `prereg check --online` asks through. `path`: what is posted to,
    below the base URL. `api_version` and `decoding`: what `init` writes for an endpoint, None and
    empty where the API needs nothing. `top_logprobs`: the most alternatives that a position shows,
    0 where there are no log-probabilities. `whole`: the endings that it documents for a whole
    answer. `token_fields`: body fields that limit the answer's length. `batch`: whether the vendor
    has a batch form of it.
    """

    api: str
    title: str
    base_url: str
    key_env: str
    sdk: str
    path: str
    api_version: str | None
    decoding: Mapping[str, JSON]
    top_logprobs: int
    whole: frozenset[str]
    token_fields: tuple[str, ...]
    batch: bool


class Provider(Protocol):
    """One API: values in, values out."""

    record: ClassVar[ProviderRecord]

    def compose(self, endpoint: Endpoint, ask: Ask, decoding: Mapping[str, JSON]) -> Composed:
        """Return the request to freeze: path, headers without secrets, body bytes.

        `decoding` holds API-neutral names (see `providers.body.DECODING`); None and "unset" are
        not sent. Raises `InputError` for what this API cannot be asked.
        """
        ...

    def read(self, body: bytes, rules: Rules = CURRENT) -> Reply | Invalid:
        """Return what a 200 says, or `Invalid(bad_body)` where it is no such document.

        `rules` is the version of the reading rules: evidence is read by that of its study's lock.
        """
        ...

    def classify(
        self, status: int, headers: Mapping[str, str], body: bytes, *, now_ns: int | None = None
    ) -> Classified:
        """Return what a status means under the retry policy; header names are in lower case."""
        ...

    def auth(self, key: str, api_version: str | None = None) -> dict[str, str]:
        """Return the headers that carry a key; they are never frozen and never logged."""
        ...
