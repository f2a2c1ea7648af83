"""What a gateway's log says, in plain words: by kind of call, never pooled, exploratory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from judgeaudit.analysis.estimate import Estimate
from judgeaudit.analysis.exploratory import PartReport
from judgeaudit.analysis.shadow.kinds import KindReport, ShadowReport
from judgeaudit.analysis.shadow.systems import System
from judgeaudit.report.table_text import part_lines
from judgeaudit.verdict.verdicts import estimate_to_dict

WAYS = {"number": "numbers", "category": "categories", "text": "exact text"}
_NOT_OF_TEXT = ("Krippendorff", "Gwet")


def report_lines(report: ShadowReport) -> Iterator[str]:
    """Yield the whole report for people."""
    sessions = ", ".join(report.sessions)
    yield f"{report.source}: sessions {sessions}, {len(report.kinds)} kinds of call"
    yield from (f"  {note}" for note in report.notes)
    for number, kind in enumerate(report.kinds, 1):
        again = f", {kind.reasked} re-asks of {kind.chosen}" if kind.reasked else ""
        yield f"  {number}. {kind.name} at {kind.endpoint}: {kind.calls} calls{again}"
    for kind in report.kinds:
        yield ""
        yield from kind_lines(kind)
    yield ""
    yield from _speaks_of(report)


def kind_lines(kind: KindReport) -> Iterator[str]:
    """Yield one kind."""
    models = ", ".join(kind.models) or "not reported"
    yield (
        f"[{kind.name}] {kind.calls} calls, {kind.bodies} different bodies; answers read as "
        f"{WAYS[kind.value]}; model returned: {models}"
    )
    yield f"  the harness's own calls: {_counted(kind.classes)}"
    if any(name != "ok" for name in kind.readings):
        yield f"  readings: {_counted(kind.readings)}"
    if kind.hint:
        yield f"  {kind.hint}"
    if kind.part is None:
        yield "  no call was asked again: nothing tells of repeatability"
    else:
        yield f"  {kind.part.items} calls with their re-asks:"
        yield from _part(kind.part, kind.value)
        yield from (f"  {line}" for line in _circumstances(kind))
    if kind.between is not None:
        yield f"  {kind.between.items} bodies in several sessions, on the harness's own answers:"
        yield from _part(kind.between, kind.value)
    if kind.systems is not None:
        yield from (f"  {line}" for line in _systems(kind.systems))


def _part(part: PartReport, value: str) -> Iterator[str]:
    """Yield a table's lines; of exact text nothing that speaks of a set of categories."""
    if value != "text":
        yield from list(part_lines(part))[1:]
        return
    lines = list(part_lines(replace(part, facets=None)))[1:]
    yield from (line for line in lines if not any(name in line for name in _NOT_OF_TEXT))


def _counted(counts: Any) -> str:
    return ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in counts.items())


def _circumstances(kind: KindReport) -> Iterator[str]:
    if kind.lags is not None:
        low, middle, high = kind.lags
        yield f"asked again {_time(low)} to {_time(high)} after the answer (median {_time(middle)})"
    if kind.load is not None:
        yield f"calls in flight, median: originals {kind.load[0]:g}, re-asks {kind.load[1]:g}"
    first, again = map(_share, kind.cached)
    yield f"prompt tokens from a cache: originals {first}, re-asks {again}"
    if kind.equal_ids:
        yield (
            f"warning: {kind.equal_ids} re-asks carry the id of their original's reply or request: "
            "a cache answered, and the judge was not asked again"
        )
    if kind.later is not None:
        yield f"original/re-ask minus re-ask/re-ask disagreement: {_estimate(kind.later)}"


def _time(seconds: float) -> str:
    return f"{seconds / 60:.1f} min" if seconds >= 120 else f"{seconds:.1f} s"


def _share(value: float | None) -> str:
    return "not reported" if value is None else f"{value:.0%}"


def _estimate(found: Estimate) -> str:
    if found.value is None:
        return f"undefined, {found.undefined}"
    if found.low is None or found.high is None:
        return f"{found.value:+.3f} ({'; '.join(found.caveats) or 'no interval'})"
    return f"{found.value:+.3f} ({found.level:.0%} interval {found.low:+.3f} to {found.high:+.3f})"


def _systems(systems: System) -> Iterator[str]:
    yield f"systems: {_counted(systems.calls)}"
    for one in systems.contrasts:
        named = f"{one.first} against {one.second}"
        if one.difference is None:
            yield f"  {named}: {one.why} (came first in {one.before:.0%} of pairs)"
        elif one.noise is None:
            yield f"  {named}: means differ by {one.difference:+.3g}; {one.why}"
        else:
            beyond = "beyond" if abs(one.difference) > one.noise else "within"
            yield (
                f"  {named}: means differ by {one.difference:+.3g}, {beyond} the judge's own noise "
                f"(two runs on these answers differ by less than {one.noise:.3g} in 95%)"
            )


def _speaks_of(report: ShadowReport) -> Iterator[str]:
    yield (
        "What this speaks of: two answers to the same bytes, averaged over these sessions' calls "
        "of a kind, inputs held; draws at the judge's own settings, temperature included, as long "
        "after and under such load as told above."
    )
    yield (
        "Exploratory, and precision alone: nothing was registered, and a repeatable judge can be "
        "wrong. For a registered study of these very requests: "
        f"judgeaudit init STUDY --from {report.source} --kind NAME"
    )


def report_document(report: ShadowReport) -> dict[str, Any]:
    """Return the report as one JSON document, its sentences included."""
    return {
        "source": report.source,
        "sessions": list(report.sessions),
        "value": report.value,
        "exploratory": True,
        "notes": list(report.notes),
        "kinds": [_kind(kind) for kind in report.kinds],
        "text": list(report_lines(report)),
    }


def _kind(kind: KindReport) -> dict[str, Any]:
    parts = {"repeats": kind.part, "between_sessions": kind.between}
    return {
        "kind": kind.name,
        "target": kind.endpoint,
        "read_as": kind.value,
        "calls": kind.calls,
        "bodies": kind.bodies,
        "asked_again": kind.chosen,
        "reasks": kind.reasked,
        "classes": dict(kind.classes),
        "readings": dict(kind.readings),
        "models": list(kind.models),
        "lag_s": kind.lags,
        "in_flight": kind.load,
        "cached_share": kind.cached,
        "equal_ids": kind.equal_ids,
        "later": None if kind.later is None else estimate_to_dict(kind.later),
        "systems": None
        if kind.systems is None
        else {
            "calls": kind.systems.calls,
            "contrasts": [
                {name: getattr(one, name) for name in one.__dataclass_fields__}
                for one in kind.systems.contrasts
            ],
        },
        "hint": kind.hint,
        **{
            name: None if part is None else [estimate_to_dict(e) for e in part.estimates]
            for name, part in parts.items()
        },
    }
