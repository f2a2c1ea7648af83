"""Label readouts: coverage, completeness, mass, and how far r moves on repeat (gate I-3S of CE).

* `label_coverage`: arms with both labels found / arms. `pair_completeness`: pairs with both arms
  valid / pairs. Over the planned arms, or with `denominator = "valid"` over the answered ones.
* `label_mass_median`, `label_mass_p01`: quantiles of the labels' summed probability over arms.
* `median_abs_delta_r`: median of |r - r'| over pairs of readings; for a pair of arms r is r_sym.
* `b_map`: median mapping bias (z_fwd - z_rev)/2 in logits, with quartiles and its split by truth.

An arm is a call; a pair is the two arms of one item asked at one time.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import partial

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from judgeaudit.analysis.build import Context, context, scale_use
from judgeaudit.analysis.estimate import Estimate
from judgeaudit.analysis.grid import column_pairs, layout
from judgeaudit.analysis.question import Question
from judgeaudit.analysis.resample import MIN_CLUSTERS, cluster_interval
from judgeaudit.model import Reason
from judgeaudit.readings.table import KEY
from judgeaudit.statistic import PAIRS, WHOLE, Example, Statistic, words
from judgeaudit.stats.agreement import effective_proportion
from judgeaudit.stats.interval import Undefined

FORWARD, REVERSED, BOTH = "fwd", "rev", "sym"
CLIP = 1e-4
MOST_LOGIT = math.log((1 - CLIP) / CLIP)
"""What the logit of a clipped probability is at most."""

UNDELIVERED = frozenset(
    {
        Reason.NO_REPLY,
        Reason.CAP_REACHED,
        Reason.WINDOW_CLOSED,
        Reason.UNRESOLVED,
        Reason.NO_MEMORY,
        Reason.STOPPED_BY_RULE,
        Reason.BAD_BODY,
    }
)
"""Reasons that are no property of an answer, because no answer came."""

Floats = NDArray[np.float64]


def logit(r: Floats) -> Floats:
    """Return ln(r / (1 - r)) of r clipped to [1e-4, 1 - 1e-4], as CE does."""
    clipped = np.clip(r, CLIP, 1 - CLIP)
    return np.asarray(np.log(clipped) - np.log1p(-clipped))


def symmetrised(part: pd.DataFrame) -> pd.DataFrame:
    """Return the table with the two arms of a pair joined into one row of arm "sym".

    `number` becomes r_sym = expit((z_fwd + z_rev)/2) and the column `b_map` (z_fwd - z_rev)/2; a
    pair with an invalid arm is invalid, with the first arm's reason. A table without the two arms
    comes back as it is, `b_map` null.
    """
    if not {FORWARD, REVERSED} <= set(part["arm"].unique()):
        return part.assign(b_map=np.nan)
    keys = [key for key in KEY if key != "arm"]
    arms = {arm: part[part["arm"].eq(arm)].set_index(keys) for arm in (FORWARD, REVERSED)}
    other = arms[REVERSED][["number", "status", "reason"]].add_suffix("_rev")
    joined = arms[FORWARD].join(other, how="inner")
    ok = joined["status"].eq("ok") & joined["status_rev"].eq("ok")
    z_fwd, z_rev = (logit(joined[name].to_numpy(float)) for name in ("number", "number_rev"))
    reason = joined["reason"].where(joined["reason"].notna(), joined["reason_rev"])
    joined = joined.assign(
        arm=BOTH,
        number=np.where(ok, 1 / (1 + np.exp(-(z_fwd + z_rev) / 2)), np.nan),
        b_map=np.where(ok, (z_fwd - z_rev) / 2, np.nan),
        status=np.where(ok, "ok", "invalid"),
        reason=reason.where(~ok, None),
    )
    return joined.drop(columns=[c for c in joined if str(c).endswith("_rev")]).reset_index()


def label_coverage(part: pd.DataFrame, question: Question) -> list[Estimate]:
    """Return the share of arms in which both labels were found."""
    return [_coverage("label_coverage", part, question, "arms")]


def pair_completeness(part: pd.DataFrame, question: Question) -> list[Estimate]:
    """Return the share of pairs of arms with both valid."""
    if not {FORWARD, REVERSED} <= set(part["arm"].unique()):
        said = context("pair_completeness", part, question)
        return [said.none("needs the two arms of a label pair")]
    return [_coverage("pair_completeness", symmetrised(part), question, "pairs")]


def _coverage(name: str, part: pd.DataFrame, question: Question, unit: str) -> Estimate:
    delivered = ~part["reason"].isin(UNDELIVERED)
    kept = part if question.denominator == "planned" else part[delivered]
    said = context(name, part, question)
    if not len(kept):
        return said.none("no arm got a reply", missing=1.0)
    return share_of_rows(kept["status"].eq("ok"), kept, said, question, unit, len(part))


def share_of_rows(
    hits: pd.Series, kept: pd.DataFrame, said: Context, question: Question, unit: str, planned: int
) -> Estimate:
    """Return hits / rows, exact, with an interval whose unit is the question's cluster.

    Rows count alike; those of one cluster may share their fate. `planned` counts all rows that
    were planned, for the bounds that the missing ones leave open.
    """
    total, found = len(kept), int(hits.sum())
    codes = pd.factorize(kept["task" if question.cluster in ("task", "world") else "item"])[0]
    proportion = effective_proportion(hits.to_numpy(dtype=float), None, codes)
    missing = planned - total
    return said.of(
        proportion,
        exact=Fraction(found, total),
        n={**said.n, unit: total, "found": found, "planned": planned},
        missing=missing / planned,
        worst=(found / planned, (found + missing) / planned),
    )


def label_mass_median(part: pd.DataFrame, question: Question) -> list[Estimate]:
    """Return the median of the labels' summed probability over valid arms."""
    return [_mass("label_mass_median", part, question, 0.5)]


def label_mass_p01(part: pd.DataFrame, question: Question) -> list[Estimate]:
    """Return the 1st percentile of the labels' summed probability over valid arms."""
    return [_mass("label_mass_p01", part, question, 0.01)]


def _mass(name: str, part: pd.DataFrame, question: Question, share: float) -> Estimate:
    valid = part[part["status"].eq("ok") & part["mass"].notna()]
    said = context(name, part, question)
    return quantile(valid["mass"].to_numpy(float), valid, share, said, (0.0, 1.0), len(part))


def quantile(
    values: Floats,
    rows: pd.DataFrame,
    share: float,
    said: Context,
    bounds: tuple[float, float],
    planned: int,
    **fields: object,
) -> Estimate:
    """Return a quantile of `values` (one a row of `rows`) with a bootstrap over clusters.

    `bounds` are the least and greatest values that a missing one could have; with them stands
    what the quantile could have been.
    """
    if not values.size:
        return said.none("no valid value", missing=1.0 if planned else None)
    question = said.question
    cluster = "task" if question.cluster in ("task", "world") else "item"
    codes = pd.factorize(rows[cluster])[0]
    found = cluster_interval(
        lambda chosen: float(np.quantile(values[chosen], share)),
        codes,
        rng=question.rng(),
        level=question.level,
        unit=cluster,
    )
    if np.ptp(values) == 0:
        found = Undefined("every value is the same")
    lacking = planned - values.size
    worst = tuple(
        float(np.quantile(np.append(values, np.full(lacking, end)), share)) for end in bounds
    )
    return said.bounded(
        float(np.quantile(values, share)),
        found,
        seed=question.seed,
        missing=lacking / planned,
        worst=(worst[0], worst[1]),
        **fields,
    )


def median_abs_delta_r(part: pd.DataFrame, question: Question) -> list[Estimate]:
    """Return the median of |r - r'| over the question's pairs of readings of one point.

    Quartiles, p90, p95 and the greatest stand in the details.
    """
    said = context("median_abs_delta_r", part, question)
    grid = layout(symmetrised(part))
    values, rows, planned = [], [], 0
    r = grid.numbers()
    for a, b in column_pairs(grid.columns, question.over):
        both = grid.planned[:, a] & grid.planned[:, b]
        delta = np.abs(r[:, a] - r[:, b])
        seen = both & ~np.isnan(delta)
        planned += int(both.sum())
        values.append(delta[seen])
        rows.append(grid.rows[seen])
    if not planned:
        return [said.none("no point was asked twice over these pairs")]
    deltas = np.concatenate(values)
    spread = _spread(deltas) if deltas.size else {}
    n = {**said.n, "pairs": int(deltas.size), "planned_pairs": planned}
    details = {**scale_use(r.ravel()), **spread}
    frame = pd.concat(rows, ignore_index=True)
    return [quantile(deltas, frame, 0.5, said, (0.0, 1.0), planned, n=n, details=details)]


def _spread(values: Floats) -> dict[str, object]:
    shares = {"q25": 0.25, "q75": 0.75, "p90": 0.9, "p95": 0.95, "max": 1.0}
    return {name: float(np.quantile(values, share)) for name, share in shares.items()}


def b_map(part: pd.DataFrame, question: Question) -> list[Estimate]:
    """Return the median mapping bias in logits; above 0 favours the forward mapping.

    Details: quartiles, p95 of |b_map|, and the median on correct and on incorrect candidates,
    whose difference says whether the bias interacts with truth.
    """
    joined = symmetrised(part)
    said = context("b_map", joined, question)
    valid = joined[joined["status"].eq("ok") & joined["b_map"].notna()]
    if not len(valid):
        return [said.none("needs pairs of arms with both valid")]
    bias = valid["b_map"].to_numpy(float)
    details = {
        "q25": float(np.quantile(bias, 0.25)),
        "q75": float(np.quantile(bias, 0.75)),
        "p95_abs": float(np.quantile(np.abs(bias), 0.95)),
    }
    limit = float(logit(np.array(1.0)))
    scopes = [("all", np.ones(len(valid), dtype=bool))]
    truth = valid["correct"]
    for value in (True, False):
        chosen = truth.eq(value).to_numpy(dtype=bool)
        if chosen.any():
            scopes.append((f"correct={str(value).lower()}", chosen))
    planned = {"all": len(joined)}
    return [
        quantile(
            bias[chosen],
            valid[chosen],
            0.5,
            said,
            (-limit, limit),
            planned.get(scope, int(chosen.sum())),
            scope=scope,
            details=details if scope == "all" else {},
            n={**said.n, "pairs": int(chosen.sum())},
        )
        for scope, chosen in scopes
    ]


_label = partial(
    Statistic,
    claims=words("probability"),
    answers=(),
    params=(),
    per_pair=False,
    whole_table=False,
    floor=False,
    kappa=None,
    greatest=False,
    redesigns=frozenset(),
    why_no_gate="",
    covered=None,
)

STATISTICS = (
    _label(
        name="label_coverage",
        compute=label_coverage,
        told=frozenset(),
        reads=("number",),
        kind="share",
        bounds=(0.0, 1.0),
        least_units=2,
        over=WHOLE,
        needs=frozenset(),
        better="high",
        label="arms with both labels found",
        unit="share",
        subject="instrument",
        defaults=words("label_logprob label_pair"),
        example=None,
    ),
    _label(
        name="pair_completeness",
        compute=pair_completeness,
        told=frozenset(),
        reads=("number",),
        kind="share",
        bounds=(0.0, 1.0),
        least_units=2,
        over=WHOLE,
        needs=words("arms"),
        better="high",
        label="pairs of arms with both valid",
        unit="share",
        subject="instrument",
        defaults=words("label_pair"),
        example=None,
    ),
    _label(
        name="label_mass_median",
        compute=label_mass_median,
        told=frozenset(),
        reads=("mass",),
        kind="plain",
        bounds=(0.0, 1.0),
        least_units=MIN_CLUSTERS,
        over=WHOLE,
        needs=frozenset(),
        better="high",
        label="probability of the labels, median",
        unit="probability",
        subject="instrument",
        defaults=words("label_logprob"),
        example=None,
    ),
    _label(
        name="label_mass_p01",
        compute=label_mass_p01,
        told=frozenset(),
        reads=("mass",),
        kind="plain",
        bounds=(0.0, 1.0),
        least_units=MIN_CLUSTERS,
        over=WHOLE,
        needs=frozenset(),
        better="high",
        label="probability of the labels, 1st percentile",
        unit="probability",
        subject="instrument",
        defaults=frozenset(),
        example=None,
    ),
    _label(
        name="median_abs_delta_r",
        compute=median_abs_delta_r,
        told=words("probability"),
        reads=("number",),
        kind="positive",
        bounds=(0.0, 1.0),
        least_units=MIN_CLUSTERS,
        over=PAIRS,
        needs=words("repeats"),
        better="low",
        label="change of r between two readings, median",
        unit="probability",
        subject="precision",
        defaults=words("label_logprob label_pair"),
        example=Example(words("label_logprob label_pair"), "at_most = 0.03", "0.01", "0.06"),
    ),
    _label(
        name="b_map",
        compute=b_map,
        told=frozenset(),
        reads=("number",),
        kind="plain",
        bounds=(-MOST_LOGIT, MOST_LOGIT),
        least_units=MIN_CLUSTERS,
        over=WHOLE,
        needs=words("arms"),
        better="",
        label="mapping bias, median",
        unit="logits",
        subject="precision",
        defaults=words("label_pair"),
        example=None,
    ),
)
