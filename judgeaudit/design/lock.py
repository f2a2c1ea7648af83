"""What a freeze produces, as values: plan, bodies and lock of a sound draft.

* `content` of a lock holds digests of the input files, of the plan's rows and of the bodies' rows.
  It alone decides whether a study is unchanged; `content_sha256` is its digest.
* `beside` holds what was true at the time: code version, environment, UTC, git state, data-access
  state. A later difference there is a deviation, never a refusal.
* `reading_rules` says by which version of the rules replies are read, for ever.
* A lock's own digest covers the bytes of `lock.json`; the log's first record and every amendment
  name it, so that an edited lock is found out by what was written after it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from judgeaudit.canonical import Digest, canonical_bytes, digest, digest_of
from judgeaudit.design.asking import Asker
from judgeaudit.design.bodies import Composer, compose_stage, digests, distinct
from judgeaudit.design.document import EndpointSpec
from judgeaudit.design.draft import FROZEN_NAMES, Draft, Inputs, Source
from judgeaudit.design.plan import make_plan
from judgeaudit.design.tables import (
    TODAY,
    VERSION,
    FrozenTables,
    body_table,
    plan_table,
    rows_digest,
)
from judgeaudit.errors import EvidenceError, OtherVersion
from judgeaudit.instrument.rules import CURRENT, Rules
from judgeaudit.model import JSON, FrozenBody, PlannedCall
from judgeaudit.version import __version__

LOCK_SCHEMA = f"judgeaudit/lock/{VERSION}"


@dataclass(frozen=True, slots=True)
class Facts:
    """What was true when a study was frozen, and decides nothing."""

    frozen_at: str
    code_version: str
    environment: Mapping[str, str]
    git: Mapping[str, JSON] | None = None
    data_access: Mapping[str, JSON] | None = None
    declared: Mapping[str, JSON] | None = None

    def as_json(self) -> dict[str, JSON]:
        """Return the lock's `beside`; `declared` is in it where a provider was asked."""
        declared = {} if self.declared is None else {"declared": dict(self.declared)}
        return {
            **declared,
            "frozen_at": self.frozen_at,
            "code_version": self.code_version,
            "environment": dict(self.environment),
            "git": None if self.git is None else dict(self.git),
            "data_access": None if self.data_access is None else dict(self.data_access),
        }


@dataclass(frozen=True)
class Rendered:
    """A study's plan and bodies, and both as tables."""

    plan: tuple[PlannedCall, ...]
    bodies: tuple[FrozenBody, ...]
    plan_table: pa.Table
    body_table: pa.Table


@dataclass(frozen=True, slots=True)
class Lock:
    """A lock document and its digest."""

    document: Mapping[str, JSON]
    data: bytes

    @property
    def digest(self) -> Digest:
        """The digest of the lock's bytes."""
        return digest(self.data)

    @classmethod
    def of(cls, document: Mapping[str, JSON]) -> Lock:
        """Return the lock of a document."""
        return cls(document, canonical_bytes(document))


def render(inputs: Inputs, tables: FrozenTables = TODAY) -> Rendered:
    """Return plan and bodies of a sound study, each body rendered once; tables as in a format."""
    asker = Asker.of(inputs.protocol)
    composer = Composer.of(asker, inputs.registration.endpoints)
    found = compose_stage(composer, 1, [*inputs.items, *inputs.controls])
    plan = make_plan(
        inputs.registration, inputs.protocol, inputs.items, inputs.controls, digests(found)
    )
    bodies = tuple(distinct(found.values()))
    urls = base_urls(inputs.registration.endpoints)
    return rendered_of(plan, bodies, urls, tables)


def rendered_of(
    plan: tuple[PlannedCall, ...],
    bodies: tuple[FrozenBody, ...],
    urls: Mapping[str, str],
    tables: FrozenTables,
) -> Rendered:
    """Return plan and bodies with their tables."""
    return Rendered(plan, bodies, plan_table(plan, tables), body_table(bodies, urls, tables))


def base_urls(endpoints: list[EndpointSpec]) -> dict[str, str]:
    """Return each endpoint's base URL."""
    return {endpoint.id: endpoint.base_url for endpoint in endpoints}


def frozen_sources(draft: Draft) -> dict[str, Source]:
    """Return the input files under the names of their frozen copies."""
    return {FROZEN_NAMES[role]: source for role, source in draft.sources.items()}


def content_of(files: Mapping[str, bytes], plan: pa.Table, bodies: pa.Table) -> dict[str, Any]:
    """Return what alone decides whether a study is unchanged."""
    return {
        "files": {name: str(digest(data)) for name, data in sorted(files.items())},
        "plan": {"rows": plan.num_rows, "sha256": str(rows_digest(plan))},
        "bodies": {"rows": bodies.num_rows, "sha256": str(rows_digest(bodies))},
    }


def make_lock(
    draft: Draft,
    rendered: Rendered,
    facts: Facts,
    supersedes: Mapping[str, JSON] | None = None,
    rules: Rules = CURRENT,
) -> Lock:
    """Return the lock of a sound draft; an amendment keeps the `rules` of the lock before it."""
    registration = draft.whole().registration
    files = {name: source.data for name, source in frozen_sources(draft).items()}
    content = content_of(files, rendered.plan_table, rendered.body_table)
    return Lock.of(
        {
            "schema": LOCK_SCHEMA,
            "study": registration.study.id,
            "clock": registration.schedule.clock,
            "content": content,
            "content_sha256": str(digest_of(content)),
            "reading_rules": int(rules),
            "supersedes": None if supersedes is None else dict(supersedes),
            "beside": facts.as_json(),
        }
    )


def reading_rules(lock: Mapping[str, JSON]) -> Rules:
    """Return the rules by which a study's replies are read; a lock without them is 0.1's.

    Raises `OtherVersion` for rules that this program does not know.
    """
    version = lock.get("reading_rules", Rules.V1)
    try:
        return Rules(version)
    except ValueError:
        writer, known = (
            lock.get("beside", {}).get("code_version"),
            [str(int(rule)) for rule in Rules],
        )
        said = f"{version!r} of the reading rules"
        raise OtherVersion("frozen/lock.json", said, writer, __version__, known) from None


def check_lock(lock: Mapping[str, JSON], source: str) -> None:
    """Raise `EvidenceError` where a lock's content differs from its own digest of it."""
    actual = str(digest_of(lock.get("content")))
    if actual != lock.get("content_sha256"):
        raise EvidenceError(
            f"{source}: content has digest {actual}, but the lock says "
            f"{lock.get('content_sha256')}; the lock was edited"
        )


def first_difference(old: Mapping[str, JSON], new: Mapping[str, JSON]) -> str:
    """Return which content of two locks differs, with both digests; empty where none does.

    Input files are named before the plan and the bodies that follow from them.
    """
    files = sorted({*old["files"], *new["files"]})
    pairs = [(name, old["files"].get(name), new["files"].get(name)) for name in files]
    pairs += [(part, old[part]["sha256"], new[part]["sha256"]) for part in ("plan", "bodies")]
    return "; ".join(
        f"{name}: digest {after or 'missing'} differs from the lock's {before or 'nothing'}"
        for name, before, after in pairs
        if before != after
    )
