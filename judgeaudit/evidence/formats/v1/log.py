"""Field lists of the log that 0.1 wrote: journal records, parts, manifest. Never changed."""

from __future__ import annotations

import pyarrow as pa

from judgeaudit.evidence.formats.spec import Column, LogFormat

_text, _int, _long, _float = pa.string(), pa.int32(), pa.int64(), pa.float64()
_time = pa.timestamp("ns", tz="UTC")


def _key(name: str, type_: pa.DataType) -> Column:
    return Column(name, type_, nullable=False)


ATTEMPTS = (
    _key("call_id", _text),
    _key("attempt", _int),
    _key("endpoint", _text),
    _key("condition", _text),
    _key("window", _text),
    _key("repeat", _int),
    _key("body_sha256", _text),
    _key("canonical_sha256", _text),
    _key("reserved_at", _time),
    Column("sent_at", _time),
    Column("received_at", _time),
    Column("ttfb_ms", _float),
    Column("elapsed_ms", _float),
    Column("in_flight", _int),
    Column("status", _int),
    _key("outcome", _text),
    Column("error", _text),
    Column("responsibility", _text),
    Column("retry_after_ms", _long),
    Column("response_body", pa.binary()),
    Column("received_sha256", _text),
    Column("stored_sha256", _text),
    _key("redacted", pa.bool_()),
    _key("response_headers", pa.map_(_text, _text)),
    Column("request_id", _text),
    Column("model_returned", _text),
    Column("fingerprint", _text),
    Column("service_tier", _text),
    Column("finish_reason", _text),
    Column("prompt_tokens", _long),
    Column("completion_tokens", _long),
    Column("cached_tokens", _long),
    Column("reasoning_tokens", _long),
    _key("previous_digest", _text),
    _key("row_digest", _text),
)

READINGS = (
    _key("plan_index", _long),
    _key("call_id", _text),
    _key("stage", _int),
    _key("endpoint", _text),
    _key("item", _text),
    _key("group", _text),
    _key("task", _text),
    _key("arm", _text),
    _key("condition", _text),
    _key("day", _int),
    _key("window", _text),
    _key("repeat", _int),
    _key("draw", _int),
    Column("body_sha256", _text),
    _key("status", _text),
    Column("reason", _text),
    Column("detail", _text),
    Column("number", _float),
    Column("category", _text),
    Column("label", _text),
    Column("ranking", pa.list_(_text)),
    Column("text", _text),
    Column("mass", _float),
    Column("attempt", _int),
    _key("previous_digest", _text),
    _key("row_digest", _text),
)

OPENING = (
    "run",
    "window",
    "stage",
    "lock_digest",
    "previous_manifest",
    "tool_version",
    "host",
    "pid",
    "clock",
    "opened_at",
)

IDENTITY = (
    "call_id",
    "attempt",
    "endpoint",
    "condition",
    "window",
    "repeat",
    "body_sha256",
    "canonical_sha256",
    "reserved_at",
)

ATTEMPT = (
    "call_id",
    "attempt",
    "endpoint",
    "condition",
    "window",
    "repeat",
    "body_sha256",
    "canonical_sha256",
    "reserved_at",
    "sent_at",
    "received_at",
    "ttfb_ms",
    "elapsed_ms",
    "in_flight",
    "status",
    "outcome",
    "error",
    "responsibility",
    "retry_after_ms",
    "response_body",
    "received_sha256",
    "stored_sha256",
    "redacted",
    "response_headers",
    "request_id",
    "model_returned",
    "fingerprint",
    "service_tier",
    "finish_reason",
    "prompt_tokens",
    "completion_tokens",
    "cached_tokens",
    "reasoning_tokens",
)

OUTCOMES = (
    "ok",
    "http_error",
    "bad_body",
    "transport_error",
    "timeout",
    "cancelled",
    "unresolved",
)

MANIFEST = (
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

LOG = LogFormat(
    number=1,
    opening=OPENING,
    identity=IDENTITY,
    attempt=ATTEMPT,
    outcomes=OUTCOMES,
    attempts=ATTEMPTS,
    readings=READINGS,
    manifest=MANIFEST,
)
