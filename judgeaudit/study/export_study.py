"""The study side of `judgeaudit export`: sealed attempts and readings, estimates, verdicts.

Attempts and readings are copied run by run, batch by batch: a log may be larger than memory.
Bodies and headers were redacted when they were stored; that no key which the environment holds now
stands in them is checked once more before a file is written.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from judgeaudit.design.frozen import FrozenStudy
from judgeaudit.errors import EvidenceError
from judgeaudit.evidence.lock.files import load_frozen
from judgeaudit.evidence.log.runs import SealedRun
from judgeaudit.evidence.log.search import Searcher
from judgeaudit.report.supplement.tables import (
    Origin,
    Part,
    amendments_table,
    estimates_table,
    items_table,
    verdicts_table,
)
from judgeaudit.report.supplement.truth import Truth, candidates_table
from judgeaudit.study.folders import whole_folder
from judgeaudit.study.results import Analysed, analyse, item_changes, made_from
from judgeaudit.study.supplement_files import Exported, write_manifest, write_part, write_readme
from judgeaudit.version import __version__

BATCH = 16_384
HOW_THEY_JOIN = (
    "`readings` and `attempts` join on `call_id` and `attempt`; `candidates` joins on `item`. "
    "Request bodies, prompts and the texts of items are not here; their digests are."
)


def export_study(root: Path, out: Path) -> Exported:
    """Write a study's supplement; returns what was written."""
    analysed = analyse(load_frozen(root))
    origin = _origin(analysed)
    with whole_folder(out) as folder:
        parts = [*_copied(folder, origin, analysed), *_computed(folder, origin, analysed)]
        write_readme(folder, origin, parts)
        write_manifest(folder, parts, made_from(analysed.frozen, analysed.runs))
    return Exported(out, origin, tuple(parts))


def _origin(analysed: Analysed) -> Origin:
    frozen = analysed.frozen
    study, schedule = frozen.registration.study, frozen.registration.schedule
    simulated = [spec.id for spec in frozen.registration.endpoints if spec.is_simulated]
    notes = [HOW_THEY_JOIN]
    if simulated:
        notes.append(f"Simulated endpoints, which say nothing of a model: {', '.join(simulated)}.")
    if schedule.clock == "virtual":
        notes.append("The study ran on a virtual clock: its times are not times of day.")
    if analysed.waiting:
        notes.append(f"Windows without a sealed run: {', '.join(analysed.waiting)}.")
    notes += [f"Barred ({bar.kind}): {bar.says}." for bar in analysed.told_bars]
    notes += [f"{amendment.sentence()}." for amendment in analysed.amendments]
    digests = {"frozen/lock.json": str(frozen.lock_digest)}
    digests |= {f"log/sealed/{run.name}/manifest.json": str(run.digest) for run in analysed.runs}
    registered = any(e.confirmatory for e in analysed.findings.estimates)
    return Origin(f"Supplement: {study.title}", __version__, not registered, digests, notes)


def _copied(folder: Path, origin: Origin, analysed: Analysed) -> Iterator[Part]:
    runs, frozen = analysed.runs, analysed.frozen
    attempts = Part("attempts", "one try of one call on the network", _schema(runs, ATTEMPTS))
    safe = _without_keys(ATTEMPTS, _batches(runs, ATTEMPTS), frozen)
    yield write_part(folder, origin, attempts, safe)
    truth = Truth(frozen.items.values())
    schema = truth.schema(_schema(runs, READINGS))
    readings = Part("readings", "one planned call, also where nothing came back", schema)
    joined = (
        truth.join(table, schema)
        for table in _without_keys(READINGS, _batches(runs, READINGS), frozen)
    )
    yield write_part(folder, origin, readings, joined)


def _computed(folder: Path, origin: Origin, analysed: Analysed) -> Iterator[Part]:
    findings, together, changed = analysed.findings, analysed.report, analysed.amendments
    for name, row, table in (
        (
            "candidates",
            "one candidate of one item",
            candidates_table(analysed.frozen.items.values()),
        ),
        ("estimates", "one estimate at one endpoint", estimates_table(findings.estimates)),
        ("items", "one change of one item's answer", items_table(item_changes(analysed))),
        ("verdicts", "one gate, rule or bar at one endpoint", verdicts_table(findings, together)),
        ("amendments", "one amendment of the frozen study", amendments_table(changed)),
    ):
        yield write_part(folder, origin, Part(name, row, table.schema), [table])


ATTEMPTS, READINGS = "attempts.parquet", "readings.parquet"


def _schema(runs: tuple[SealedRun, ...], part: str) -> pa.Schema:
    schemas = [pq.read_schema(run.folder / part).remove_metadata() for run in runs]
    return pa.unify_schemas(schemas)


def _batches(runs: tuple[SealedRun, ...], part: str) -> Iterator[pa.Table]:
    for run in runs:
        # Sealed row groups are bounded in bytes; one is held at a time, whatever its rows weigh.
        with pq.ParquetFile(run.folder / part, pre_buffer=False) as file:
            for group in range(file.num_row_groups):
                for batch in file.iter_batches(batch_size=BATCH, row_groups=[group]):
                    yield pa.Table.from_batches([batch])


def _without_keys(part: str, tables: Iterator[pa.Table], frozen: FrozenStudy) -> Iterator[pa.Table]:
    """Yield the tables; raises `EvidenceError` where a key of the environment stands in one."""
    names = {s.key_env for s in frozen.registration.endpoints if s.key_env}
    searched = {name: Searcher([os.environ.get(name, "")]) for name in sorted(names)}
    for table in tables:
        for name, searcher in searched.items():
            if searcher and (found := _holds(table, searcher)):
                raise EvidenceError(
                    f"{part}: column {found!r} holds the value of {name}; nothing was written"
                )
        yield table


def _holds(table: pa.Table, searcher: Searcher) -> str | None:
    """Return the column in which a key stands, None where in none."""
    for field in table.schema:
        values = table.column(field.name)
        if pa.types.is_map(field.type):
            values = pa.array([json.dumps(dict(value)) for value in values.to_pylist() if value])
        elif not (pa.types.is_binary(field.type) or pa.types.is_string(field.type)):
            continue
        distinct = values.cast(pa.binary()).unique().to_pylist()
        if any(value and searcher.holds(value) for value in distinct):
            return str(field.name)
    return None
