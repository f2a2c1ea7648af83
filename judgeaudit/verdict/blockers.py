"""What keeps a gate from passing whatever its numbers say: no evidence is never green.

A bar is a finding about the evidence, not about the judge. Each one ends the gate `undefined`
(exit 3) unless a criterion fails anyway:

* `no_criterion`: nothing was registered that could pass.
* `no_reading`: no valid reading at an endpoint: every call failed, or no answer could be read.
* `one_answer`: one answer to every item. A constant repeats itself perfectly and measures nothing;
  a battery needs items whose right answers differ. `near_constant`: a judge that does not look at
  the items would meet the gate (`verdict.constant`). `category_absent`: nor was it ever seen to
  give an answer that the gold names.
* `one_call`: repeats that are one call told several times (`verdict.replays`); bars the gates whose
  statistic counts them as repeats.
* `wrong_control`: a known answer came out wrong more often than is registered (`verdict.known`);
  `missing_control`: a control that was asked has no valid reading, so it shows nothing.
* `other_model`: replies name a model that was not registered. The registered name, a dated snapshot
  of it (`NAME-2026-01-31`, `NAME-0131`) and the names in `identity.served` are the registered ones;
  replies that name no model are no evidence of another.
* `several_models`: replies name more than one model: the alias moved while it was asked.

Whoever read the log adds what only it shows:

* `other_registration`: the readings were made under another registration.
* `waiting`: registered windows are not sealed. `paused`: a run stopped and waits to be resumed.
* `asked_again`: the commit was asked before on this day under another key and did not pass.
* `loosened`: an amendment turned what had failed into something else.

A bar speaks of one endpoint or of `all`, and of some gates or of all. It is applied where verdicts
are made, so that no report has one without the other: a gate that would pass or stay open is
undefined with the bar as its reason; a gate that fails still fails.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from judgeaudit.analysis.catalogue import NAMES
from judgeaudit.analysis.estimate import Estimate
from judgeaudit.design.criteria import Gate
from judgeaudit.design.document import EndpointSpec, Registration
from judgeaudit.design.identity import is_registered
from judgeaudit.errors import InputError
from judgeaudit.readings.table import probes, select
from judgeaudit.verdict.constant import absent_categories, near_constant, one_answer
from judgeaudit.verdict.known import control_faults
from judgeaudit.verdict.replays import replayed
from judgeaudit.verdict.verdicts import Held, Outcome, Verdict, overall
from judgeaudit.verdict.words import held_sentence

REPEATED = frozenset({"repeats", "windows", "days"})
"""Facets by which a statistic counts readings of one request as measurements of their own."""


@dataclass(frozen=True, slots=True)
class Bar:
    """One reason why gates cannot pass: all of them, or those whose ids `gates` names."""

    kind: str
    says: str
    endpoint: str = "all"
    gates: tuple[str, ...] | None = None

    @property
    def outcome(self) -> Outcome:
        """Return what a bar makes of a gate: undefined."""
        return Outcome.UNDEFINED

    def speaks_of(self, gate: str, endpoint: str, registered: Iterable[str]) -> bool:
        """Return whether a gate held at `endpoint` is barred; one over several is by any."""
        several = endpoint not in set(registered)
        return (self.gates is None or gate in self.gates) and (
            self.endpoint in ("all", endpoint) or several
        )

    def to_dict(self) -> dict[str, Any]:
        """Return JSON values."""
        return {
            "kind": self.kind,
            "endpoint": self.endpoint,
            "outcome": self.outcome.value,
            "gates": None if self.gates is None else list(self.gates),
            "says": self.says,
        }


def bars(
    registration: Registration, table: pd.DataFrame, controls: Sequence[Estimate] = ()
) -> list[Bar]:
    """Return every bar that registration and readings show, endpoint by endpoint.

    `controls` are the estimates of the table's controls.
    """
    found = [] if registration.gates else [no_criterion()]
    asked = probes(table)
    if not len(asked):
        return [*found, Bar("no_reading", "no reading at all")]
    specs = {spec.id: spec for spec in registration.endpoints}
    for endpoint, part in asked.groupby("endpoint", sort=False):
        spec = specs.get(str(endpoint))
        found += _of_endpoint(str(endpoint), part, spec, registration.gates)
    for spec in registration.endpoints:
        # A table need not name its endpoint; one that does has to name each registered one.
        if spec.id not in set(asked["endpoint"]) and set(asked["endpoint"]) != {"all"}:
            found.append(Bar("no_reading", "no reading of this registered endpoint", spec.id))
    for kind, endpoint, says in control_faults(controls, registration.controls):
        found.append(Bar(kind, says, endpoint))
    return found


def no_criterion() -> Bar:
    """Return the bar of a registration without a gate."""
    return Bar("no_criterion", "no gate is registered, so nothing can pass")


def _of_endpoint(
    name: str, part: pd.DataFrame, spec: EndpointSpec | None, gates: Sequence[Gate]
) -> Iterator[Bar]:
    valid = part[part["status"].eq("ok")]
    if not len(valid):
        reasons = part["reason"].value_counts().to_dict()
        told = ", ".join(f"{reason} {count}" for reason, count in reasons.items())
        yield Bar("no_reading", f"no valid reading of {len(part)} ({told})", name)
        return
    yield from _of_answers(name, valid, gates)
    if spec is None or not spec.is_simulated:
        repeated = tuple(g.id for g in gates if NAMES[g.statistic].needs & REPEATED)
        for one in replayed(valid):
            yield Bar("one_call", one.sentence(), name, repeated)
    if "model_returned" in part and spec is not None:
        yield from model_bars(spec, part["model_returned"].dropna().unique())


def _of_answers(name: str, valid: pd.DataFrame, gates: Sequence[Gate]) -> Iterator[Bar]:
    """Yield what the answers themselves show: none, or next to none, of the items in them."""
    if (answer := one_answer(valid)) is not None:
        says = (
            f"one answer only, {answer!r}, to all {valid['item'].nunique()} items: a constant "
            "repeats itself and measures nothing; ask items whose right answers differ"
        )
        yield Bar("one_answer", says, name)
        return
    for gate in gates:
        if gate.where.get("endpoint", name) == name:
            yield from _of_gate(name, _rows_of(valid, gate), gate)
    for category, items in absent_categories(valid):
        says = f"no reading gave {category!r}, the gold answer of {items} items"
        yield Bar("category_absent", says, name)


def _of_gate(name: str, rows: pd.DataFrame, gate: Gate) -> Iterator[Bar]:
    """Yield that a gate's own rows hold one answer, or next to none."""
    if (answer := one_answer(rows)) is not None:
        says = (
            f"one answer only, {answer!r}, to all {rows['item'].nunique()} items that it is about"
        )
        yield Bar("one_answer", says, name, (gate.id,))
    elif says := near_constant(rows, gate) or "":
        yield Bar("near_constant", says, name, (gate.id,))


def _rows_of(valid: pd.DataFrame, gate: Gate) -> pd.DataFrame:
    """Return the readings that a gate is about; all where none is, which its estimate tells."""
    try:
        return select(valid, {key: value for key, value in gate.where.items() if key != "endpoint"})
    except InputError:
        return valid


def barred(verdict: Verdict, found: Sequence[Bar], registered: Sequence[str]) -> Verdict:
    """Return a verdict with the bars that speak of it; `registered` are the endpoints' ids."""
    named = {held.endpoint for held in verdict.held}
    used: list[Bar] = []
    held = []
    for one in verdict.held:
        mine = [bar for bar in found if bar.speaks_of(verdict.id, one.endpoint, registered)]
        used += mine
        held.append(_held(one, mine))
    # An endpoint without an entry of its own is barred as a whole, e.g. one that never answered.
    used += [
        bar
        for bar in found
        if bar.endpoint not in {"all", *named}
        and bar.endpoint in verdict.endpoints
        and bar.speaks_of(verdict.id, bar.endpoint, registered)
    ]
    if not used:
        return verdict
    outcome = overall([*(one.outcome for one in held), Outcome.UNDEFINED])
    said = [held_sentence(h.endpoint, h.outcome, h.estimate, verdict.asks, verdict.over, h.reasons)
            for h in held]  # fmt: skip
    failed = any(one.outcome is Outcome.FAIL for one in held)
    said += [
        f"Besides, it is barred ({bar.kind}): {bar.says}."
        for bar in dict.fromkeys(used)
        if failed and bar.endpoint in {"all", *named}
    ]
    said += [
        f"UNDEFINED at {bar.endpoint}: barred ({bar.kind}): {bar.says}."
        for bar in dict.fromkeys(used)
        if bar.endpoint not in {"all", *named}
    ]
    return replace(
        verdict,
        held=tuple(held),
        outcome=outcome,
        says=" ".join(said) or f"UNDEFINED: barred ({used[0].kind}): {used[0].says}.",
        barred=tuple(dict.fromkeys((*verdict.barred, *(bar.kind for bar in used)))),
    )


def _held(one: Held, mine: Sequence[Bar]) -> Held:
    """Return what is held at one endpoint with what bars it; nothing there decides any more."""
    if not mine:
        return one
    if one.outcome is Outcome.FAIL:
        return one  # it fails by its number, whatever else is wrong
    why = tuple(dict.fromkeys(f"barred ({bar.kind}): {bar.says}" for bar in mine))
    return replace(one, outcome=Outcome.UNDEFINED, bound_says=None, reasons=(*one.reasons, *why))


def model_bars(spec: EndpointSpec, returned: Iterable[str]) -> Iterator[Bar]:
    """Yield what the models that replies name say against the registered one."""
    names = sorted(str(name) for name in returned)
    strangers = [name for name in names if not is_registered(spec, name)]
    if strangers:
        says = (
            f"replies name {_told(strangers)}, registered is {spec.model!r}; if they are the same, "
            "list the name under endpoints.identity.served"
        )
        yield Bar("other_model", says, spec.id)
    if len(names) > 1:
        yield Bar("several_models", f"replies name {len(names)} models: {_told(names)}", spec.id)


def _told(names: Sequence[str], most: int = 4) -> str:
    shown = ", ".join(repr(name) for name in names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"
