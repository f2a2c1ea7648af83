"""What a harness meant by sending the same bytes again: told from times and outcomes alone.

`CALLS` are the columns of a frame with one row a call. Among the answered calls of a harness with
equal bytes, in order of arrival, the first is `first`, however often it failed before. A later one
is

* `repeat` where it was sent while an earlier one was under way, so that no answer can have led to
  it, or where nearly all bodies of its kind came several times (epochs), `BY_DESIGN`;
* `after_unparsed` where the answer before it could not be read: the harness may have asked for
  another because of it;
* `unclear` otherwise: a harness that retries what *it* could not read looks the same.

A `repeat` is another draw. What is unclear or after unparsed is selected by what came before, and
enters no rate. A call without an answer is `failed`.
"""

from __future__ import annotations

import pandas as pd

BY_DESIGN = 0.9

CALLS = {
    "session": "The session, which is the window.",
    "day": "The UTC day on which the session began, counted from 1970-01-01.",
    "call_id": "The call.",
    "origin": "The harness's call that is asked again; the call itself for the harness's own.",
    "condition": '"harness" or "reask".',
    "repeat": "0 for the harness's own call, else which re-ask it is.",
    "endpoint": "The target.",
    "kind": "The kind's name.",
    "body": "Digest of the request's body.",
    "answered": "Whether a whole reply came.",
    "status": '"ok" for a valid reading, else "invalid".',
    "reason": "Why there is no valid reading.",
    "number": "The answer as a number.",
    "category": "The answer as a category.",
    "text": "The answer's text.",
    "reserved_at": "When it arrived, UTC nanoseconds.",
    "ended_at": "When its reply had arrived, or the end of it was known.",
    "in_flight": "Calls under way when it was sent, itself too.",
    "retry_count": "What its SDK says of its own retries; null where it says nothing.",
    "prompt_tokens": "As reported.",
    "cached_tokens": "As reported.",
    "reply_id": "The reply's own id.",
    "request_id": "The provider's id of the request.",
    "model_returned": "The model that the reply names.",
    "system": "What the harness says is judged.",
}


def classes(calls: pd.DataFrame) -> pd.Series:
    """Return the class of each of the harness's own calls, by the calls' index."""
    own = calls[calls["condition"].eq("harness")]
    own = own.sort_values(["session", "reserved_at"], kind="stable")
    found = dict.fromkeys(own.index, "failed")
    designed = _by_design(own)
    for (_, _, kind, _), group in own.groupby(
        ["session", "endpoint", "kind", "body"], sort=False, observed=True
    ):
        by_design = kind in designed
        rows = group[group["answered"]]
        found |= dict(zip(rows.index, _classes_of(rows, by_design), strict=True))
    return pd.Series(found, dtype=object)


def _classes_of(rows: pd.DataFrame, by_design: bool) -> list[str]:
    """Return the class of each answered call with equal bytes, in order of arrival."""
    told = []
    latest, last = -1, "ok"
    names = ["reserved_at", "ended_at", "status", "retry_count"]
    for number, (began, ended, status, retries) in enumerate(rows[names].itertuples(index=False)):
        if number == 0:
            told.append("first")
        elif began < latest:
            told.append("repeat")
        elif last != "ok":
            told.append("after_unparsed")
        else:
            told.append("repeat" if by_design and not retries > 0 else "unclear")
        latest, last = max(latest, ended), status
    return told


def _by_design(own: pd.DataFrame) -> set[str]:
    """Return the kinds of which nearly every body was answered several times in its session."""
    answered = own[own["answered"]]
    times = answered.groupby(["kind", "session", "body"], observed=True).size()
    if times.empty:
        return set()
    shares = (times >= 2).groupby("kind", observed=True).mean()
    return set(shares.index[shares >= BY_DESIGN])
