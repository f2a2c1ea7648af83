"""A study on paper for people: what its gates would say, their power, what a pilot showed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from judgeaudit.errors import Problem
from judgeaudit.verdict.oc.gate import Characteristic
from judgeaudit.verdict.oc.pilot import lines
from judgeaudit.verdict.oc.words import chance_lines
from judgeaudit.verdict.requirement import Requirement


def oc_lines(
    required: Requirement | None,
    problems: Iterable[Problem],
    found: Iterable[Characteristic],
    made_by: str,
) -> Iterator[str]:
    """Yield requirement, table and proposals of every gate."""
    yield from required.lines() if required else ["requirement: no [study.consumer] is named"]
    yield from (f"problem: {problem}" for problem in problems)
    for one in found:
        yield ""
        yield from chance_lines(one)
        yield f"  {_sentence(one)}"
        yield from (f"  instead: {text}" for text in one.proposals)
    yield ""
    yield made_by


def _sentence(one: Characteristic) -> str:
    said = {
        True: "it discriminates: healthy passes >= .9, degraded <= .1",
        False: "it does NOT discriminate (healthy >= .9 and degraded <= .1 are asked)",
        None: "whether it discriminates is not known: declare healthy and degraded, and pilot",
    }
    return said[one.discriminates]


def power_lines(row: Mapping[str, Any]) -> Iterator[str]:
    """Yield one gate's power."""
    yield f"gate {row['gate']}: {row['statistic']}, healthy {row['healthy'] or 'not declared'}"
    if row["power"] is None:
        yield "  not known: declare healthy, and pilot"
    else:
        by = row.get("method") or ("by the pilot's precision" if row["from_pilot"] else "assumed")
        wrong = "" if row["wrong_pass"] is None else f"; degraded passes {row['wrong_pass']:.2f}"
        yield f"  {row['units']} independent units: power {row['power']:.2f} ({by}){wrong}"
    if row["kappa"] is not None:
        yield f"  kappa {row['kappa']:.3g}"
    for wanted, told in row["needed"].items():
        if told["units"] is None:
            yield f"  for power {wanted}: {told['why']}"
        else:
            cost = f", {told['cost']} an endpoint" if told.get("cost") else ""
            yield f"  for power {wanted}: {told['units']:,} units{cost}"
    if "sentence" in row:
        yield f"  {row['sentence']}"


def pilot_lines(
    written: Mapping[str, Any], found: Iterable[Characteristic], digest: str, folder: str
) -> Iterator[str]:
    """Yield the pilot's report, what it means for every gate, and what to write next."""
    share = f"{written['share_of_plan']:.0%} of the study's {written['plan_calls']}"
    yield f"pilot {written['study']}: {written['calls']} calls, {share}; none enters its counts"
    yield from lines(written["report"])
    for one in found:
        yield ""
        yield from chance_lines(one)
    yield ""
    yield "To let the gates rest on it, write into registration.toml:"
    yield "[pilot]"
    yield f'digest = "{digest}"'
    if folder != "pilot":
        yield f'study = "{folder}"'
