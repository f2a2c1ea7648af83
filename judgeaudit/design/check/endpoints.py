"""Checks of endpoints and schedule: secrets, headers, addresses, the clock, the embedded judges."""

from __future__ import annotations

import re
from collections.abc import Iterator

from judgeaudit.design.addresses import address_fault, sends_in_the_clear
from judgeaudit.design.document import EndpointSpec, Registration
from judgeaudit.design.secrets import looks_secret, secret_in_url, secrets_in
from judgeaudit.design.walk import not_json_problems
from judgeaudit.errors import Problem
from judgeaudit.instrument.provider.body import DECODING, SECRET_HEADERS

_ENV_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def endpoint_problems(registration: Registration) -> Iterator[Problem]:
    """Yield what is wrong with the endpoints, and secrets anywhere in the registration."""
    for number, spec in enumerate(registration.endpoints):
        key = f"endpoints[{number}]"
        yield from _address_problems(key, spec)
        yield from _key_problems(key, spec)
        yield from _field_problems(key, spec)
    document = registration.model_dump(mode="python")
    for path in secrets_in("", document):
        if path.endswith(".key_env") or path.rsplit(".", 1)[-1].lower() in SECRET_HEADERS:
            continue  # told above
        yield Problem(path, "looks like a secret", "name an environment variable in key_env")
    yield from not_json_problems("", document)


def _address_problems(key: str, spec: EndpointSpec) -> Iterator[Problem]:
    if spec.is_embedded:
        return
    place = f"{key}.base_url"
    try:
        secret = secret_in_url(spec.base_url)
    except ValueError:
        secret = ""
    if secret:  # before anything that would show the address
        yield Problem(place, f"{secret} in the URL", "name the key in key_env")
    elif (fault := address_fault(spec.base_url)) is not None:
        yield Problem(place, *fault)
    elif spec.key_env and not spec.plain_http and sends_in_the_clear(spec.base_url):
        yield Problem(
            place,
            f"{spec.base_url!r} with key_env: the key could be read on the way",
            "https://, or plain_http = true where that is meant",
        )


def _key_problems(key: str, spec: EndpointSpec) -> Iterator[Problem]:
    if spec.key_env is None:
        return
    if looks_secret(spec.key_env) or not _ENV_NAME.fullmatch(spec.key_env):
        # The value is not shown: it may be the key itself.
        yield Problem(f"{key}.key_env", "not the name of an environment variable", "e.g. MY_KEY")


def _field_problems(key: str, spec: EndpointSpec) -> Iterator[Problem]:
    for name in spec.headers:
        if name.lower() in SECRET_HEADERS:
            yield Problem(
                f"{key}.headers.{name}", "a header that carries a secret", "name it in key_env"
            )
    for name in sorted(set(spec.decoding) - set(DECODING)):
        yield Problem(
            f"{key}.decoding.{name}",
            "not an API-neutral parameter",
            f"known: {', '.join(DECODING)}; others go into params, in the API's own name",
        )


def schedule_problems(registration: Registration) -> Iterator[Problem]:
    """Yield what is wrong with the schedule: clock, interleaving, times that cannot be kept."""
    schedule = registration.schedule
    if schedule.clock == "virtual":
        for spec in registration.endpoints:
            if not spec.is_simulated:
                yield Problem(
                    "schedule.clock",
                    f"virtual, but endpoint {spec.id!r} is at {spec.base_url!r}",
                    "only simulated endpoints (embedded:SCENARIO) live by a virtual clock",
                )
    if schedule.days > 1 and not schedule.day_gap:
        yield Problem("schedule.day_gap", f"0 between {schedule.days} days", 'write "24h"')
    if not schedule.max_duration:
        yield Problem("schedule.max_duration", "0", 'how long a window stays open, e.g. "6h"')
    if schedule.start is not None and schedule.start.utcoffset() is None:
        yield Problem("schedule.start", "no time zone", "write UTC, e.g. 2026-12-01T06:00:00Z")
    if registration.unit.k != schedule.draws:
        yield Problem(
            "unit.k",
            f"{registration.unit.k} draws in one reading, but schedule.draws = {schedule.draws}",
            "make them equal: what is not drawn cannot be aggregated, and no draw may be dropped",
        )
    if registration.unit.k > 1 and registration.unit.aggregate == "none":
        yield Problem("unit.aggregate", "none, with k above 1", "name the aggregate")


def schedule_notes(registration: Registration) -> Iterator[str]:
    """Yield what a schedule gives away without being wrong."""
    schedule = registration.schedule
    if schedule.order == "blocked" and len(schedule.conditions) > 1:
        yield "schedule.order is blocked: conditions are confounded with time within a window"
    if schedule.windows_per_day > 1 and not schedule.min_gap:
        yield "schedule.min_gap is 0: the windows of a day may follow each other at once"
