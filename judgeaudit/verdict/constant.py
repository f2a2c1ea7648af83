"""Answers with next to nothing in them: what a judge that does not look would repeat as well.

* One answer to every item is a constant: it repeats itself perfectly and measures nothing.
* Answers are near-constant for a gate where one of them holds the share s >= `NEARLY` of the valid
  readings and a judge that draws each answer blindly with the frequencies seen here would meet the
  gate: blind readings agree with chance sum(p^2) over the answers' frequencies p. With s = 59/60
  that is .967, so that a gate of at most 5 % flips (.033 flip by chance) is met without looking.
* Where items have gold answers, a share that the gold has too is what the battery asks for:
  answers are near-constant only where s lies more than `ROOM` above the gold's own largest share.
* A category that at least `ROOM` of the gold answers name and no reading ever gave is absent: the
  judge was never seen to tell it from the others.
"""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from judgeaudit.design.criteria import Gate
from judgeaudit.verdict.compare import meets

NEARLY, ROOM = 0.9, 0.05
ANSWERS = ("label", "number", "category", "ranking", "text")
ALIKE = frozenset({"category_exact", "ranking_exact", "number_exact", "text_exact"})
"""Statistics that a blind judge meets by answering alike; those of `FLIPS` are their complement."""
FLIPS = frozenset({"flip_rate", "flip_rate_all_answers", "order_flip", "order_flip_all_answers"})


def one_answer(valid: pd.DataFrame) -> object | None:
    """Return the one answer that every item got, as given or decoded; None where there are two."""
    if valid["item"].nunique() < 2:
        return None
    for column in ANSWERS:
        values = valid[column].dropna()
        if len(values) == len(valid) and values.astype(str).nunique() == 1:
            found: object = values.iloc[0]
            return found
    return None


def near_constant(valid: pd.DataFrame, gate: Gate) -> str | None:
    """Return why a gate would be met without looking at the items; None where it would not."""
    if gate.statistic not in ALIKE | FLIPS:
        return None
    if valid["item"].nunique() < 2:
        return None
    shares = _answers(valid).value_counts(normalize=True)
    if not len(shares) or shares.iloc[0] < NEARLY or shares.iloc[0] <= _gold_share(valid) + ROOM:
        return None
    alike = float((shares**2).sum())
    blind = 1 - alike if gate.statistic in FLIPS else alike
    if not meets(blind, gate):
        return None
    return (
        f"{shares.iloc[0]:.1%} of the answers are {shares.index[0]!r}: a judge that draws its "
        f"answers blindly at these frequencies has {gate.statistic} {blind:.3f} and meets the "
        "gate; ask items whose right answers differ"
    )


def absent_categories(valid: pd.DataFrame) -> Iterator[tuple[str, int]]:
    """Yield (category, items) that the gold names for `ROOM` of its items and no reading gave."""
    gold = valid.drop_duplicates("item").set_index("item")["gold"].dropna().astype(str)
    given = set(_answers(valid)) | set(valid["label"].dropna().astype(str))
    kinds = valid["category"].notna().any()
    for name, count in gold.value_counts().items():
        if kinds and count >= ROOM * len(gold) and str(name) not in given:
            yield str(name), int(count)


def _answers(valid: pd.DataFrame) -> pd.Series:
    """Return each reading's decoded answer as text, the first column that holds one."""
    for column in ("category", "ranking", "number", "text", "label"):
        if valid[column].notna().any():
            return valid[column].dropna().astype(str)
    return valid["label"].dropna().astype(str)


def _gold_share(valid: pd.DataFrame) -> float:
    """Return the largest share of one gold answer; 0 where most items have none."""
    gold = valid.drop_duplicates("item")["gold"]
    if gold.notna().mean() <= 0.5:
        return 0.0
    return float(gold.dropna().astype(str).value_counts(normalize=True).iloc[0])
