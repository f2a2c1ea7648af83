"""A gate's report: criteria, what bars it, what it cost; one outcome for CI.

The outcome is the worst of all registered criteria and all bars: fail, undefined, inconclusive,
pass. It is `pass` only where at least one criterion stands and every one passes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from judgeaudit.design.amendments import Amendment
from judgeaudit.verdict.blockers import Bar
from judgeaudit.verdict.verdicts import Outcome, Verdict, overall
from judgeaudit.verdict.words import once

FORMAT = "judgeaudit-gate/1"


@dataclass(frozen=True, slots=True)
class Asked:
    """What a gate asked: calls sent, calls planned, and why it ended.

    `items` and `cap` count items where the design is sequential, else they are None.
    """

    calls: int
    planned: int
    items: int | None = None
    cap: int | None = None
    ended: str = ""

    @property
    def saved(self) -> int:
        """Return the planned calls that were not needed."""
        return self.planned - self.calls

    def sentence(self) -> str:
        """Return the cost in one sentence."""
        said = f"asked {self.calls} of {self.planned} planned calls"
        if self.items is not None:
            said += f" ({self.items} of at most {self.cap} items)"
        if self.saved and self.items is not None:
            said += f", {self.saved} saved"
        return said + (f": {self.ended}" if self.ended else "")

    def to_dict(self) -> dict[str, Any]:
        """Return JSON values."""
        return {
            "calls": self.calls,
            "planned": self.planned,
            "saved": self.saved,
            "items": self.items,
            "cap": self.cap,
            "ended": self.ended,
            "says": self.sentence(),
        }


@dataclass(frozen=True, slots=True)
class GateReport:
    """Everything that a gate says; what renderers and exit codes are made from.

    `findings` name designs that re-ask until they pass; `about` holds the study's facts: the lock's
    digest, the run key, the simulated endpoints.
    """

    study: str
    verdicts: tuple[Verdict, ...] = ()
    bars: tuple[Bar, ...] = ()
    findings: tuple[str, ...] = ()
    asked: Asked | None = None
    compared: Mapping[str, Any] | None = None
    amendments: tuple[Amendment, ...] = ()
    about: Mapping[str, Any] = field(default_factory=dict)

    @property
    def outcome(self) -> Outcome:
        """Return the worst outcome of criteria and bars; undefined without any criterion."""
        against = [] if self.compared is None else [Outcome(self.compared["outcome"])]
        worst = overall([*(v.outcome for v in self.verdicts), *(b.outcome for b in self.bars)])
        return worst if not against else overall([worst, *against])

    @property
    def headline(self) -> str:
        """Return one line: outcome, study, how many criteria ended how."""
        counts: dict[str, int] = {}
        for verdict in self.verdicts:
            counts[verdict.outcome.value] = counts.get(verdict.outcome.value, 0) + 1
        told = ", ".join(f"{count} {name}" for name, count in counts.items()) or "no criterion"
        barred = f"; barred by {', '.join(dict.fromkeys(b.kind for b in self.bars))}"
        return f"{self.outcome.value.upper()}: {self.study} ({told}{barred if self.bars else ''})"

    def notes(self) -> list[str]:
        """Return what the verdicts do not say, each sentence once, with its gates where not all."""
        return once([(f"gate {v.id}", v.does_not_say) for v in criteria(self)])

    def to_dict(self) -> dict[str, Any]:
        """Return the document of `--json`."""
        return {
            "format": FORMAT,
            "study": self.study,
            "outcome": self.outcome.value,
            "says": self.headline,
            **self.about,
            "gates": [verdict.to_dict() for verdict in self.verdicts],
            "bars": [bar.to_dict() for bar in self.bars],
            "amendments": [amendment.to_dict() for amendment in self.amendments],
            "findings": list(self.findings),
            "asked": None if self.asked is None else self.asked.to_dict(),
            "against": None if self.compared is None else dict(self.compared),
        }


def criteria(report: GateReport) -> Sequence[Verdict]:
    """Return the verdicts that hold numbers: composite gates only repeat their parts."""
    return [verdict for verdict in report.verdicts if not verdict.parts]
