"""A rule's named outcome: the first band that holds; `unnamed` where none does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from judgeaudit.analysis.catalogue import statistic
from judgeaudit.analysis.estimate import Estimate
from judgeaudit.design.criteria import Rule
from judgeaudit.verdict.chance import Chance, speaks_of_time
from judgeaudit.verdict.naming import by_point, heads_of, name_of
from judgeaudit.verdict.verdicts import estimate_to_dict
from judgeaudit.verdict.words import OVER, counts, interval, not_said, number


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
    chance: Chance | None = None

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
            "by_chance": None
            if self.chance is None
            else {
                "deals": self.chance.deals,
                "names": {place: dict(found) for place, found in self.chance.shares.items()},
            },
        }


def name_outcome(
    rule: Rule,
    estimates: Sequence[Estimate],
    *,
    confirmatory: bool = False,
    chance: Chance | None = None,
) -> Named:
    """Return what `rule` names; the first estimate of each endpoint decides, all are kept.

    `chance` is what it would name if time had no effect.
    """
    heads = heads_of(rule.statistic, estimates)
    names = tuple((endpoint, name_of(rule, estimate)) for endpoint, estimate in heads.items())
    return Named(
        id=rule.id,
        statistic=rule.statistic,
        over=rule.over,
        names=names,
        estimates=tuple(estimates),
        bands=tuple(band.name for band in rule.bands),
        source=rule.source,
        confirmatory=confirmatory,
        says=" ".join(_sentence(rule, name, heads[endpoint], chance) for endpoint, name in names),
        chance=chance,
        does_not_say=_not_said(rule, list(heads.values())),
    )


def _sentence(rule: Rule, name: str, estimate: Estimate, chance: Chance | None) -> str:
    place = "" if estimate.endpoint == "all" else f" at {estimate.endpoint}"
    if estimate.value is None:
        return f"{name}{place}: {rule.statistic} has no estimate ({estimate.undefined})."
    over = "" if rule.over == "all" else f" {OVER.get(rule.over, rule.over)}"
    said = (
        f"{name}{place}: {rule.statistic}{over} is {number(estimate.value)} "
        f"({counts(estimate)}; {interval(estimate)})."
    )
    null = "" if chance is None else chance.sentence(estimate.endpoint)
    return " ".join(text for text in (said, by_point(rule, name, estimate), null) if text)


def _not_said(rule: Rule, heads: list[Estimate]) -> tuple[str, ...]:
    subject = statistic(rule.statistic).subject
    said = not_said(heads, subject=subject, by_point=False, bounds=(), confirmatory=True)
    nothing = "A rule names an outcome by frozen bands; it passes and fails nothing."
    if speaks_of_time(rule):
        return (*said, nothing)
    return (*said, nothing, "The rule speaks of no effect of time: it has no name by chance alone.")
