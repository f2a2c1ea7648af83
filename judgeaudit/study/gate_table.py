"""The gate of a table: somebody's readings held against a registration's criteria.

The table has the columns of `judgeaudit.readings.table` (sealed readings have them); `--item`,
`--repeat` and `--value` name others. An empty or unreadable answer is an invalid reading and counts
as such. A Parquet file that names the registration it was made under must name this one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judgeaudit.errors import InputError, RegistrationError

if TYPE_CHECKING:
    import pandas as pd

    from judgeaudit.design.document import Registration
    from judgeaudit.model import Item
    from judgeaudit.verdict.blockers import Bar
    from judgeaudit.verdict.gate_report import GateReport

VALUES = {
    "label_logprob": "number",
    "label_pair": "number",
    "score": "number",
    "verdict": "category",
    "choice": "category",
    "ranking": "ranking",
    "text": "text",
}
ALIASES = {"number": "score", "category": "verdict"}
FLAG = b"judgeaudit.registration"
NOTHING = ("no rows", "empty file")
"""What `read_source` finds in a table without readings: no evidence (3), where others refuse it."""


@dataclass(frozen=True, slots=True)
class Columns:
    """Names of columns where they are not the usual ones."""

    item: str | None = None
    repeat: str | None = None
    value: str | None = None


@dataclass(frozen=True, slots=True)
class Criteria:
    """What a registration gives a table's gate."""

    registration: Registration
    items: Sequence[Item]
    readout: str
    locks: tuple[str, ...] = ()


def gate_table(path: Path, registration: Path, columns: Columns) -> GateReport:
    """Return the report on a table; raises `InputError` for what cannot be read."""
    from judgeaudit.readings.table import candidate_frame, from_readings
    from judgeaudit.verdict import evaluate
    from judgeaudit.verdict.blockers import bars
    from judgeaudit.verdict.gate_report import Asked, GateReport

    criteria = criteria_of(registration)
    found = criteria.registration
    if found.sequential is not None:
        raise InputError(registration, "sequential", "a table cannot be asked in blocks")
    frame, bar = read_frame(path, columns, criteria)
    about = {"table": path.name, "lock_digest": criteria.locks[-1] if criteria.locks else None}
    if bar is not None or not len(frame):
        empty = [] if bar is not None else bars(found, frame.assign(control=None, endpoint="all"))
        return GateReport(found.study.id, bars=(*([bar] if bar else []), *empty), about=about)
    table = from_readings(frame, criteria.items)
    probes = [item for item in criteria.items if "control" not in item.meta]
    findings = evaluate(found, table, candidate_frame(probes))
    return GateReport(
        study=found.study.id,
        verdicts=findings.verdicts,
        bars=tuple(bars(found, table)),
        asked=Asked(len(table), len(table), ended=f"read from {path.name}"),
        about=about,
    )


def criteria_of(path: Path) -> Criteria:
    """Return the criteria of a frozen study, a study's folder or a registration's file.

    Raises `RegistrationError` for a registration with problems.
    """
    from judgeaudit.design.layout import FROZEN
    from judgeaudit.evidence.lock.files import load_frozen
    from judgeaudit.evidence.lock.sources import load_study

    if (path / FROZEN).is_dir():
        frozen = load_frozen(path)
        readout = frozen.protocol.all_stages()[-1].readout
        locks = tuple(str(lock) for lock in frozen.locks)
        return Criteria(frozen.registration, tuple(frozen.items.values()), readout, locks)
    draft = load_study(path) if path.is_dir() else load_study(path.parent, path.name)
    if draft.problems or draft.registration is None or draft.protocol is None:
        raise RegistrationError(path, draft.problems)
    readout = draft.protocol.all_stages()[-1].readout
    return Criteria(draft.registration, (*draft.items, *draft.controls), readout)


def read_frame(path: Path, columns: Columns, criteria: Criteria) -> tuple[pd.DataFrame, Bar | None]:
    """Return the table's rows with a status each, or the bar of another registration."""
    import pandas as pd

    from judgeaudit.readings.table import COLUMNS, IDENTITY
    from judgeaudit.tables.files import read_source

    value = VALUES[criteria.readout]
    given = {columns.item: "item", columns.repeat: "repeat", columns.value: value}
    named = {name: role for name, role in given.items() if name is not None}
    known = {*COLUMNS, *IDENTITY, *ALIASES.values()}
    try:
        source = read_source(path, list(named), known)
    except InputError as error:
        if error.found not in NOTHING:
            raise
        return pd.DataFrame(), None
    for name in named:
        if name not in source.header:
            raise InputError(path.name, f"column {name!r}", "missing", source.columns())
    frame = source.table.to_pandas()
    if (bar := _another(source.table.schema.metadata or {}, criteria)) is not None:
        return frame, bar
    frame = frame.astype(object).where(frame.notna(), None).rename(columns=named)
    if value not in frame and ALIASES.get(value) in frame:
        frame = frame.rename(columns={ALIASES[value]: value})
    for name in ("item", value):
        if name not in frame:
            raise InputError(path.name, f"column {name!r}", "missing", source.columns())
    frame = frame[[n for n in frame if n in known]]
    if "endpoint" not in frame and len(criteria.registration.endpoints) == 1:
        frame["endpoint"] = criteria.registration.endpoints[0].id
    return (frame if "status" in frame else _with_status(frame, value)), None


def _another(metadata: dict[bytes, bytes], criteria: Criteria) -> Bar | None:
    from judgeaudit.verdict.blockers import Bar

    named = metadata.get(FLAG, b"").decode()
    if not named or named in criteria.locks:
        return None
    held = criteria.locks[-1] if criteria.locks else "one that is not frozen"
    return Bar("other_registration", f"the readings were made under {named}, this is {held}")


def _with_status(frame: pd.DataFrame, value: str) -> pd.DataFrame:
    """Return rows with status and reason: an empty answer and one that is no value are invalid."""
    read = [_value(given, value) for given in frame[value]]
    reasons: list[str | None] = [
        None if got is not None else "empty" if given is None else "unparsed"
        for got, given in zip(read, frame[value], strict=True)
    ]
    status = ["ok" if reason is None else "invalid" for reason in reasons]
    return frame.assign(**{value: read, "status": status, "reason": reasons})


def _value(given: Any, value: str) -> Any:
    import math

    from judgeaudit.tables.rankings import candidates_in

    if given is None:
        return None
    if value == "ranking":
        return candidates_in(str(given))
    if value != "number":
        return str(given)
    try:
        number = float(given)
    except (TypeError, ValueError):
        return None
    return number if math.isfinite(number) else None
