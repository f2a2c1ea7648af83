"""The records of the memory-luck statistics, for the catalogue."""

from __future__ import annotations

import math
from functools import partial

from judgeaudit.analysis.luck import analyses, checks, claims, lessons, losses, moderators
from judgeaudit.analysis.luck.named import LESSONS
from judgeaudit.statistic import CELLS, Param, Statistic, choice, number, words

_luck = partial(
    Statistic,
    reads=("category",),
    kind="plain",
    least_units=1,
    claims=words("choice"),
    over=CELLS,
    needs=words("arms"),
    unit="share",
    subject="choices",
    covered=None,
    answers=(),
    defaults=frozenset(),
    told=frozenset(),
    example=None,
    per_pair=False,
    floor=False,
    kappa=None,
    greatest=False,
    redesigns=frozenset(),
    whole_table=True,
)

_TERMS: tuple[Param, ...] = (
    choice("interval", "paired interval of an effect", "tango", "newcombe"),
    number("margin", "size above which an effect is large, below which negligible", 0, 1),
    number("alpha", "level of a one-sided claim", 0, 0.5),
    choice("pool", "over which endpoints effects are pooled", "each", "these", "like"),
    choice("stratum", "scope of a declared contrast, e.g. unlucky or lucky.dep"),
    choice("cluster", "what worlds belong to, e.g. domain: settings like these"),
    choice("scale", "meta key of what a choice of the worse tool costs, e.g. gap: regret"),
)
_NAMED: tuple[Param, ...] = (
    choice("contrast", "name of a contrast that the protocol declares"),
    choice("lesson", "label of a declared contrast"),
    choice("criterion", "label of a declared contrast"),
)

_effect = partial(_luck, bounds=(-1.0, 1.0), params=_TERMS, why_no_gate="")
_share = partial(_luck, bounds=(0.0, 1.0), params=(), why_no_gate="")

STATISTICS = (
    _luck(
        name="luck_contrast",
        compute=analyses.luck_contrast,
        bounds=(-math.inf, math.inf),
        better="",
        label="declared contrast of cells",
        params=(*_TERMS, *_NAMED),
        why_no_gate="",
    ),
    _luck(
        name="luck_carry",
        compute=analyses.luck_carry,
        bounds=(-2.0, 2.0),
        better="low",
        label="CARRY: what a lesson of luck adds",
        params=_TERMS,
        why_no_gate="",
    ),
    _effect(
        name="luck_lesson_effect",
        compute=analyses.luck_lesson_effect,
        better="low",
        label="lesson effect, the outcome held",
    ),
    _effect(
        name="luck_outcome_effect",
        compute=analyses.luck_outcome_effect,
        better="low",
        label="outcome effect, the lesson held",
        params=(*_TERMS, choice("lesson", "the lesson that is held", *LESSONS)),
    ),
    _effect(
        name="luck_total",
        compute=analyses.luck_total,
        better="low",
        label="total luck, outcome and lesson together",
    ),
    _effect(
        name="luck_harm",
        compute=analyses.luck_harm,
        better="low",
        label="harm of the lesson of luck",
    ),
    _effect(
        name="luck_protection",
        compute=analyses.luck_protection,
        better="",
        label="protection by the opposite lesson",
    ),
    _luck(
        name="luck_mitigation",
        compute=analyses.luck_mitigation,
        bounds=(-2.0, 2.0),
        better="",
        label="what a mitigation does to harm",
        params=(*_TERMS, choice("criterion", "what it must do", *claims.CRITERIA)),
        why_no_gate="",
    ),
    _share(
        name="luck_p",
        compute=checks.luck_p,
        better="low",
        label="choices of the worse tool",
        params=(choice("cell", "one cell, as its protocol calls it"),),
    ),
    _share(
        name="luck_attrition",
        compute=losses.luck_attrition,
        better="low",
        label="planned calls without a choice",
    ),
    _luck(
        name="luck_moderators",
        compute=moderators.luck_moderators,
        bounds=(-math.inf, math.inf),
        better="",
        label="contrast within levels of a moderator",
        params=(
            choice("contrast", "name of a contrast that the protocol declares"),
            choice("stratum", "scope of that contrast"),
            choice("by", "an item's meta key, or lesson_length"),
        ),
        why_no_gate="it looks at many parts of the same worlds: it describes",
    ),
    _luck(
        name="luck_balance",
        compute=moderators.luck_balance,
        reads=("text",),
        bounds=(-math.inf, math.inf),
        claims=frozenset(),
        better="",
        label="lengths of lessons by cell",
        params=(),
        why_no_gate="it describes the lessons",
    ),
    _share(
        name="luck_again",
        compute=checks.luck_again,
        better="low",
        label="same bytes, another choice",
    ),
    _share(
        name="luck_comprehension",
        compute=checks.luck_comprehension,
        better="high",
        label="probe answers that name the better record",
    ),
    _luck(
        name="luck_lessons",
        compute=lessons.luck_lessons,
        reads=("text",),
        bounds=(0.0, 1.0),
        claims=frozenset(),
        better="",
        label="what lessons blame and advise",
        params=(),
        why_no_gate="lessons are coded by rules on their wording: exploratory",
    ),
)
