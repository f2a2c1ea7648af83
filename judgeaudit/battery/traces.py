"""Worked sums of fractions, shown in part, with truth by exact rational arithmetic.

A task is a sum of 5 to 9 signed fractions. A candidate adds them in an order of its own, one line
a step, 4 to 8 steps; a wrong one makes one slip and goes on from it. A judge sees the first 25, 50,
75 or 100 % of the steps (rounded up). A candidate is correct when its last total equals the sum as
a fraction: no float, and no model's word.

Candidates of a task begin with different ordered pairs of terms, so they differ from the first
line on at every prefix (CE's gate I-2R). Of m candidates about half are correct and never all or
none (a frozen deck over every four tasks), so that each task is mixed and accuracy is .5.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from judgeaudit.battery.draws import Draws
from judgeaudit.battery.items import Battery
from judgeaudit.battery.kind import BatteryKind, nothing_of_its_own
from judgeaudit.errors import InputError
from judgeaudit.model import JSON, Candidate, Item

PREFIXES = (25, 50, 75, 100)
DENOMINATORS = (2, 3, 4, 5, 6, 10, 12, 15, 20)
"""Divisors of 60: totals stay readable."""


@dataclass(frozen=True, slots=True)
class Task:
    """A sum to work out."""

    name: str
    terms: tuple[Fraction, ...]

    @property
    def truth(self) -> Fraction:
        """The sum, exactly."""
        return sum(self.terms, Fraction(0))

    @property
    def question(self) -> str:
        """The task in words."""
        first, *rest = self.terms
        return f"Compute {first}{''.join(map(signed, rest))} exactly, as a fraction."


@dataclass(frozen=True, slots=True)
class Trace:
    """A worked solution: its lines, its last total, the step of its slip (from 1) if any."""

    steps: tuple[str, ...]
    answer: Fraction
    slip: int | None = None

    def shown(self, prefix: int) -> tuple[str, ...]:
        """Return the first `prefix` percent of the steps, rounded up."""
        return self.steps[: -(-len(self.steps) * prefix // 100)]


def signed(number: Fraction) -> str:
    """Return ` + 1/2` or ` - 1/2`."""
    return f" {'-' if number < 0 else '+'} {abs(number)}"


def draw_task(draws: Draws, name: str) -> Task:
    """Return a task of 5 to 9 different fractions, the first above 0."""
    count = draws.between(5, 9)
    terms: list[Fraction] = []
    while len(terms) < count:
        denominator = draws.choice(DENOMINATORS)
        size = Fraction(draws.between(1, 3 * denominator), denominator)
        term = -size if terms and draws.below(2) else size
        if abs(term) not in map(abs, terms):
            terms.append(term)
    return Task(name, tuple(terms))


def draw_traces(draws: Draws, task: Task, correct: Sequence[bool]) -> list[Trace]:
    """Return one trace for each entry of `correct`, no two with the same first step."""
    traces: list[Trace] = []
    used: set[tuple[Fraction, ...]] = set()
    while len(traces) < len(correct):
        order = draws.shuffled(task.terms)
        if tuple(order[:2]) in used:
            continue
        used.add(tuple(order[:2]))
        slip = None if correct[len(traces)] else draws.between(1, len(order) - 1)
        traces.append(_work(draws, order, slip))
    return traces


def _work(draws: Draws, order: Sequence[Fraction], slip: int | None) -> Trace:
    total, lines = order[0], []
    for step, term in enumerate(order[1:], 1):
        result = total + term
        if step == slip:
            result = _slipped(draws, total, term)
        lines.append(f"Step {step}: {total}{signed(term)} = {result}")
        total = result
    return Trace(tuple(lines), total, slip)


def _slipped(draws: Draws, total: Fraction, term: Fraction) -> Fraction:
    """Return a wrong result: the sign mistaken, or a numerator off by 1 to 3."""
    right = total + term
    if draws.below(3) == 0:
        return total - term
    off = Fraction(draws.between(1, 3), right.denominator)
    return right + (off if draws.below(2) else -off)


def correctness(seed: int, task: int, candidates: int) -> list[bool]:
    """Return which of a task's candidates are correct: about half, never all or none."""
    half = candidates // 2
    deck = [half - 1, half, candidates - half, candidates - half + 1]
    deck = [min(max(count, 1), candidates - 1) for count in deck]
    count = Draws(seed, "deck", candidates, task // 4).shuffled(deck)[task % 4]
    flags = [i < count for i in range(candidates)]
    return Draws(seed, "flags", candidates, task).shuffled(flags)


def worked(seed: int, task: int, candidates: int, kind: str) -> tuple[Task, list[Trace]]:
    """Return task number `task` of a seed and its traces, independent of all other tasks."""
    draws = Draws(seed, kind, task)
    drawn = draw_task(draws, f"t{task:03d}")
    return drawn, draw_traces(draws, drawn, correctness(seed, task, candidates))


def candidate_of(task: Task, trace: Trace, name: str, prefix: int) -> Candidate:
    """Return a trace's prefix as a candidate with its constructed truth."""
    lines = trace.shown(prefix)
    meta = {
        "steps": len(trace.steps),
        "shown": len(lines),
        "slip_step": trace.slip,
        "slip_shown": trace.slip is not None and trace.slip <= len(lines),
        "answer": str(trace.answer),
    }
    return Candidate(name, "\n".join(lines), trace.answer == task.truth, meta)


def check_size(n: int, candidates: int, prefixes: Sequence[int] = (100,)) -> None:
    """Raise `InputError` for sizes that no battery of traces can have."""
    if n < 1:
        raise InputError("battery", "n", f"{n} tasks", "at least 1")
    if not 2 <= candidates <= 12:
        raise InputError("battery", "candidates", f"{candidates}", "from 2 to 12 a task")
    if not prefixes or any(not 1 <= prefix <= 100 for prefix in prefixes):
        raise InputError("battery", "prefixes", f"{list(prefixes)}", "percentages from 1 to 100")
    if len(set(prefixes)) < len(prefixes):
        raise InputError("battery", "prefixes", f"{list(prefixes)}", "each percentage once")


def label_items(
    n: int, seed: int, *, candidates: int = 4, prefixes: tuple[int, ...] = PREFIXES
) -> Battery:
    """Return one item a task, prefix and candidate, for the label readouts.

    The group is the task at one prefix, within which a ranking is formed; the task is the
    cluster. `gold` is 1 or 0: whether the whole solution ends at the exact sum.
    """
    check_size(n, candidates, prefixes)
    items = []
    for number in range(n):
        task, traces = worked(seed, number, candidates, "traces")
        for prefix in prefixes:
            for position, trace in enumerate(traces, 1):
                items.append(_label_item(task, trace, prefix, position))
    return Battery(tuple(items), summary(items))


def summary(items: Sequence[Item]) -> dict[str, JSON]:
    """Return the counts of a battery: tasks, items, candidates, and how many are correct."""
    flags: dict[str, list[bool]] = {}
    for item in items:
        flags.setdefault(item.task, []).extend(bool(c.correct) for c in item.candidates)
    return {
        "tasks": len(flags),
        "items": len(items),
        "candidates": sum(map(len, flags.values())),
        "correct": sum(map(sum, flags.values())),
        "mixed_tasks": sum(len(set(found)) == 2 for found in flags.values()),
    }


def _label_item(task: Task, trace: Trace, prefix: int, position: int) -> Item:
    candidate = candidate_of(task, trace, f"c{position}", prefix)
    group = f"{task.name}@{prefix}"
    return Item(
        id=f"{group}c{position}",
        group=group,
        task=task.name,
        fields={"question": task.question},
        candidates=(candidate,),
        gold="1" if candidate.correct else "0",
        meta={"battery": "traces", "prefix": prefix},
    )


def ranking_items(n: int, seed: int, *, candidates: int = 10, prefix: int = 100) -> Battery:
    """Return one item a task with all its candidates, for the ranking readout."""
    check_size(n, candidates, (prefix,))
    items = []
    for number in range(n):
        task, traces = worked(seed, number, candidates, "rankings")
        shown = [candidate_of(task, t, f"c{i}", prefix) for i, t in enumerate(traces, 1)]
        item = Item(
            id=task.name,
            group=task.name,
            task=task.name,
            fields={"question": task.question},
            candidates=tuple(shown),
            meta={"battery": "rankings", "prefix": prefix},
        )
        items.append(item)
    return Battery(tuple(items), summary(items))


TRACES = BatteryKind(
    name="traces",
    build=label_items,
    counted="tasks",
    about="worked sums cut at prefixes, one candidate an item: label readouts",
    balanced=True,
    lint=nothing_of_its_own,
    controls=None,
)
RANKINGS = BatteryKind(
    name="rankings",
    build=ranking_items,
    counted="tasks",
    about="worked sums, all candidates of a task in one item: rankings",
    balanced=True,
    lint=nothing_of_its_own,
    controls=None,
)
