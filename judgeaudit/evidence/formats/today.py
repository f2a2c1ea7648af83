"""The format that this version writes. Its lists follow the code; it has a number of its own.

While a number is unreleased its lists may grow. With a release they are frozen: copied literally
into a folder beside `v1`, and the number here goes up.
"""

from __future__ import annotations

from dataclasses import fields

from judgeaudit.evidence.formats.spec import LogFormat
from judgeaudit.evidence.log.records import ATTEMPT_FIELDS, IDENTITY, Opening
from judgeaudit.evidence.log.schema import (
    ATTEMPT_COLUMNS,
    MANIFEST_FIELDS,
    READING_COLUMNS,
    VERSION,
)
from judgeaudit.model import Outcome

LOG = LogFormat(
    number=VERSION,
    opening=tuple(field.name for field in fields(Opening)),
    identity=IDENTITY,
    attempt=ATTEMPT_FIELDS,
    outcomes=tuple(outcome.value for outcome in Outcome),
    attempts=ATTEMPT_COLUMNS,
    readings=READING_COLUMNS,
    manifest=MANIFEST_FIELDS,
)
