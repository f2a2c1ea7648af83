"""Amendments beside the verdicts: what each one changed, on the evidence that is there.

* The registration that an amendment superseded decides the same readings once more. A gate whose
  outcome differs carries a mark for life that names the amendment, both outcomes and how many
  replies had been seen by then.
* A gate that fails by the superseded registration and does not fail now was loosened after it had
  failed, if any reply had been seen: a bar. So is one that is no longer there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from judgeaudit.design.amendments import Amendment
from judgeaudit.design.document import Registration
from judgeaudit.verdict.blockers import Bar
from judgeaudit.verdict.verdicts import Outcome, Verdict


@dataclass(frozen=True, slots=True)
class Amended:
    """One amendment, and the registration that it superseded."""

    amendment: Amendment
    before: Registration


def compared(
    now: Sequence[Verdict], before: Sequence[tuple[Amended, Sequence[Verdict]]]
) -> tuple[list[Verdict], list[Bar]]:
    """Return the verdicts with their marks, and a bar for each that was loosened after it failed.

    `before` has for each amendment the verdicts by the registration that it superseded.
    """
    marks: dict[str, list[str]] = {}
    found: list[Bar] = []
    outcomes = {verdict.id: verdict.outcome for verdict in now}
    for amended, old in before:
        for verdict in old:
            outcome = outcomes.get(verdict.id)
            if outcome is verdict.outcome:
                continue
            says = changed_sentence(amended, verdict, outcome)
            marks.setdefault(verdict.id, []).append(says)
            if verdict.outcome is Outcome.FAIL and amended.amendment.answers:
                gates = None if outcome is None else (verdict.id,)
                found.append(Bar("loosened", says, gates=gates))
    return [marked(verdict, marks.get(verdict.id, ())) for verdict in now], found


def changed_sentence(amended: Amended, before: Verdict, now: Outcome | None) -> str:
    """Return what an amendment made of one gate."""
    becomes = "is registered no more" if now is None else f"is {now.value} by the amended one"
    one = amended.amendment
    return (
        f"Amendment {one.document['number']} changed this verdict, made with {one.seen} seen: "
        f"{before.id} is {before.outcome.value} by the registration before it and "
        f"{becomes}."
    )


def marked(verdict: Verdict, marks: Sequence[str]) -> Verdict:
    """Return a verdict that carries `marks` for life, and is exploratory if there are any."""
    if not marks:
        return verdict
    said = (*verdict.does_not_say, *marks)
    return replace(verdict, marks=(*verdict.marks, *marks), does_not_say=said, confirmatory=False)
