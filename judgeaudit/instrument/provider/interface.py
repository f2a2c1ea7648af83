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
    own word for it, on one line. `retry_after_ms` is None where nothing was said.
    """

    kind: Kind
    responsibility: Responsibility | None = None
    retry_after_ms: int | None = None
    pause: bool = False
    detail: str = ""


class Provider(Protocol):
    """One API: values in, values out."""

    api: ClassVar[str]
    sdk: ClassVar[str]
    gives_logprobs: ClassVar[bool]
    max_top_logprobs: ClassVar[int]

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
