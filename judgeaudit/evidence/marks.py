"""Marks by which one reply, told several times, can be known: ids, creation time, cache headers.

A cache between study and model answers a repeat with the bytes of the first reply. Such repeats
agree because they are one call, which says nothing about the judge. What gives them away is read
here from what the log has stored, so that logs of any version can be asked:

* the document's own `id` and `created`, which a provider makes anew for every generation;
* the provider's request id;
* a cache's word that it answered itself: `x-cache: HIT` and its relatives, `cache-status` with a
  `hit` (RFC 9211), an `age` or a number of hits above 0, `"cached": true` in the document.

A prompt cache is none of these: `cached_tokens` counts input that was not read again, and the
answer is generated anew.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from judgeaudit.evidence.log.caches import cache_hit
from judgeaudit.evidence.log.runs import sealed_runs
from judgeaudit.evidence.log.schema import ATTEMPTS
from judgeaudit.instrument.provider.lenient import count, filled, load_json, mapping
from judgeaudit.model import Outcome

_COLUMNS = (
    "call_id",
    "attempt",
    "endpoint",
    "window",
    "repeat",
    "body_sha256",
    "outcome",
    "request_id",
    "response_headers",
    "response_body",
)


@dataclass(frozen=True, slots=True)
class Mark:
    """What tells one reply from another. None is "not reported".

    `created` is in seconds since the epoch as the document says it; `cache` names the header or
    field by which a cache says that it answered, with its value.
    """

    call_id: str
    attempt: int
    endpoint: str
    window: str
    repeat: int
    body_sha256: str
    reply_id: str | None
    created: int | None
    request_id: str | None
    cache: str | None


def reply_marks(log: Path | str) -> Iterator[Mark]:
    """Yield a mark for every attempt of the sealed runs that ended in a reply, in sealed order.

    One row group of bodies is held at a time.
    """
    for run in sealed_runs(Path(log)):
        with pq.ParquetFile(run.folder / ATTEMPTS, pre_buffer=False) as file:
            for group in range(file.num_row_groups):
                for row in file.read_row_group(group, columns=list(_COLUMNS)).to_pylist():
                    if row["outcome"] == Outcome.OK:
                        yield mark_of(row)


def mark_of(row: Mapping[str, Any]) -> Mark:
    """Return the mark of one row of `attempts`."""
    document = _document(row["response_body"])
    headers = dict(row["response_headers"] or ())
    keys = {name: row[name] for name in _COLUMNS[:6]}
    return Mark(
        **keys,
        reply_id=filled(document.get("id")),
        created=count(document.get("created")),
        request_id=row["request_id"],
        cache=cache_hit(headers, document),
    )


def _document(body: bytes | None) -> Mapping[str, Any]:
    try:
        return mapping(load_json(body or b""))
    except ValueError:
        return {}
