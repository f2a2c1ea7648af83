"""What a table of verdicts or rankings tells: flips, majorities, orders, gold.

An unparsed verdict is a category of its own by default, because an item that sometimes has no
verdict is no repeatable item; the numbers without such verdicts stand beside.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from judgeaudit.analysis.build import Context
from judgeaudit.analysis.estimate import Estimate
from judgeaudit.analysis.exact import exact_mean
from judgeaudit.readings.sheet import Sheet
from judgeaudit.stats.agreement import (
    category_counts,
    effective_proportion,
    flip_rate,
    gwet_ac1,
)
from judgeaudit.stats.excess import excess_disagreement
from judgeaudit.stats.interval import Undefined
from judgeaudit.stats.scaled import disagreement_bound
from judgeaudit.stats.weighted import alpha_estimate, weighted_kappa

Ints = NDArray[np.int64]


def perfect(sheet: Sheet) -> bool:
    """Return whether every item has one answer over all its runs, and some have two runs."""
    codes, _ = sheet.codes(invalid_as_category=True)
    seen = codes >= 0
    twice = seen.sum(axis=1) >= 2
    if not twice.any() or not sheet.valid[sheet.index >= 0].any():
        return False
    most = codes.max(axis=1)
    least = np.where(seen, codes, np.iinfo(np.int64).max).min(axis=1)
    return bool((most == least)[twice].all())


def estimates(
    sheet: Sheet, said: Context, gap: float | None, pass_at: float | None
) -> tuple[list[Estimate], dict[str, Any]]:
    """Return the estimates of one part and the facts that stand beside them."""
    clusters = sheet.per_item(sheet.long.task)
    if clusters is not None:
        said = replace(said, question=replace(said.question, cluster="task"))
    found: list[Estimate] = []
    if np.unique(sheet.orders).size > 1:
        found += _orders(sheet, said, clusters)
    else:
        found += _flips(sheet, said, clusters)
    found += _gold(sheet, said, clusters)
    return found, _facts(sheet)


def _named(said: Context, name: str, codes: Ints) -> Context:
    valid = codes[codes >= 0]
    if not valid.size:
        return replace(said, analysis=name)
    counts = np.bincount(valid)
    details = {"levels": int((counts > 0).sum()), "top_share": float(counts.max() / valid.size)}
    return replace(said, analysis=name, details=details)


def _flips(sheet: Sheet, said: Context, clusters: Ints | None) -> list[Estimate]:
    whole, categories = sheet.codes(invalid_as_category=True)
    valid, q = sheet.codes()
    if not (valid >= 0).any():  # that nothing was answered twice is no agreement
        names = ("flip_rate", "alpha", "ac1")
        return [replace(said, analysis=name).none("no valid verdict") for name in names]
    found = [_flip("flip_rate", whole, categories, said, clusters)]
    if categories > q:
        found.append(_flip("flip_rate_valid_only", valid, q, said, clusters))
    found += _chance_corrected(whole, categories, said, clusters)
    return found


def _flip(
    name: str, codes: Ints, categories: int, said: Context, clusters: Ints | None
) -> Estimate:
    named = _named(said, name, codes)
    share = flip_rate(codes, max(categories, 1), clusters)
    if isinstance(share, Undefined):
        return named.none(share.reason)
    counts = category_counts(codes, max(categories, 1)).astype(np.int64)
    k = counts.sum(axis=1)
    pairs = k * (k - 1)
    exact = exact_mean(pairs - (counts * (counts - 1)).sum(axis=1), pairs)
    flipped = int(((counts > 0).sum(axis=1)[k >= 2] > 1).sum())
    n = {**named.n, "items": share.items, "pairs": int(share.pairs), "items_that_flipped": flipped}
    details = dict(named.details)
    if share.value == 0:
        details["disagreement_at_most"] = disagreement_bound(share.items, named.question.level).high
    excluded = {**named.excluded, **({"single_reading": share.single} if share.single else {})}
    return named.of(share, exact=exact, n=n, excluded=excluded, details=details)


def _chance_corrected(
    codes: Ints, categories: int, said: Context, clusters: Ints | None
) -> list[Estimate]:
    declared = max(2, categories)
    n = {**said.n, "items": int(((codes >= 0).sum(axis=1) >= 2).sum())}
    found = [
        _named(said, "alpha", codes).of(alpha_estimate(codes, declared, tasks=clusters), n=n),
        _named(said, "ac1", codes).of(gwet_ac1(codes, declared, clusters), n=n),
    ]
    if codes.shape[1] == 2:
        found.append(_kappa("kappa", codes[:, 0], codes[:, 1], declared, said, clusters))
    return found


def _kappa(
    name: str, first: Ints, second: Ints, categories: int, said: Context, clusters: Ints | None
) -> Estimate:
    named = _named(said, name, np.concatenate([first, second]))
    found = weighted_kappa(first, second, max(2, categories), tasks=clusters)
    return named.of(found, n={**said.n, "items": int(((first >= 0) & (second >= 0)).sum())})


def _orders(sheet: Sheet, said: Context, clusters: Ints | None) -> list[Estimate]:
    """Return agreement over two orders and what the order adds, where that can be told."""
    names = np.unique(sheet.orders)
    if names.size != 2:
        why = f"{names.size} orders: the comparison takes two"
        return [replace(said, analysis="order_flip").none(why)]
    found = []
    for name, as_category in (("order_flip", True), ("order_flip_valid_only", False)):
        codes, categories = sheet.codes(invalid_as_category=as_category)
        if not as_category and bool(sheet.valid[sheet.index >= 0].all()):
            continue
        first, second = (codes[:, sheet.orders == order] for order in names)
        suffix = "" if as_category else "_valid_only"
        found.append(_across(name, first, second, said, clusters))
        if first.shape[1] == second.shape[1] == 1:
            one, two = first[:, 0], second[:, 0]
            found.append(_kappa(f"kappa{suffix}", one, two, categories, said, clusters))
        elif as_category:
            found.append(_excess(first, second, categories, said, clusters))
    return found


def _across(name: str, first: Ints, second: Ints, said: Context, clusters: Ints | None) -> Estimate:
    """Return the mean share of unlike pairs, one reading of each order."""
    pairs = [(a, b) for a in range(first.shape[1]) for b in range(second.shape[1])]
    unlike = np.zeros(first.shape[0], dtype=np.int64)
    compared = np.zeros(first.shape[0], dtype=np.int64)
    for a, b in pairs:
        both = (first[:, a] >= 0) & (second[:, b] >= 0)
        compared += both
        unlike += both & (first[:, a] != second[:, b])
    named = _named(said, name, np.hstack([first, second]))
    exact = exact_mean(unlike, compared)
    if exact is None:
        return named.none("no item has a verdict in both orders")
    with np.errstate(invalid="ignore", divide="ignore"):
        shares = np.where(compared > 0, unlike / compared, np.nan)
    share = effective_proportion(shares, compared.astype(float), clusters)
    n = {**named.n, "comparisons": int(compared.sum()), "alike": int((compared - unlike).sum())}
    return named.of(share, exact=exact, n=n)


def _excess(
    first: Ints, second: Ints, categories: int, said: Context, clusters: Ints | None
) -> Estimate:
    named = _named(said, "order_excess", np.hstack([first, second]))
    found = excess_disagreement(first, second, max(2, categories), clusters)
    if isinstance(found, Undefined):
        return named.none(found.reason)
    details = {**named.details, "across": found.across.value, "within": found.within.value}
    return named.of(found.excess, details=details)


def _gold(sheet: Sheet, said: Context, clusters: Ints | None) -> list[Estimate]:
    """Return the share of readings that are the gold answer, an invalid reading being none."""
    gold, answers = sheet.long.gold, sheet.long.answers
    codes = sheet.per_item(gold)
    if gold is None or codes is None or answers is None:
        return []
    places = {str(label): code for code, label in enumerate(answers.labels)}
    wanted = np.array([*(places.get(str(label), -2) for label in gold.labels), -3])[codes]
    given = np.where(sheet.valid, np.append(answers.codes, -1)[sheet.index], -1)
    right = (given == wanted[:, None]).sum(axis=1)
    asked = np.where(codes >= 0, (sheet.index >= 0).sum(axis=1), 0)
    named = replace(said, analysis="gold_agreement")
    exact = exact_mean(right, asked)
    if exact is None:
        return [named.none("no item has a gold answer")]
    with np.errstate(invalid="ignore", divide="ignore"):
        shares = np.where(asked > 0, right / asked, np.nan)
    n = {**named.n, "comparisons": int(asked.sum()), "alike": int(right.sum())}
    share = effective_proportion(shares, asked.astype(float), clusters)
    return [named.of(share, exact=exact, n=n)]


def _facts(sheet: Sheet) -> dict[str, Any]:
    """Return the flip rate by majority, exact, and how many majorities are ties.

    Some call the share of runs unlike the item's majority the flip rate; it is about half of the
    chance that two runs differ.
    """
    codes, categories = sheet.codes(invalid_as_category=True)
    if not sheet.valid[sheet.index >= 0].any():
        return {"unlike_majority": None, "tied_majorities": 0}
    counts = category_counts(codes, max(categories, 1)).astype(np.int64)
    k = counts.sum(axis=1)
    most = counts.max(axis=1, initial=0)
    unlike = exact_mean(np.where(k >= 2, k - most, 0), np.where(k >= 2, k, 0))
    ties = int((((counts == most[:, None]) & (counts > 0)).sum(axis=1)[k >= 2] > 1).sum())
    by_majority = float(unlike) if isinstance(unlike, Fraction) else None
    return {"unlike_majority": by_majority, "tied_majorities": ties}
