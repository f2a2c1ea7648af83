"""What the providers of a study state of its models, before anything is frozen or measured."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from judgeaudit.collect.declared import Declared, ask
from judgeaudit.collect.keys import keys_for
from judgeaudit.design.document import EndpointSpec
from judgeaudit.errors import Problem
from judgeaudit.evidence.lock.declared import write_declared
from judgeaudit.evidence.lock.sources import load_study
from judgeaudit.instrument.provider import provider
from judgeaudit.study.folders import Folder


def declared(
    folder: Folder, *, environment: Mapping[str, str] = os.environ, now: datetime | None = None
) -> Sequence[Declared]:
    """Ask each provider once for its model list, keep the answers, and return them.

    They are written to `declared.json`, which the next freeze puts beside the lock's digests.
    Embedded judges have no provider and are not asked. Raises `RegistrationError` where the
    registration cannot be read, `InputError` where a key is not set.
    """
    root = Path(folder)
    registration = load_study(root).whole().registration
    specs = [spec for spec in registration.endpoints if not spec.is_embedded]
    keys = keys_for(specs, environment)
    found = [_asked(spec, keys.get(spec.id)) for spec in specs]
    write_declared(root, [one.as_json() for one in found], now or datetime.now(UTC))
    return found


def _asked(spec: EndpointSpec, key: str | None) -> Declared:
    return ask(provider(spec.api).record.sdk, spec.id, spec.base_url, spec.model, key)


def problems(found: Sequence[Declared]) -> list[Problem]:
    """Return what an answer says against freezing: a model that is not there, a refused key.

    Where nothing could be told there is no problem: many servers have no model list.
    """
    return [problem for one in found if (problem := _problem(one)) is not None]


def _problem(one: Declared) -> Problem | None:
    key = f"endpoints.{one.endpoint}"
    if one.outcome == "not_listed":
        near = ", ".join(one.near) or "no name like it"
        return Problem(f"{key}.model", f"{one.model!r} is not in the provider's list", near)
    if one.outcome == "refused":
        return Problem(f"{key}.key_env", f"the key was refused ({one.detail})", "a key that works")
    return None


def sentence(one: Declared) -> str:
    """Return one answer in words."""
    if one.outcome == "listed":
        told = ", ".join(f"{name} {value}" for name, value in one.stated.items())
        return f"{one.endpoint}: the provider lists {one.model!r} ({told})"
    said = f" ({one.detail})" if one.detail else ""
    words = {
        "not_listed": f"the provider does not list {one.model!r}",
        "no_list": "not told: the server has no model list",
        "refused": "the provider refused the key",
        "no_answer": "not told: no answer",
    }
    return f"{one.endpoint}: {words[one.outcome]}{said}"
