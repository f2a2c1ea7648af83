"""What keeps a gate from passing whatever its numbers say: no evidence is never green.

A bar is a finding about the evidence, not about the judge. Each one ends the gate `undefined`
(exit 3) unless a criterion fails anyway:

* `no_criterion`: nothing was registered that could pass.
* `no_reading`: no valid reading at an endpoint: every call failed, or no answer could be read.
* `one_answer`: one answer to every item. A constant repeats itself perfectly and measures nothing;
  a battery needs items whose right answers differ.
* `other_model`: replies name a model that was not registered. The registered name, a dated snapshot
  of it (`NAME-2026-01-31`, `NAME-0131`) and the names in `identity.served` are the registered ones;
  replies that name no model are no evidence of another.
* `several_models`: replies name more than one model: the alias moved while it was asked.
* `other_registration`: the readings were made under another registration.
* `waiting`: registered windows are not sealed. `paused`: a run stopped and waits to be resumed.
* `asked_again`: the commit was asked before on this day under another key and did not pass.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from judgeaudit.design.document import EndpointSpec, Registration
from judgeaudit.readings.table import probes
from judgeaudit.verdict.verdicts import Outcome

ANSWERS = ("label", "number", "category", "ranking", "text")
_SNAPSHOT = re.compile(r"-(\d{4}-\d{2}-\d{2}|\d{8}|\d{6}|\d{4})")


@dataclass(frozen=True, slots=True)
class Bar:
    """One reason why a gate cannot pass."""

    kind: str
    says: str
    endpoint: str = "all"

    @property
    def outcome(self) -> Outcome:
        """Return what a bar makes of a gate: undefined."""
        return Outcome.UNDEFINED

    def to_dict(self) -> dict[str, Any]:
        """Return JSON values."""
        return {
            "kind": self.kind,
            "endpoint": self.endpoint,
            "outcome": self.outcome.value,
            "says": self.says,
        }


def bars(registration: Registration, table: pd.DataFrame) -> list[Bar]:
    """Return every bar that registration and readings show, endpoint by endpoint."""
    found = [] if registration.gates else [no_criterion()]
    asked = probes(table)
    if not len(asked):
        return [*found, Bar("no_reading", "no reading at all")]
    specs = {spec.id: spec for spec in registration.endpoints}
    for endpoint, part in asked.groupby("endpoint", sort=False):
        found += _of_endpoint(str(endpoint), part, specs.get(str(endpoint)))
    for spec in registration.endpoints:
        # A table need not name its endpoint; one that does has to name each registered one.
        if spec.id not in set(asked["endpoint"]) and set(asked["endpoint"]) != {"all"}:
            found.append(Bar("no_reading", "no reading of this registered endpoint", spec.id))
    return found


def no_criterion() -> Bar:
    """Return the bar of a registration without a gate."""
    return Bar("no_criterion", "no gate is registered, so nothing can pass")


def _of_endpoint(name: str, part: pd.DataFrame, spec: EndpointSpec | None) -> Iterator[Bar]:
    valid = part[part["status"].eq("ok")]
    if not len(valid):
        reasons = part["reason"].value_counts().to_dict()
        told = ", ".join(f"{reason} {count}" for reason, count in reasons.items())
        yield Bar("no_reading", f"no valid reading of {len(part)} ({told})", name)
        return
    if (answer := one_answer(valid)) is not None:
        says = (
            f"one answer only, {answer!r}, to all {valid['item'].nunique()} items: a constant "
            "repeats itself and measures nothing; ask items whose right answers differ"
        )
        yield Bar("one_answer", says, name)
    if "model_returned" in part and spec is not None:
        yield from model_bars(spec, part["model_returned"].dropna().unique())


def one_answer(valid: pd.DataFrame) -> object | None:
    """Return the one answer that every item got, as given or decoded; None where there are two."""
    if valid["item"].nunique() < 2:
        return None
    for column in ANSWERS:
        values = valid[column].dropna()
        if len(values) == len(valid) and values.astype(str).nunique() == 1:
            found: object = values.iloc[0]
            return found
    return None


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


def is_registered(spec: EndpointSpec, name: str) -> bool:
    """Return whether a returned name is the registered model, a snapshot of it, or listed."""
    served = spec.identity.get("served", ())
    listed = [served] if isinstance(served, str) else [str(one) for one in served]
    if name == spec.model or name in listed:
        return True
    if spec.is_simulated and name.startswith("simulated-"):
        return True  # a simulated judge names its scenario, whatever model the registration names
    return name.startswith(spec.model) and bool(_SNAPSHOT.fullmatch(name[len(spec.model) :]))


def _told(names: Sequence[str], most: int = 4) -> str:
    shown = ", ".join(repr(name) for name in names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"
