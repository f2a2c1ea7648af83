"""Two-tool decision worlds: a log that settles which tool is better, whatever happens next.

A world is a setting, two tools with invented names, and a log of `runs` runs each. Counts are
drawn run by run from the tools' rates; a draw is thrown away, and counted, when a count lies
further than `tolerance` from its expectation, or when one outcome would be a reason to change the
decision (see `posterior`). Within every setting each block of four worlds holds the four
combinations of "the better tool has the alphabetically first name" and "the better tool is shown
first", in a drawn order.

An item has the tools as candidates in the order shown, with ids `better` and `worse`; everything a
prompt may say is a field. Whether runs are said to be independent is left to the prompt.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Literal

from judgeaudit.battery.domains import DOMAINS, NAMES, Domain
from judgeaudit.battery.draws import Draws
from judgeaudit.battery.items import Battery
from judgeaudit.battery.longer import CASES, cases, longer
from judgeaudit.battery.posterior import (
    THRESHOLD,
    Record,
    decision_irrelevant,
    posteriors,
    shown_irrelevant,
)
from judgeaudit.errors import InputError
from judgeaudit.model import JSON, Candidate, Item

HIGH = (Fraction(75, 100), Fraction(80, 100), Fraction(85, 100))
LOW = (Fraction(45, 100), Fraction(50, 100), Fraction(55, 100))
MOST = 10
"""Outcomes that a world may show beyond its log."""

TRIES = 2_000
"""Draws after which a world is given up: the wanted runs cannot settle the decision."""

Costs = Literal["none", "equal", "better_cheaper"]
"""What a run costs: not said, the same for both tools, or less for the better one. A cheaper
worse tool would make the decision depend on a value of success that no log states."""


@dataclass(frozen=True, slots=True)
class World:
    """A world before it is put into words."""

    name: str
    domain: Domain
    better: str
    worse: str
    better_first: bool
    record_better: Record
    record_worse: Record
    cost_better: int | None = None
    cost_worse: int | None = None

    def tools(self) -> list[tuple[str, str, Record, int | None]]:
        """Return (role, name, record, cost) of both tools in the order shown."""
        pair = [
            ("better", self.better, self.record_better, self.cost_better),
            ("worse", self.worse, self.record_worse, self.cost_worse),
        ]
        return pair if self.better_first else pair[::-1]


def log_table(world: World) -> str:
    """Return the authoritative log: one row a tool, in the order shown."""
    priced = world.cost_better is not None
    rows = ["| tool | runs | succeeded | failed |" + (" cost of a run |" if priced else "")]
    rows.append("| --- | --- | --- | --- |" + (" --- |" if priced else ""))
    rows += [log_row(name, record, cost) for _, name, record, cost in world.tools()]
    return "\n".join(rows)


def log_row(name: str, record: Record, cost: int | None) -> str:
    """Return a tool's row of the log."""
    failed = record.runs - record.successes
    row = f"| {name} | {record.runs} | {record.successes} | {failed} |"
    return row if cost is None else f"{row} {cost} |"


def world_item(world: World) -> Item:
    """Return a world as an item for the `choice` and `text` readouts."""
    (role_1, tool_1, *_), (role_2, tool_2, *_) = world.tools()
    candidates = (
        Candidate(role_1, tool_1, role_1 == "better"),
        Candidate(role_2, tool_2, role_2 == "better"),
    )
    fields = {
        "setting": world.domain.setting,
        "run": world.domain.run,
        "tool_1": tool_1,
        "tool_2": tool_2,
        "better_tool": world.better,
        "worse_tool": world.worse,
        "log": log_table(world),
        **{f"outcome_{case}": outcome(world, case) for case in CASES},
    }
    return Item(
        id=world.name,
        group=world.name,
        task=world.name,
        fields=fields,
        candidates=candidates,
        gold="better",
        meta=_meta(world),
    )


def outcome(world: World, case: str) -> str:
    """Return the sentence that tells what the run after the log came to."""
    role, ending = case.split("_")
    name = world.better if role == "better" else world.worse
    success = ending == "succeeded"
    clause = world.domain.success if success else world.domain.failure
    return (
        f"For the next {world.domain.run} after this log, {name} was used. It {ending}: {clause}."
    )


def _meta(world: World) -> Mapping[str, JSON]:
    found = posteriors(world.record_better, world.record_worse)
    return {
        "battery": "worlds",
        "domain": world.domain.name,
        "better": world.better,
        "worse": world.worse,
        "better_first": world.better_first,
        "better_alphabetical": world.better < world.worse,
        "better_record": [world.record_better.successes, world.record_better.runs],
        "worse_record": [world.record_worse.successes, world.record_worse.runs],
        "costs": None if world.cost_better is None else [world.cost_better, world.cost_worse],
        # As text: six digits of an exact fraction, rounded down, so that .95 is never made up.
        "posteriors": {case: six_digits(value) for case, value in found.items()},
    }


def six_digits(value: Fraction) -> str:
    """Return a probability below 1 with six decimals, rounded down."""
    return f"0.{value.numerator * 10**6 // value.denominator:06d}"


def _draw_records(
    draws: Draws,
    runs: int,
    tolerance: int,
    threshold: Fraction,
    rejected: Counter[str],
    more: int,
) -> tuple[Record, Record]:
    for _ in range(TRIES):
        rates = draws.choice(HIGH), draws.choice(LOW)
        counts = [sum(draws.chance(rate) for _ in range(runs)) for rate in rates]
        better, worse = (Record(count, runs) for count in counts)
        if any(abs(n - r * runs) > tolerance for n, r in zip(counts, rates, strict=True)):
            rejected["counts_far_from_expectation"] += 1
        elif not decision_irrelevant(better, worse, threshold) or not all(
            shown_irrelevant(better, worse, shown, threshold) for _, shown in cases(more)
        ):
            rejected["an_outcome_would_matter"] += 1
        else:
            return better, worse
    raise InputError(
        "battery",
        "worlds",
        f"{runs} runs a tool cannot settle which is better with P >= {float(threshold):g}",
        "ask for more runs",
    )


def world_items(
    n: int,
    seed: int,
    *,
    runs: int = 40,
    tolerance: int = 2,
    threshold: str | float = "0.95",
    costs: Costs = "none",
    more: int = 0,
) -> Battery:
    """Return `n` worlds and the report of how many draws were rejected, and why.

    `more` = k adds fields of up to k outcomes and later runs (see `longer`); then none of these may
    make an outcome matter either.
    `threshold` is a decimal, compared exactly. Raises `InputError` for sizes that cannot be, and
    where `runs` runs cannot make an outcome irrelevant.
    """
    limit = _checked(n, runs, tolerance, threshold, more)
    rejected: Counter[str] = Counter(counts_far_from_expectation=0, an_outcome_would_matter=0)
    pairs = Draws(seed, "worlds", "names").shuffled(list(combinations(NAMES, 2)))
    domains = Draws(seed, "worlds", "domains").shuffled(DOMAINS)
    items = []
    for number in range(n):
        draws = Draws(seed, "worlds", number)
        records = _draw_records(draws, runs, tolerance, limit, rejected, more)
        domain = domains[number % len(domains)]
        alphabetical, first = _combination(seed, domain, number // len(domains))
        pair = pairs[number % len(pairs)]
        better, worse = pair if alphabetical else pair[::-1]
        prices = _prices(draws, costs)
        name = f"w{number:03d}"
        item = world_item(World(name, domain, better, worse, first, *records, *prices))
        clauses = {"failed": domain.failure, "succeeded": domain.success}
        items.append(longer(item, more, clauses) if more else item)
    return Battery(tuple(items), _report(items, rejected, runs))


def _combination(seed: int, domain: Domain, turn: int) -> tuple[bool, bool]:
    """Return (better has the first name, better is shown first) of a setting's world `turn`."""
    deck = [(True, True), (True, False), (False, True), (False, False)]
    return Draws(seed, "worlds", domain.name, turn // 4).shuffled(deck)[turn % 4]


def _prices(draws: Draws, costs: Costs) -> tuple[int | None, int | None]:
    if costs == "none":
        return None, None
    price = draws.between(2, 9)
    return price, price if costs == "equal" else price + draws.between(1, 5)


def _checked(n: int, runs: int, tolerance: int, threshold: str | float, more: int) -> Fraction:
    if n < 1 or runs < 1 or tolerance < 0 or not 0 <= more <= MOST:
        found = f"n = {n}, runs = {runs}, tolerance = {tolerance}, more = {more}"
        remedy = f"n and runs at least 1, tolerance at least 0, more from 0 to {MOST}"
        raise InputError("battery", "worlds", found, remedy)
    try:
        limit = Fraction(str(threshold))
    except (ValueError, ZeroDivisionError):
        limit = Fraction(0)
    if not THRESHOLD <= limit < 1:
        raise InputError(
            "battery", "threshold", repr(threshold), 'a decimal from "0.95" to below 1'
        )
    return limit


def _report(items: list[Item], rejected: Counter[str], runs: int) -> dict[str, JSON]:
    designs = Counter(
        f"name {'first' if i.meta['better_alphabetical'] else 'second'}, "
        f"shown {'first' if i.meta['better_first'] else 'second'}"
        for i in items
    )
    return {
        "worlds": len(items),
        "runs": runs,
        "domains": len({item.meta["domain"] for item in items}),
        "rejected": dict(rejected),
        "least_posterior": min(min(item.meta["posteriors"].values()) for item in items),
        "better_tool": dict(sorted(designs.items())),
    }
