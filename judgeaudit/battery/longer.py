"""Worlds with more than one outcome: doses of luck, further episodes, evidence that comes later.

Fields that `more = k` adds to a world, for n from 2 (outcomes) or 1 (later) to k:

* `outcomes_CASE_n`: the tool of the case was used n times after the log, each time with the same
  ending (a dose of n unlucky outcomes in `outcomes_better_failed_n`);
* `later_n`: since then the better tool was used n more times and succeeded each time (ordinary
  episodes, or evidence by which an agent may recover).

`meta.cases` tells what each field shows as [successes, runs] of either tool beyond the log, by
which the linter holds every one of them to the guarantee; `meta.prior` is the chance, before any
outcome, that the better tool is better, `meta.gap` the difference of the tools' posterior means:
what one choice of the worse tool costs in successes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from judgeaudit.battery.posterior import Record, probability_better
from judgeaudit.model import JSON, Item

CASES = ("better_failed", "better_succeeded", "worse_failed", "worse_succeeded")

Shown = dict[str, list[int]]


def shown_by(case: str, times: int) -> Shown:
    """Return what a case of n outcomes shows beyond the log: [successes, runs] by role."""
    role, ending = case.split("_")
    return {role: [times if ending == "succeeded" else 0, times]}


def cases(more: int) -> Iterator[tuple[str, Shown]]:
    """Yield each added field with what it shows."""
    for case in CASES:
        for times in range(2, more + 1):
            yield f"outcomes_{case}_{times}", shown_by(case, times)
    for times in range(1, more + 1):
        yield f"later_{times}", shown_by("better_succeeded", times)


def more_of(told: Mapping[str, object]) -> int:
    """Return the `more` of a world from its `meta.cases`."""
    return sum(name.startswith("later_") for name in told)


def longer(item: Item, more: int, clauses: dict[str, str]) -> Item:
    """Return a world with the fields of `more`; `clauses` tells each ending in words."""
    tools = {role: str(item.fields[f"{role}_tool"]) for role in ("better", "worse")}
    fields: dict[str, JSON] = dict(item.fields)
    told: dict[str, JSON] = {}
    for name, shown in cases(more):
        ((role, (successes, times)),) = shown.items()
        ending = "succeeded" if successes else "failed"
        if name.startswith("later"):
            each = "once more" if times == 1 else f"for {times} more runs"
            fields[name] = f"Since then {tools[role]} was used {each} and {ending} each time."
        else:
            fields[name] = (
                f"For the next {times} runs after this log, {tools[role]} was used. "
                f"It {ending} each time: {clauses[ending]}."
            )
        told[name] = {key: list(value) for key, value in shown.items()}
    better, worse = (Record(*item.meta[f"{r}_record"]) for r in ("better", "worse"))
    prior = float(probability_better(better, worse))
    rates = [(record.successes + 1) / (record.runs + 2) for record in (better, worse)]
    gap = round(rates[0] - rates[1], 6)
    meta = {**item.meta, "cases": told, "prior": round(prior, 6), "gap": gap}
    return replace(item, fields=fields, meta=meta)
