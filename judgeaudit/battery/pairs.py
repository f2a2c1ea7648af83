"""Pairs of worked sums for verdicts, and single ones with a mark for scores."""

from __future__ import annotations

from judgeaudit.battery.draws import Draws
from judgeaudit.battery.items import Battery
from judgeaudit.battery.kind import BatteryKind, nothing_of_its_own
from judgeaudit.battery.traces import Task, Trace, candidate_of, check_size, summary, worked
from judgeaudit.model import Item


def verdict_pairs(n: int, seed: int, *, prefix: int = 100) -> Battery:
    """Return `n` pairs, one correct solution and one with a slip; gold is the correct one's id.

    In every two pairs the correct solution stands first once, so that a judge who always says A
    is right in exactly half.
    """
    check_size(n, 2, (prefix,))
    items = []
    for number in range(n):
        task, traces = worked(seed, number, 2, "pairs")
        right, wrong = sorted(traces, key=lambda trace: trace.slip is not None)
        right_first = Draws(seed, "place", number // 2).shuffled([True, False])[number % 2]
        shown = (right, wrong) if right_first else (wrong, right)
        items.append(_pair(task, shown, prefix))
    return Battery(tuple(items), summary(items))


def _pair(task: Task, shown: tuple[Trace, Trace], prefix: int) -> Item:
    candidates = tuple(
        candidate_of(task, trace, f"c{place}", prefix) for place, trace in enumerate(shown, 1)
    )
    return Item(
        id=task.name,
        group=task.name,
        task=task.name,
        fields={"question": task.question},
        candidates=candidates,
        gold=next(candidate.id for candidate in candidates if candidate.correct),
        meta={"battery": "pairs", "prefix": prefix},
    )


def scored_answers(n: int, seed: int, *, candidates: int = 4) -> Battery:
    """Return `n` tasks with several whole solutions each; gold is a mark from 1 to 5.

    The mark is 1 + floor(4 c / s), where c of the s steps stand before the slip (all of them in
    a correct solution): 5 means no slip, 1 a slip within the first quarter.
    """
    check_size(n, candidates)
    items = []
    for number in range(n):
        task, traces = worked(seed, number, candidates, "scores")
        items += [_scored(task, trace, place) for place, trace in enumerate(traces, 1)]
    return Battery(tuple(items), summary(items))


def _scored(task: Task, trace: Trace, place: int) -> Item:
    before = len(trace.steps) if trace.slip is None else trace.slip - 1
    return Item(
        id=f"{task.name}c{place}",
        group=task.name,
        task=task.name,
        fields={"question": task.question},
        candidates=(candidate_of(task, trace, f"c{place}", 100),),
        gold=str(1 + 4 * before // len(trace.steps)),
        meta={"battery": "scores"},
    )


PAIRS = BatteryKind(
    name="pairs",
    build=verdict_pairs,
    counted="pairs",
    about="a correct solution and one with a slip: verdicts",
    balanced=True,
    lint=nothing_of_its_own,
    controls=None,
)
SCORES = BatteryKind(
    name="scores",
    build=scored_answers,
    counted="tasks",
    about="single solutions with a mark from 1 to 5: scores",
    balanced=True,
    lint=nothing_of_its_own,
    controls=None,
)
