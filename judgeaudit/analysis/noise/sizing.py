"""How many calls to aggregate, sized on the pilot's own Kendall spectrum.

`aggregation_agreement` simulates two aggregates of k calls each (Borda, or by
`params.aggregator = "median"`), for the k of `params.k` (1, 3, 5, 9), and gives the chance that
they are the same ranking. What k calls do jointly a pilot of pairs does not show: that is a
surrogate, named in the details, and its k = 1 stands beside the pilot's own share so that the
distance is seen. These numbers size a design; they are no result.
"""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

from judgeaudit.analysis.agreement.replay import kendall_distances
from judgeaudit.analysis.build import context
from judgeaudit.analysis.estimate import Estimate
from judgeaudit.analysis.grid import column_pairs, layout
from judgeaudit.analysis.question import Question
from judgeaudit.errors import InputError
from judgeaudit.statistic import DESIGNS, PAIRS, Statistic, choice, numbers, words
from judgeaudit.stats.aggregation import agreement

SIZES = (1, 3, 5, 9)
AGGREGATORS = ("borda", "median")
SURROGATES = ("item", "call")


def aggregation_agreement(part: pd.DataFrame, question: Question) -> list[Estimate]:
    """Return for each k the simulated chance that two aggregates of k calls agree exactly."""
    said = context("aggregation_agreement", part, question)
    aggregator = _one_of(question, "aggregator", AGGREGATORS)
    surrogate = _one_of(question, "surrogate", SURROGATES)
    grid = layout(part)
    sizes = part["ranking"].dropna().map(len).unique()
    if sizes.size != 1:
        return [said.none("needs rankings of one number of candidates")]
    candidates = int(sizes[0])
    distances = kendall_distances(grid, column_pairs(grid.columns, question.over))
    if not distances.size:
        return [said.none("no pair of readings to take a spectrum from")]
    spectrum = np.bincount(distances, minlength=math.comb(candidates, 2) + 1)
    rng, found = question.rng(), []
    for k in [int(k) for k in question.params.get("k", SIZES)]:
        result = agreement(
            spectrum,
            candidates,
            k,
            rng=rng,
            surrogate=surrogate,  # type: ignore[arg-type]  # one of SURROGATES
            aggregator=aggregator,  # type: ignore[arg-type]  # one of AGGREGATORS
        )
        details = {
            "aggregator": aggregator,
            "surrogate": result.surrogate,
            "pilot_exact": float((distances == 0).mean()),
            "top1": result.top,
        }
        found.append(
            said.plain(
                result.exact,
                "simulated under a surrogate: no interval",
                scope=f"k={k}",
                unit=f"{aggregator} of {k}" if k > 1 else "single",
                n={**said.n, "pairs": int(distances.size), "runs": result.runs},
                details=details,
                seed=question.seed,
            )
        )
    return found


def _one_of(question: Question, name: str, known: tuple[str, ...]) -> str:
    value = str(question.params.get(name, known[0]))
    if value not in known:
        raise InputError("params", name, f"{value!r}", f"one of {', '.join(known)}")
    return value


AGGREGATION_AGREEMENT = Statistic(
    name="aggregation_agreement",
    compute=aggregation_agreement,
    reads=("ranking",),
    kind="plain",
    bounds=(0.0, 1.0),
    least_units=0,
    claims=words("ranking top1"),
    over=PAIRS,
    needs=words("repeats"),
    better="high",
    label="two aggregates of k calls agree",
    unit="share",
    subject="precision",
    params=(
        numbers("k", "calls an aggregate", 1),
        choice("aggregator", "how calls are joined", *AGGREGATORS),
        choice("surrogate", "what calls share", *SURROGATES),
    ),
    why_no_gate=DESIGNS,
    covered=None,
    answers=(),
    defaults=frozenset(),
    told=frozenset(),
    example=None,
    per_pair=False,
    whole_table=False,
    floor=False,
    kappa=None,
    greatest=False,
    redesigns=frozenset(),
)
