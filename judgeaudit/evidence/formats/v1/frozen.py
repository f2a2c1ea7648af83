"""Columns of what 0.1 froze: plan, bodies, a later stage's calls. Never changed."""

from __future__ import annotations

import pyarrow as pa

from judgeaudit.design.tables import FrozenTables

_text, _count = pa.string(), pa.int16()

PLAN = pa.schema(
    [
        ("plan_index", pa.int64()),
        ("call_id", _text),
        ("stage", _count),
        ("endpoint", _text),
        ("item", _text),
        ("group", _text),
        ("task", _text),
        ("arm", _text),
        ("condition", _text),
        ("day", _count),
        ("window", _text),
        ("repeat", _count),
        ("draw", _count),
        ("body_sha256", _text),
        ("derivation_sha256", _text),
    ]
)

BODIES = pa.schema(
    [
        ("body_sha256", _text),
        ("prompt_sha256", _text),
        ("endpoint", _text),
        ("url", _text),
        ("path", _text),
        ("headers", _text),
        ("body", pa.binary()),
    ]
)

STAGE_CALLS = pa.schema(
    [
        ("call_id", _text),
        ("body_sha256", _text),
        ("reason", _text),
        ("detail", _text),
        ("taken", _text),
    ]
)

TABLES = FrozenTables(number=1, plan=PLAN, bodies=BODIES, stage_calls=STAGE_CALLS)
