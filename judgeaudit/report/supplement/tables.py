"""A study's or a table's files for a paper's supplement, as Arrow tables.

Rules of this module:

* Every column has its sentence in its field's metadata (`description`), every file the schema
  version, its part and where it comes from (`Origin`) in its own metadata.
* A column's type follows from its name, never from what a study happens to hold, so that the
  files of two studies can be read as one.
* Lists of texts stay lists; further nested values are JSON text.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd
import pyarrow as pa

from judgeaudit.analysis.estimate import Estimate
from judgeaudit.analysis.frame import COLUMNS as ESTIMATE_COLUMNS
from judgeaudit.analysis.frame import estimates_frame
from judgeaudit.analysis.items import COLUMNS as ITEM_COLUMNS
from judgeaudit.design.amendments import Amendment
from judgeaudit.verdict import Findings, Named, Verdict
from judgeaudit.verdict.gate_report import GateReport

VERSION = "supplement/2"
"""Since 2 a `manifest.json` stands beside the parts."""

_TEXT, _FLOAT, _TEXTS = pa.string(), pa.float64(), pa.list_(pa.string())
_NUMBERS = frozenset({"value", "low", "high", "level", "missing", "worst_low", "worst_high"})
_LISTS = frozenset({"reasons", "does_not_say", "marks", "parts"})
_TYPES = {"seed": pa.int64(), "confirmatory": pa.bool_()}

VERDICT_COLUMNS: Mapping[str, str] = {
    "kind": "`gate`, `composite gate` (asks for all its parts), `rule` (gates nothing), `bar` "
    "(keeps every gate from passing) or `all gates` (what they say together).",
    "id": "Id of the gate or rule in the registration; of a bar, its kind.",
    "endpoint": "Endpoint that it was decided at; `all` where several are decided as one.",
    "outcome": "pass, fail, inconclusive or undefined; of a rule, the band that holds.",
    "statistic": "Name of the statistic in the catalogue; empty for a composite gate.",
    "over": "Which pairs of readings were compared.",
    "asks": "The registered threshold or the rule's bands, in words.",
    "decided_by": "`bound`: the interval decided. `point`: the estimate did. `parts`, `bands`.",
    "value": "The estimate that was held against it; null where there is none.",
    "low": "Lower end of its interval; null where there is none.",
    "high": "Upper end of its interval.",
    "level": "Two-sided level of its interval.",
    "bound_says": "What the interval would decide; null where there is none, or for a rule.",
    "reasons": "Why the outcome is not simply that of the number.",
    "confirmatory": "True where it was frozen before the data as a confirmatory criterion.",
    "says": "The verdict over all its endpoints in words.",
    "does_not_say": "What it does not say, sentence by sentence.",
    "marks": "What it carries for life, such as a freeze by override.",
    "parts": "Gates that a composite gate asks for.",
    "part_of": "Composite gate that it belongs to; null for none.",
    "source": "Where the threshold comes from, as registered.",
}


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a supplement comes from, for each file's metadata.

    `digests` names what the files were made from: lock and manifests, or the source files.
    """

    title: str
    writer: str
    exploratory: bool
    digests: Mapping[str, str]
    notes: Sequence[str] = ()

    def metadata(self, part: str) -> dict[str, str]:
        """Return the file metadata of one part."""
        return {
            "judgeaudit.schema": VERSION,
            "judgeaudit.part": part,
            "judgeaudit.title": self.title,
            "judgeaudit.writer": self.writer,
            "judgeaudit.exploratory": str(self.exploratory).lower(),
            "judgeaudit.digests": json.dumps(dict(self.digests), sort_keys=True),
        }


@dataclass(frozen=True, slots=True)
class Part:
    """One file: its name without suffix, what a row is, its schema and how many rows it has."""

    name: str
    row: str
    schema: pa.Schema
    rows: int = 0
    notes: Sequence[str] = field(default=())


def schema_of(sentences: Mapping[str, str], types: Mapping[str, pa.DataType]) -> pa.Schema:
    """Return columns with their sentences; text where `types` names no type."""
    return pa.schema(
        [
            pa.field(name, types.get(name, _TEXT), metadata={"description": sentence})
            for name, sentence in sentences.items()
        ]
    )


def estimates_table(estimates: Iterable[Estimate]) -> pa.Table:
    """Return one row an estimate; counts, caveats and details are JSON text."""
    types = {name: _FLOAT for name in _NUMBERS} | _TYPES
    frame = estimates_frame(estimates)
    return pa.Table.from_pandas(
        frame, schema_of(ESTIMATE_COLUMNS, types), preserve_index=False
    ).replace_schema_metadata()


def items_table(frame: pd.DataFrame) -> pa.Table:
    """Return which items changed their answers, and how; columns of `analysis.items.COLUMNS`."""
    types = {name: pa.int64() for name in ("readings", "valid", "pairs", "times")}
    columns = {**ITEM_COLUMNS, **({"scope": PART} if "scope" in frame else {})}
    schema = schema_of(columns, types)
    return pa.Table.from_pandas(frame[list(columns)], schema, preserve_index=False)


PART = "Which part of the table; `all` for the whole."


def verdicts_table(findings: Findings, together: GateReport | None = None) -> pa.Table:
    """Return one row a criterion and endpoint: gates, composite gates, rules, what bars the gates.

    The last row is the verdict of all gates `together`, where there is one.
    """
    types = {name: _FLOAT for name in _NUMBERS} | {name: _TEXTS for name in _LISTS} | _TYPES
    rows = [row for verdict in findings.verdicts for row in _verdict_rows(verdict)]
    rows += [row for named in findings.named for row in _rule_rows(named)]
    rows += [] if together is None else _together(together)
    return pa.Table.from_pylist(rows, schema_of(VERDICT_COLUMNS, types))


def _verdict_rows(verdict: Verdict) -> Iterator[dict[str, Any]]:
    common = {
        "kind": "gate" if verdict.held or not verdict.parts else "composite gate",
        "id": verdict.id,
        "statistic": verdict.statistic,
        "over": verdict.over,
        "asks": verdict.asks,
        "decided_by": verdict.decided_by,
        "confirmatory": verdict.confirmatory,
        "says": verdict.says,
        "does_not_say": list(verdict.does_not_say),
        "marks": list(verdict.marks),
        "parts": list(verdict.parts),
        "part_of": verdict.part_of,
        "source": verdict.source,
    }
    if not verdict.held:
        yield common | {"endpoint": "all", "outcome": verdict.outcome.value, "reasons": []}
    for held in verdict.held:
        yield common | {
            "endpoint": held.endpoint,
            "outcome": held.outcome.value,
            "bound_says": held.bound_says.value if held.bound_says else None,
            "reasons": list(held.reasons),
            **_numbers(held.estimate),
        }


def _together(report: GateReport) -> Iterator[dict[str, Any]]:
    """Yield what bars the gates, then what they say together."""
    for bar in report.bars:
        place = {"kind": "bar", "id": bar.kind, "endpoint": bar.endpoint}
        yield place | {"outcome": bar.outcome.value, "says": bar.says}
    if report.verdicts:
        whole = {"kind": "all gates", "id": report.study, "endpoint": "all"}
        yield whole | {"outcome": report.outcome.value, "says": report.headline}


AMENDMENT_COLUMNS: Mapping[str, str] = {
    "number": "Place in the chain from the first freeze on.",
    "amended_at": "When it was frozen, UTC.",
    "what": "What was changed.",
    "why": "Why; what was met.",
    "effect": "What it does to calls, readings and verdicts, in the authors' words.",
    "affected_calls": "How many planned calls are added, removed or sent otherwise.",
    "difference": "The first difference of the frozen content.",
    "seen": "How many answers had been received by then.",
    "changes": "Verdicts that it changes, as JSON, with both outcomes; null where not derived.",
}


def amendments_table(amendments: Iterable[Amendment]) -> pa.Table:
    """Return one row an amendment of the frozen study."""
    types = {"number": pa.int64(), "affected_calls": pa.int64()}
    rows = [_amendment_row(amendment) for amendment in amendments]
    return pa.Table.from_pylist(rows, schema_of(AMENDMENT_COLUMNS, types))


def _amendment_row(amendment: Amendment) -> dict[str, Any]:
    told = amendment.to_dict()
    changes = told["changes"]
    return told | {"changes": None if changes is None else json.dumps(changes, sort_keys=True)}


def _rule_rows(named: Named) -> Iterator[dict[str, Any]]:
    heads: dict[str, Estimate] = {}
    for estimate in named.estimates:
        if estimate.analysis == named.statistic:
            heads.setdefault(estimate.endpoint, estimate)
    for endpoint, name in named.names:
        yield {
            "kind": "rule",
            "id": named.id,
            "endpoint": endpoint,
            "outcome": name,
            "statistic": named.statistic,
            "over": named.over,
            "asks": ", ".join(named.bands),
            "decided_by": "bands",
            "confirmatory": named.confirmatory,
            "says": named.says,
            "does_not_say": list(named.does_not_say),
            "source": named.source,
            "reasons": [],
            "marks": [],
            "parts": [],
            **_numbers(heads[endpoint]),
        }


def _numbers(estimate: Estimate) -> dict[str, float | None]:
    return {
        "value": estimate.value,
        "low": estimate.low,
        "high": estimate.high,
        "level": estimate.level,
    }
