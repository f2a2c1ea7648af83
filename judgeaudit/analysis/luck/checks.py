"""Beside the effects of memory luck: shares by cell, the judge's own noise, comprehension.

* `luck_p`: p = P(worse tool) in each cell, at each endpoint and over these endpoints. With invalid
  answers excluded the share is of the tools named; counted, of all calls that had a memory.
* `luck_again`: how often the same bytes, asked once more, got another choice: the `again` cell
  beside its own, and repeats within a cell. An effect of this size needs no luck.
* `luck_comprehension`: share of `probe` answers that name the tool with the better record.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from judgeaudit.analysis.build import Context
from judgeaudit.analysis.estimate import Estimate
from judgeaudit.analysis.luck.answers import (
    NO_MEMORY,
    NO_TOOL,
    UNDELIVERED,
    Answers,
    answers_of,
    kind_of,
)
from judgeaudit.analysis.luck.pool import TARGETS
from judgeaudit.analysis.question import Question
from judgeaudit.errors import InputError
from judgeaudit.readings.table import probes
from judgeaudit.stats.agreement import effective_proportion
from judgeaudit.stats.interval import Undefined
from judgeaudit.stats.proportions import clopper_pearson, share_of_clusters

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def luck_p(table: pd.DataFrame, question: Question) -> list[Estimate]:
    """Return P(worse tool) in each cell; `params.cell` names one."""
    answers = answers_of(probes(table), question.design)
    found: list[Estimate] = []
    for cell in _chosen(answers.choices, question):
        found += _shares("luck_p", answers, [cell], cell, question, better=False)
    return found


def luck_comprehension(table: pd.DataFrame, question: Question) -> list[Estimate]:
    """Return the share of probe answers that name the tool with the better record."""
    answers = answers_of(probes(table), question.design)
    cells = [cell for cell in answers.cells if answers.spec(cell).probe]
    if not cells:
        return [_context("luck_comprehension", question).none("no probe cell was asked")]
    return _shares("luck_comprehension", answers, cells, "all", question, better=True)


def _chosen(cells: list[str], question: Question) -> list[str]:
    wanted = question.params.get("cell")
    if wanted is None:
        return cells
    kept = [cell for cell in cells if cell == str(wanted)]
    if not kept:
        there = ", ".join(cells)
        raise InputError("params", "cell", f"no answers in {wanted!r}", f"found: {there}")
    return kept


def _context(name: str, question: Question) -> Context:
    return Context(name, replace(question, cluster="world"))


def _shares(
    name: str,
    answers: Answers,
    cells: Sequence[str],
    scope: str,
    question: Question,
    better: bool,
) -> list[Estimate]:
    """Return the share at each endpoint, then over these endpoints where there are several."""
    at = [answers.cells.index(cell) for cell in cells]
    every = range(len(answers.endpoints))
    found = [
        _share(name, answers, at, [e], question, better, endpoint=answers.endpoints[e], scope=scope)
        for e in every
    ]
    if len(found) > 1:
        pooled = {"scope": scope, "target": TARGETS["these"]}
        found.append(_share(f"{name}_these", answers, at, every, question, better, **pooled))
    return found


def _share(
    name: str,
    answers: Answers,
    cells: Sequence[int],
    endpoints: Iterable[int],
    question: Question,
    better: bool,
    **fields: Any,
) -> Estimate:
    """Return hits / answers with the world as the unit, the third outcome bounded both ways."""
    chosen = np.ix_(list(endpoints), cells)
    worse, valid, planned, lacking, no_memory = (
        counts[chosen].sum(axis=(0, 1))
        for counts in (
            answers.worse,
            answers.valid,
            answers.planned,
            answers.lacking,
            answers.no_memory,
        )
    )
    hits = valid - worse if better else worse
    asked = planned - no_memory
    sizes = asked if question.counts_invalid else valid
    kinds = _kinds(answers, chosen)
    n = {
        "items": int((sizes > 0).sum()),
        "worse": int(worse.sum()),
        "better": int((valid - worse).sum()),
        **{kind: sum(part.values()) for kind, part in kinds.items()},
        "planned": int(planned.sum()),
    }
    excluded = {reason: count for part in kinds.values() for reason, count in part.items()}
    said = replace(_context(name, question), n=n, excluded=excluded)
    if not sizes.sum():
        return said.none("no call of this cell named a tool", **fields)
    total = int(asked.sum())
    fields |= {
        "missing": float(lacking.sum() / total),
        "worst": (float(hits.sum() / total), float((hits + lacking).sum() / total)),
    }
    return _bounded(said, hits, sizes, question, fields)


def _bounded(
    said: Context, hits: Ints, sizes: Ints, question: Question, fields: dict[str, Any]
) -> Estimate:
    value = float(hits.sum() / sizes.sum())
    if sizes.max() <= 1:
        interval = clopper_pearson(float(hits.sum()), float(sizes.sum()), question.level)
        return said.bounded(value, interval, **fields)
    found = share_of_clusters(hits, sizes, question.level)
    return said.bounded(value, found if isinstance(found, Undefined) else found[1], **fields)


def _kinds(answers: Answers, chosen: tuple[Ints, ...]) -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = {kind: {} for kind in (NO_TOOL, UNDELIVERED, NO_MEMORY)}
    for reason, counts in answers.reasons.items():
        if count := int(counts[chosen].sum()):
            found[kind_of(reason)][reason] = count
    return found


def luck_again(table: pd.DataFrame, question: Question) -> list[Estimate]:
    """Return how often the same bytes asked again got another choice, by cell."""
    answers = answers_of(probes(table), question.design)
    found = []
    for cell in asked_again(answers):
        for e, endpoint in enumerate(answers.endpoints):
            worse, valid = _same_bytes(answers, cell, e)
            twice = int((valid >= 2).sum())
            said = replace(_context("luck_again", question), n={"items": twice})
            fields = {"endpoint": endpoint, "scope": cell}
            found.append(said.of(_flips(worse, valid), **fields))
    if not found:
        return [_context("luck_again", question).none("no cell was asked again")]
    return found


def asked_again(answers: Answers) -> list[str]:
    """Return the cells whose bytes were asked more than once."""
    return [
        cell
        for cell in answers.choices
        if not answers.spec(cell).again
        and (_twins(answers, cell) or answers.planned[:, answers.index(cell)].max(initial=0) > 1)
    ]


def _twins(answers: Answers, cell: str) -> list[str]:
    """Return the cells that ask the bytes of this one again."""
    return [other for other in answers.cells if answers.spec(other).again == cell]


def _same_bytes(answers: Answers, cell: str, endpoint: int) -> tuple[Ints, Ints]:
    at = answers.places([cell, *_twins(answers, cell)])
    return answers.worse[endpoint, at].sum(axis=0), answers.valid[endpoint, at].sum(axis=0)


def _flips(worse: Ints, valid: Ints) -> Any:
    """Return the mean over worlds of the share of unlike pairs, 2 w (m - w)/(m (m - 1))."""
    pairs = valid * (valid - 1) / 2
    unlike = np.where(pairs > 0, worse * (valid - worse) / np.maximum(pairs, 1), np.nan)
    return effective_proportion(unlike, pairs)


def own_noise(answers: Answers, cells: Sequence[str]) -> dict[str, dict[str, object]]:
    """Return, by endpoint, the flip rate of the same bytes in those of `cells` asked again."""
    again = [cell for cell in asked_again(answers) if cell in cells]
    found: dict[str, dict[str, object]] = {}
    for e, endpoint in enumerate(answers.endpoints):
        told = {}
        for cell in again:
            flips = _flips(*_same_bytes(answers, cell, e))
            if not isinstance(flips, Undefined):
                told[cell] = float(flips.value)
        if told:
            found[endpoint] = {"own_noise": told}
    return found
