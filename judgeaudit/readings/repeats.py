"""Whether the runs of a table are repeats: the same request, asked separately.

Rules of this module:

* A declared column (prompt, parameters, served model, candidate order) that differs between runs
  of one item refuses the comparison, naming the column and both values.
* Without a digest, prompt or request column nothing shows that the requests were the same: the
  repeats are "unverified", and the words test-retest are not used of them.
* Runs that agree perfectly, with no evidence of separate calls (none, or equal ids and times), may
  be one answer read from a cache: flagged, where there are `FEW` items or more.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from judgeaudit.errors import InputError
from judgeaudit.readings.sheet import Coded, Sheet

_SAME_REQUEST = """prompt prompt_sha256 prompt_hash prompt_digest prompt_id body_sha256 body_hash
request_sha256 request_hash request_body digest input_sha256 messages"""
_PARAMETERS = """temperature top_p top_k max_tokens max_completion_tokens params parameters
system_prompt served_model model_returned response_model model_version judge_model"""
_ORDERS = """candidate_order option_order answer_order order presentation_order permutation position
shuffle shuffle_seed"""
_CALLS = """request_id response_id completion_id call_id generation_id sent_at received_at created
created_at timestamp requested_at"""

SAME_REQUEST, PARAMETERS, ORDERS, CALLS = (
    frozenset(names.split()) for names in (_SAME_REQUEST, _PARAMETERS, _ORDERS, _CALLS)
)
"""Names of columns that tables use for what was sent, how, in which order, and as which call."""

DECLARED = SAME_REQUEST | PARAMETERS | ORDERS

FEW = 5
"""Fewer items that never differ are what any judge may give: no sign of a cache."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a part's columns say of its repeats.

    `same` names the columns that show one request; `separate` those that tell calls apart;
    `cached` says why the answers may come from a cache, empty if nothing says so.
    """

    same: tuple[str, ...]
    separate: tuple[str, ...]
    cached: str = ""

    @property
    def verified(self) -> bool:
        """True where a column shows that the repeats are of one request."""
        return bool(self.same)

    @property
    def title(self) -> str:
        """Return what the repeats may be called."""
        return "test-retest" if self.verified else "agreement of unverified repeats"


def evidence(sheet: Sheet, perfect: bool) -> Evidence:
    """Return the evidence of one part; raises `InputError` where a declared column differs."""
    long = sheet.long
    if long.redrawn and np.unique(sheet.runs).size > 1:
        raise InputError(long.source, "", long.redrawn, "these runs are no repeats of one request")
    for name, column in long.declared.items():
        _refuse_difference(sheet, name, column)
    same = tuple(name for name in long.declared if _base(name) in SAME_REQUEST)
    separate = tuple(name for name, column in long.calls.items() if _differs(sheet, column))
    return Evidence(same, separate, _cached(sheet, separate, perfect))


def _base(name: str) -> str:
    return name.lower().removeprefix("meta:")


def _refuse_difference(sheet: Sheet, name: str, column: Coded) -> None:
    cells = np.append(column.codes, -1)[sheet.index]
    if _base(name) in ORDERS and sheet.long.order is not None:
        return
    least = np.where(sheet.index >= 0, cells, np.iinfo(np.int32).max).min(axis=1)
    most = np.where(sheet.index >= 0, cells, -2).max(axis=1)
    different = np.flatnonzero(most > least)
    if not different.size:
        return
    row = int(different[0])
    item = sheet.long.item.labels[sheet.items[row]]
    values = [_text(column, int(code)) for code in (least[row], most[row])]
    raise InputError(
        sheet.long.source,
        f"column {name!r}",
        f"differs between runs of item {item!r}: {values[0]} and {values[1]}"
        f" ({different.size} of {sheet.items.size} items)",
        "runs that differ in it are no repeats; split them with --by",
    )


def _text(column: Coded, code: int) -> str:
    return "nothing" if code < 0 else repr(column.labels[code])[:60]


def _differs(sheet: Sheet, column: Coded) -> bool:
    """Return whether a column tells the runs of every item apart."""
    cells = np.append(column.codes, -1)[sheet.index]
    ordered = np.sort(cells, axis=1)
    unlike = (np.diff(ordered, axis=1) > 0) | (ordered[:, 1:] < 0)
    return bool(unlike.all()) and bool((cells >= 0).any())


def _cached(sheet: Sheet, separate: tuple[str, ...], perfect: bool) -> str:
    names = tuple(sheet.long.calls)
    if names and not separate and sheet.index.shape[1] > 1:
        return f"{', '.join(names)} equal between runs: one call may stand for several"
    if perfect and not separate and sheet.items.size >= FEW:
        return "every run gave the same answers and no column tells separate calls apart"
    return ""
