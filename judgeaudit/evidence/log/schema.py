"""The columns of `attempts.parquet` and `readings.parquet`, each with its sentence.

The sentences travel in the files (field metadata `description`) and make up docs/log-schema.md.
"""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from judgeaudit.evidence.formats.spec import Column, LogFormat

VERSION = 2
"""The number of the format that is written. Version 0.1 wrote 1: `judgeaudit/evidence/formats`."""

ATTEMPTS, READINGS = "attempts.parquet", "readings.parquet"
PREVIOUS, ROW = "previous_digest", "row_digest"

_text, _int, _long, _float = pa.string(), pa.int32(), pa.int64(), pa.float64()
_time = pa.timestamp("ns", tz="UTC")


def _key(name: str, type_: pa.DataType, sentence: str) -> Column:
    return Column(name, type_, sentence, nullable=False)


_CHAIN = (
    _key(PREVIOUS, _text, "Digest of the row before; for the first row, of run, part and lock."),
    _key(ROW, _text, "SHA-256 over `previous_digest` and this row's values."),
)

ATTEMPT_COLUMNS: tuple[Column, ...] = (
    _key("call_id", _text, "The planned call; for preflight, an id that no plan has."),
    _key("attempt", _int, "Number of the try within its call, from 1."),
    _key("endpoint", _text, "Id of the endpoint as registered."),
    _key("condition", _text, "Registered condition; `preflight` for calls that test the way."),
    _key("window", _text, "Id of the window in which the attempt was reserved."),
    _key("repeat", _int, "Which repeat of the same bytes within the window, from 0."),
    _key("body_sha256", _text, "SHA-256 of the request body, byte for byte as sent."),
    _key("canonical_sha256", _text, "SHA-256 of the request body's RFC 8785 form."),
    _key("reserved_at", _time, "When the attempt was reserved, before its bytes could leave."),
    Column("sent_at", _time, "When sending began; null if it is not known to have begun."),
    Column("received_at", _time, "When the last byte of the response had arrived."),
    Column("ttfb_ms", _float, "Milliseconds from sending to the response's first byte."),
    Column("elapsed_ms", _float, "Milliseconds from sending to the end of the attempt."),
    Column("in_flight", _int, "Attempts under way at this endpoint when it was sent, itself too."),
    Column("status", _int, "HTTP status; null where no response came."),
    _key(
        "outcome",
        _text,
        "ok, http_error, bad_body | transport_error, timeout, cancelled | unresolved.",
    ),
    Column("error", _text, "What went wrong, in one line, without secrets."),
    Column(
        "responsibility", _text, "Whose failing it was: tool, user, transport, provider, model."
    ),
    Column("retry_after_ms", _long, "Wait that the response asked for, in milliseconds."),
    Column("response_body", pa.binary(), "Response body as stored: received bytes, redacted."),
    Column("received_sha256", _text, "SHA-256 of the body as received."),
    Column("stored_sha256", _text, "SHA-256 of the body as stored."),
    _key("redacted", pa.bool_(), "True if a secret was replaced in the body."),
    _key(
        "response_headers",
        pa.map_(_text, _text),
        "Response headers on the allow-list, names in lower case.",
    ),
    Column("request_id", _text, "The provider's id of the request."),
    Column("model_returned", _text, "Model that the response names, verbatim."),
    Column("fingerprint", _text, "System fingerprint that the response names, verbatim."),
    Column("service_tier", _text, "Service tier that the response names, verbatim."),
    Column("finish_reason", _text, "Why the answer ended, verbatim."),
    Column("prompt_tokens", _long, "Tokens of the prompt; null is not reported, never 0."),
    Column("completion_tokens", _long, "Tokens of the answer; null is not reported."),
    Column("cached_tokens", _long, "Prompt tokens read from a cache; null is not reported."),
    Column("reasoning_tokens", _long, "Tokens of hidden reasoning; null is not reported."),
    *_CHAIN,
)

READING_COLUMNS: tuple[Column, ...] = (
    _key("plan_index", _long, "Position in the frozen plan, from 0."),
    _key("call_id", _text, "The planned call."),
    _key("stage", _int, "Stage of the study, from 1."),
    _key("endpoint", _text, "Id of the endpoint as registered."),
    _key("item", _text, "Id of the item that is judged."),
    _key("group", _text, "What rankings are formed within."),
    _key("task", _text, "What items are nested in."),
    _key("arm", _text, "Which way the item was asked; `-` where there is one."),
    _key("condition", _text, "Registered condition under which it was asked."),
    _key("day", _int, "Day of the schedule."),
    _key("window", _text, "Window of the schedule."),
    _key("repeat", _int, "Which repeat of the same bytes within the window, from 0."),
    _key("draw", _int, "Which draw of an aggregate, from 0."),
    Column("body_sha256", _text, "SHA-256 of the frozen body; null if none could be rendered."),
    _key("status", _text, "`ok` for a value, `invalid` for a reason."),
    Column("reason", _text, "Why there is no value; null where there is one."),
    Column("detail", _text, "What was found instead of a value."),
    Column("number", _float, "A score on its scale, or a probability in [0, 1]."),
    Column("category", _text, "Verdict or choice, decoded to its meaning."),
    Column("label", _text, "The answer as it was given."),
    Column("ranking", pa.list_(_text), "Candidate ids, best first."),
    Column("text", _text, "Free text."),
    Column("mass", _float, "Summed probability of the registered labels."),
    Column("attempt", _int, "Attempt that the reading was made from."),
    *_CHAIN,
)

PARTS = {ATTEMPTS: ATTEMPT_COLUMNS, READINGS: READING_COLUMNS}

MANIFEST_FIELDS = (
    "format",
    "run",
    "number",
    "previous_manifest",
    "window",
    "stage",
    "clock",
    "lock_digest",
    "tool_version",
    "writer",
    "opened_at",
    "sealed_at",
    "journal",
    "parts",
    "ledger",
    "readings",
    "missing",
    "times",
)
"""What `manifest.json` holds."""


def columns_of(part: str, log: LogFormat) -> tuple[Column, ...]:
    """Return a part's columns in a format, those of the chain last."""
    return log.attempts if part == ATTEMPTS else log.readings


def schema(part: str, *, run: str, lock_digest: str, writer: str, log: LogFormat) -> pa.Schema:
    """Return a part's Arrow schema: columns with sentences, and the file's provenance."""
    fields = [
        pa.field(c.name, c.type, c.nullable, metadata={"description": c.sentence})
        for c in columns_of(part, log)
    ]
    provenance = {
        "judgeaudit.schema": log.schema_version,
        "judgeaudit.part": part,
        "judgeaudit.run": run,
        "judgeaudit.registration": lock_digest,
        "judgeaudit.writer": writer,
    }
    return pa.schema(fields, metadata=provenance)


def columns_markdown() -> str:
    """Return docs/log-schema.md: every column, its type, whether it can be null, its sentence."""
    lines = [
        "# Columns of a sealed log",
        "",
        f"Schema version `log/{VERSION}`. This page is made from the schema; a test compares both.",
        "",
        "File metadata names the schema version (`judgeaudit.schema`), part, run, the digest of",
        "the frozen registration's lock (`judgeaudit.registration`) and the writer's version.",
    ]
    for part, columns in PARTS.items():
        lines += ["", f"## {part}", "", *_table(columns)]
    return "\n".join(lines) + "\n"


def _table(columns: Sequence[Column]) -> list[str]:
    head = ["| column | type | null | meaning |", "| --- | --- | --- | --- |"]
    rows = [
        f"| `{c.name}` | {c.type} | {'yes' if c.nullable else 'no'} "
        f"| {c.sentence.replace('|', chr(92) + '|')} |"
        for c in columns
    ]
    return head + rows


if __name__ == "__main__":
    print(columns_markdown(), end="")
