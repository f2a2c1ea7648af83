"""A rule's named outcome: the first band that holds; `unnamed` where none does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from judgeaudit.analysis.catalogue import statistic
from judgeaudit.analysis.estimate import Estimate
from judgeaudit.design.criteria import Rule
from judgeaudit.verdict.compare import inside
from judgeaudit.verdict.verdicts import estimate_to_dict
from judgeaudit.verdict.words import OVER, counts, interval, not_said, number

UNNAMED, UNDEFINED = "unnamed", "undefined"


@dataclass(frozen=True, slots=True)
class Named:
    """What a rule named at each endpoint; a rule gates nothing."""

    id: str
    statistic: str
    over: str
    names: tuple[tuple[str, str], ...]
    estimates: tuple[Estimate, ...]
    bands: tuple[str, ...]
    source: str = ""
    confirmatory: bool = False
    says: str = ""
    does_not_say: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return JSON values, for `verdicts.json`."""
        return {
            "kind": "rule",
            "id": self.id,
            "outcome": {endpoint: name for endpoint, name in self.names},
            "says": self.says,
            "does_not_say": list(self.does_not_say),
            "statistic": self.statistic,
            "over": self.over,
            "bands": list(self.bands),
            "estimates": [estimate_to_dict(estimate) for estimate in self.estimates],
            "source": self.source,
            "confirmatory": self.confirmatory,
        }


def name_outcome(rule: Rule, estimates: Sequence[Estimate], *, confirmatory: bool = False) -> Named:
    """Return what `rule` names; the first estimate of each endpoint decides, all are kept."""
    heads: dict[str, Estimate] = {}
    for estimate in estimates:
        if estimate.analysis == rule.statistic:
            heads.setdefault(estimate.endpoint, estimate)
    names = tuple((endpoint, _name(rule, estimate)) for endpoint, estimate in heads.items())
    return Named(
        id=rule.id,
        statistic=rule.statistic,
        over=rule.over,
        names=names,
        estimates=tuple(estimates),
        bands=tuple(band.name for band in rule.bands),
        source=rule.source,
        confirmatory=confirmatory,
        says=" ".join(_sentence(rule, name, heads[endpoint]) for endpoint, name in names),
        does_not_say=_not_said(rule, list(heads.values())),
    )


def _name(rule: Rule, estimate: Estimate) -> str:
    if estimate.value is None:
        return UNDEFINED
    value = estimate.value if estimate.exact is None else estimate.exact
    return next((band.name for band in rule.bands if inside(value, band)), UNNAMED)


def _sentence(rule: Rule, name: str, estimate: Estimate) -> str:
    place = "" if estimate.endpoint == "all" else f" at {estimate.endpoint}"
    if estimate.value is None:
        return f"{name}{place}: {rule.statistic} has no estimate ({estimate.undefined})."
    over = "" if rule.over == "all" else f" {OVER.get(rule.over, rule.over)}"
    return (
        f"{name}{place}: {rule.statistic}{over} is {number(estimate.value)} "
        f"({counts(estimate)}; {interval(estimate)})."
    )


def _not_said(rule: Rule, heads: list[Estimate]) -> tuple[str, ...]:
    subject = statistic(rule.statistic).subject
    said = not_said(heads, subject=subject, by_point=False, bounds=(), confirmatory=True)
    return (*said, "A rule names an outcome by frozen bands; it passes and fails nothing.")
