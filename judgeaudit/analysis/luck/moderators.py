"""What goes with a contrast: the tools' order, the setting, the strength of the log, the lesson.

* `luck_moderators`: the deciding contrast within each level of a moderator (`by`: an item's meta
  key, or `lesson_length`), and the difference of two levels with Welch's t. Numbers with more than
  six values are cut at their median, worlds at it counting as low. Without `by`: the order of
  tools, the setting, the prior and the lesson's length, as far as a study has them. Nothing is
  corrected for the number of levels looked at: it describes, and no gate rests on it.
* `luck_balance`: how lessons of different cells differ in length: the means, and their difference
  in pooled standard deviations. The unrelated memory is chosen nearest in length and is no lesson
  of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import special

from judgeaudit.analysis.estimate import Estimate, undefined
from judgeaudit.analysis.luck.answers import Answers, answers_of, design_for
from judgeaudit.analysis.luck.claims import terms_of
from judgeaudit.analysis.luck.declared import Contrast, Design
from judgeaudit.analysis.luck.effects import Effects, effects_of
from judgeaudit.analysis.question import Question
from judgeaudit.errors import InputError
from judgeaudit.readings.table import META, probes
from judgeaudit.stats.interval import Undefined

MODERATORS, BALANCE = "luck_moderators", "luck_balance"
USUAL = ("better_first", "better_alphabetical", "domain", "prior")
LENGTH = "lesson_length"
LEVELS = 6
DESCRIBES = "one of several parts, uncorrected: it describes"

Labels = NDArray[np.object_]


def luck_moderators(table: pd.DataFrame, question: Question) -> list[Estimate]:
    """Return the deciding contrast within levels of order, setting, prior and lesson length."""
    asked = probes(table)
    design = design_for(asked, question.design, question.params)
    contrast = None if design is None else _deciding(design, question)
    if design is None or contrast is None:
        return [undefined(MODERATORS, "the protocol declares no contrasts")]
    answers = answers_of(asked, question.design)
    found: list[Estimate] = []
    for name, labels in _moderators(asked, answers, question):
        found += _by_level(name, labels, answers, contrast, design, question)
    return found or [undefined(MODERATORS, "worlds have none of the usual moderators")]


def _deciding(design: Design, question: Question) -> Contrast | None:
    wanted, scope = question.params.get("contrast"), question.params.get("stratum")
    every = design.contrasts if wanted is None else design.called(str(wanted))
    if wanted is None:
        every = tuple(design.called("carry")) or design.contrasts
    found = [c for c in every if scope is None or c.scope == str(scope)]
    if not found and (wanted or scope):
        there = ", ".join(contrast.id for contrast in design.contrasts)
        raise InputError("params", "contrast", f"no contrast {wanted or scope!r}", there)
    return found[0] if found else None


def _moderators(
    asked: pd.DataFrame, answers: Answers, question: Question
) -> Iterator[tuple[str, Labels]]:
    """Yield each moderator with its level in each world; one level alone moderates nothing."""
    by = question.params.get("by")
    by_world = asked.drop_duplicates("item").set_index("item").reindex(answers.worlds)
    for name in USUAL if by is None else (str(by),):
        if name == LENGTH:
            continue
        if f"{META}{name}" not in by_world:
            if by is not None:
                raise InputError("params", "by", f"no meta key {name!r}", "an item's meta key")
            continue
        labels = levels_of(by_world[f"{META}{name}"])
        if len(set(labels)) > 1:
            yield name, labels
    if by in (None, LENGTH):
        lengths = _lengths(asked)
        if len(lengths):
            mean = lengths.groupby("item")["length"].mean().reindex(answers.worlds)
            labels = levels_of(mean)
            if len(set(labels)) > 1:
                yield LENGTH, labels


def levels_of(values: pd.Series) -> Labels:
    """Return a level for each world; many numbers are cut at their median."""
    numbers = pd.to_numeric(values, errors="coerce")
    if values.nunique() > LEVELS and numbers.notna().all() and values.dtype != bool:
        middle = float(numbers.median())
        low, high = f"at most {middle:g}", f"above {middle:g}"
        return np.where(numbers.to_numpy() <= middle, low, high).astype(object)
    return values.map(str).to_numpy(object)


def _by_level(
    name: str,
    labels: Labels,
    answers: Answers,
    contrast: Contrast,
    design: Design,
    question: Question,
) -> list[Estimate]:
    terms = terms_of(replace(question, params={}), contrast.margin)
    found: list[Estimate] = []
    parts: dict[str, Effects] = {}
    for level in sorted(set(labels)):
        effects = effects_of(only(answers, labels == level), contrast, False, design.losses)
        if isinstance(effects, Undefined):
            return [undefined(MODERATORS, effects.reason, scope=f"{contrast.id}, {name}")]
        parts[level] = effects
        low, high = effects.ends(terms.z, terms.base)
        for e, endpoint in enumerate(answers.endpoints):
            scope = f"{contrast.name}, {contrast.full_scope}, {name}={level}"
            if not effects.n[e]:
                found.append(undefined(MODERATORS, "no world", endpoint=endpoint, scope=scope))
                continue
            found.append(
                Estimate(
                    MODERATORS,
                    float(effects.value[e]),
                    endpoint=endpoint,
                    scope=scope,
                    exact=effects.exact(e),
                    low=_finite(low[e]),
                    high=_finite(high[e]),
                    level=terms.level,
                    method=effects.method(e, terms.base),
                    cluster="world",
                    target=question.target,
                    n={"items": int(effects.n[e])},
                    caveats=(DESCRIBES,),
                )
            )
    if len(parts) == 2:
        found += _differences(name, parts, answers, contrast, question)
    return found


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def _differences(
    name: str,
    parts: dict[str, Effects],
    answers: Answers,
    contrast: Contrast,
    question: Question,
) -> list[Estimate]:
    (one, first), (two, second) = parts.items()
    found = []
    for e, endpoint in enumerate(answers.endpoints):
        scope = f"{contrast.name}, {contrast.full_scope}, {name}: {two} less {one}"
        told = welch(second.worlds(e), first.worlds(e), question.level)
        common = {"endpoint": endpoint, "scope": scope, "cluster": "world"}
        if isinstance(told, Undefined):
            found.append(undefined(f"{MODERATORS}_difference", told.reason, **common))
            continue
        value, low, high = told
        found.append(
            Estimate(
                f"{MODERATORS}_difference",
                value,
                low=low,
                high=high,
                level=question.level,
                method="Welch's t over worlds",
                target=question.target,
                n={"items": int(first.n[e] + second.n[e])},
                caveats=(DESCRIBES,),
                **common,  # type: ignore[arg-type]
            )
        )
    return found


def welch(
    one: NDArray[np.float64], other: NDArray[np.float64], level: float
) -> tuple[float, float, float] | Undefined:
    """Return mean(one) - mean(other) with Welch's interval; undefined without any spread."""
    if min(one.size, other.size) < 2:
        return Undefined("needs >= 2 worlds in either part")
    parts = [float(x.var(ddof=1)) / x.size for x in (one, other)]
    variance = sum(parts)
    value = float(one.mean() - other.mean())
    if not variance:
        return Undefined(f"no world differs within either part (difference {value:g})")
    df = variance**2 / sum(p**2 / (x.size - 1) for p, x in zip(parts, (one, other), strict=True))
    half = float(special.stdtrit(df, 0.5 + level / 2)) * variance**0.5
    return value, value - half, value + half


def only(answers: Answers, kept: NDArray[np.bool_]) -> Answers:
    """Return the answers in some worlds; counts by reason are left out, for they have no worlds."""
    chosen = np.asarray(kept, dtype=bool)
    worlds = tuple(w for w, keep in zip(answers.worlds, chosen, strict=True) if keep)
    return replace(
        answers,
        worlds=worlds,
        worse=answers.worse[:, :, chosen],
        valid=answers.valid[:, :, chosen],
        planned=answers.planned[:, :, chosen],
        no_memory=answers.no_memory[:, :, chosen],
        reasons={},
        clusters=(),
    )


def luck_balance(table: pd.DataFrame, question: Question) -> list[Estimate]:
    """Return lengths of lessons by cell, and their differences in standard deviations."""
    lengths = _lengths(probes(table))
    if not len(lengths):
        return [undefined(BALANCE, "no lesson's text in the table")]
    found: list[Estimate] = []
    for endpoint, part in lengths.groupby("endpoint", sort=False):
        cells = {str(arm): rows["length"].to_numpy(float) for arm, rows in part.groupby("arm")}
        for arm, values in cells.items():
            sd = float(values.std(ddof=1)) if values.size > 1 else None
            found.append(
                Estimate(
                    BALANCE,
                    float(values.mean()),
                    endpoint=str(endpoint),
                    scope=f"length in characters, cell={arm}",
                    cluster="world",
                    n={"items": values.size},
                    details={"sd": sd},
                )
            )
        names = sorted(cells)
        for arm in names[1:]:
            found.append(_standardised(str(endpoint), names[0], arm, cells))
    return found


def _standardised(
    endpoint: str, first: str, other: str, cells: dict[str, NDArray[np.float64]]
) -> Estimate:
    one, two = cells[other], cells[first]
    name, scope = f"{BALANCE}_difference", f"length, {other} less {first}, in standard deviations"
    if min(one.size, two.size) < 2 or not (spread := one.var(ddof=1) + two.var(ddof=1)):
        why = "needs two lessons of different length in either cell"
        return undefined(name, why, endpoint=endpoint, scope=scope)
    value = float((one.mean() - two.mean()) / np.sqrt(spread / 2))
    return Estimate(
        name,
        value,
        endpoint=endpoint,
        scope=scope,
        cluster="world",
        n={"items": min(one.size, two.size)},
        caveats=("beyond .1 the cells are not balanced in length",) if abs(value) > 0.1 else (),
    )


def _lengths(table: pd.DataFrame) -> pd.DataFrame:
    """Return the lessons of earlier stages with their lengths in code points."""
    if "text" not in table:
        return table.iloc[:0]
    earlier = table["stage"].lt(table["stage"].max())
    written = table[earlier & table["text"].notna() & table["status"].eq("ok")]
    return written.assign(length=written["text"].map(len))
