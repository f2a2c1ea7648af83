"""Starting the endpoints that a registration embeds, for as long as a command needs them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from judgeaudit.design.base import plain
from judgeaudit.design.document import EndpointSpec, Registration
from judgeaudit.endpoint.server import PREFIX, start_embedded
from judgeaudit.endpoint.simulated.scenarios import scenario
from judgeaudit.errors import InputError, Problem
from judgeaudit.model import JSON, Clock
from judgeaudit.study.progress import Progress, WeightsFetched, silent


@dataclass(frozen=True, slots=True)
class Started:
    """Base URLs of the embedded endpoints by endpoint id, and what is known of what answers."""

    bases: Mapping[str, str]
    identity: Mapping[str, Mapping[str, JSON]]


def judge_problems(registration: Registration | None) -> tuple[Problem, ...]:
    """Return the endpoints that name an embedded judge there is none of: a run could never ask."""
    problems = []
    for place, spec in enumerate(registration.endpoints if registration is not None else ()):
        try:
            if spec.is_simulated:
                scenario(spec.base_url.removeprefix(PREFIX))
        except InputError as error:
            key = f"endpoints[{place}].base_url"
            problems.append(Problem(key, f"{spec.base_url!r}: {error.found}", error.remedy))
    return tuple(problems)


@contextmanager
def embedded(
    specs: list[EndpointSpec],
    clock: Clock,
    progress: Progress = silent,
) -> Iterator[Started]:
    """Start every embedded endpoint and stop it afterwards.

    An endpoint's `embedded` table holds its options; `seed` among them is the simulated judge's.
    Endpoints that name the same judge with the same options share one. `progress` hears of weights
    that are fetched.
    """
    bases: dict[str, str] = {}
    identity: dict[str, Mapping[str, JSON]] = {}
    running: dict[str, tuple[str, Mapping[str, JSON]]] = {}

    def fetched(done: int, total: int) -> None:
        progress(WeightsFetched(done, total))

    with ExitStack() as stack:
        for spec in specs:
            if not spec.is_embedded:
                continue
            options = plain(dict(spec.embedded))
            name = f"{spec.base_url} {sorted(options.items())}"
            if name not in running:
                seed = options.pop("seed", 0)
                server = stack.enter_context(
                    start_embedded(
                        spec.base_url, clock=clock, seed=seed, options=options, progress=fetched
                    )
                )
                running[name] = (server.base_url, server.identity)
            bases[spec.id], identity[spec.id] = running[name]
        yield Started(bases, identity)
