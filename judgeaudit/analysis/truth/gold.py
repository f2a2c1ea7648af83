"""Agreement with gold: how often a reading is the item's right answer.

A verdict or choice is compared as text, a ranking by its first candidate, a probability r by
r > 1/2 against constructed truth. Repeats of one item count for that item alone: the estimate is
the mean over items of the share of right readings. A repeatable judge can be wrong, and a judge
that is often right can be unrepeatable; this number is no reliability.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from judgeaudit.analysis.build import context
from judgeaudit.analysis.estimate import Estimate
from judgeaudit.analysis.grid import layout
from judgeaudit.analysis.pairing import Counts, row_clusters, share
from judgeaudit.analysis.question import Question
from judgeaudit.statistic import WHOLE, Statistic, words


def gold_agreement(part: pd.DataFrame, question: Question) -> list[Estimate]:
    """Return the mean share of readings that equal gold; items without gold are counted."""
    right = rightness(part)
    known = right.notna() | (part["status"].eq("invalid") & has_gold(part))
    said = context("gold_agreement", part, question)
    without = int(part.loc[~has_gold(part), "item"].nunique())
    if not known.any():
        return [said.none("no item has a gold answer", excluded={"items_without_gold": without})]
    kept = part[known].assign(right=right[known].fillna(False).astype(bool))
    grid = layout(kept)
    correct = np.append(kept["right"].to_numpy(), False)
    alike = (correct[grid.index] & grid.valid).sum(axis=1)
    ones = np.ones(len(grid.rows), dtype=np.int64)
    counts = Counts(
        alike, ones, grid.valid.sum(axis=1), grid.planned.sum(axis=1), grid.clusters("item")
    )
    said = context("gold_agreement", kept, question, **_confusion(kept))
    excluded = {**said.excluded, **({"items_without_gold": without} if without else {})}
    over = question.over_pairs("gold")
    # Both arms of an item share its gold: the item, not the row, is what is independent.
    return [share(counts, said, over, row_clusters(grid, question), excluded=excluded)]


def has_gold(part: pd.DataFrame) -> pd.Series:
    """Return which rows have something to be right about."""
    return part["gold"].notna() | part["correct"].notna()


def rightness(part: pd.DataFrame) -> pd.Series:
    """Return True or False for each valid reading with gold, null elsewhere."""
    first = part["ranking"].map(lambda r: r[0] if isinstance(r, tuple) and r else None)
    category, label = (part[name].astype(object) for name in ("category", "label"))
    answer = category.where(category.notna(), first)
    answer = answer.where(answer.notna(), label.where(part["number"].isna()))
    right = pd.Series(pd.NA, index=part.index, dtype="boolean")
    told = part["status"].eq("ok") & answer.notna() & part["gold"].notna()
    right[told] = answer[told].astype(str).eq(part.loc[told, "gold"].astype(str))
    scored = part["status"].eq("ok") & part["number"].notna() & part["correct"].notna()
    scored &= part["number"].between(0, 1)
    above = part.loc[scored, "number"] > 0.5
    right[scored] = above.eq(part.loc[scored, "correct"].astype(bool))
    return right


def _confusion(kept: pd.DataFrame) -> dict[str, object]:
    """Return accuracy by gold answer, for those with at most twelve different ones."""
    by = kept["gold"].where(kept["gold"].notna(), kept["correct"].map(str))
    if by.nunique() > 12:
        return {}
    valid = kept["status"].eq("ok")
    shares = kept.loc[valid, "right"].groupby(by[valid].astype(str)).agg(["sum", "size"])
    return {"by_gold": {str(k): f"{int(r['sum'])}/{int(r['size'])}" for k, r in shares.iterrows()}}


GOLD_AGREEMENT = Statistic(
    name="gold_agreement",
    compute=gold_agreement,
    told=words("verdict"),
    reads=("category", "ranking", "number", "label"),
    kind="share",
    bounds=(0.0, 1.0),
    least_units=2,
    claims=words("verdict choice ranking top1 probability"),
    over=("gold", *WHOLE),
    needs=words("gold"),
    better="high",
    label="readings equal to gold",
    unit="share",
    covered=None,
    answers=(),
    subject="truth",
    defaults=words("verdict choice"),
    example=None,
    params=(),
    per_pair=False,
    whole_table=False,
    floor=False,
    kappa=None,
    greatest=False,
    redesigns=frozenset(),
    why_no_gate="",
)
