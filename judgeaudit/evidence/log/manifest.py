"""What a sealed run says about itself: `manifest.json`, canonical JSON, one a run.

Manifests form a chain: each holds the digest of the one before (`previous_manifest`; null for the
first) and its `number` in it, from 1. Every field follows from the journal, the parts and the
plan, so that `verify` builds the manifest again and compares it field by field. What no manifest
of a folder can show is that the *last* runs were removed; keep the last digest elsewhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from judgeaudit.canonical import Digest, canonical_bytes, digest
from judgeaudit.errors import EvidenceError
from judgeaudit.evidence.documents import load_json
from judgeaudit.evidence.formats import catalogue
from judgeaudit.evidence.log.parts import Part
from judgeaudit.evidence.log.schema import ATTEMPTS, READINGS
from judgeaudit.evidence.log.state import JournalState, Span


@dataclass(frozen=True, slots=True)
class JournalFileFacts:
    """A finished journal as a file: digest, bytes, records, last record's digest."""

    digest: str
    bytes: int
    records: int
    head: str


def build(
    state: JournalState,
    *,
    number: int,
    previous: str | None,
    journal: JournalFileFacts,
    parts: Mapping[str, Part],
    readings: Mapping[str, int],
    writer: str,
) -> dict[str, Any]:
    """Return the manifest of a finished run. `readings` counts them by `ok` or reason."""
    run = state.run
    manifest = {
        "format": state.format.run_version,
        "run": run.run,
        "number": number,
        "previous_manifest": previous,
        "window": run.window,
        "stage": run.stage,
        "clock": run.clock,
        "lock_digest": run.lock_digest,
        "tool_version": run.tool_version,
        "writer": writer,
        "opened_at": str(run.opened_at),
        "sealed_at": str(state.sealed_at),
        "journal": asdict(journal),
        "parts": {name: asdict(part) for name, part in parts.items()},
        "ledger": state.ledger_json(),
        "readings": {
            "planned": sum(readings.values()),
            "by_status": dict(sorted(readings.items())),
        },
        "missing": {endpoint: reason.value for endpoint, reason in sorted(state.missing.items())},
        "times": {endpoint: _times(span) for endpoint, span in sorted(state.spans.items())},
    }
    return {name: manifest[name] for name in state.format.manifest}


def _times(span: Span) -> dict[str, str | None]:
    return {
        name: None if (value := getattr(span, name)) is None else str(value)
        for name in ("first_sent", "last_received", "last_activity")
    }


def manifest_bytes(manifest: Mapping[str, Any]) -> bytes:
    """Return the bytes of `manifest.json`."""
    return canonical_bytes(manifest) + b"\n"


_SHAPE = {
    "run": str,
    "number": int,
    "previous_manifest": str | None,
    "window": str,
    "stage": int,
    "writer": str,
}
_BARS = ("attempts", "response", "transport", "unresolved")


def _check_shape(manifest: Mapping[str, Any]) -> None:
    """Return if what readers rely on is there; raises KeyError, TypeError or ValueError."""
    ledger, parts = manifest["ledger"], manifest["parts"]
    found = [(name, manifest[name], kind) for name, kind in _SHAPE.items()]
    for holder in (manifest["journal"], parts[ATTEMPTS], parts[READINGS]):
        found.append(("digest", holder["digest"], str))
    for book in (ledger["calls"], ledger["preflight"], *ledger["endpoints"].values()):
        found += [(bar, book[bar], int) for bar in _BARS]
    for name, value, kind in found:
        if not isinstance(value, kind):
            raise ValueError(f"{name} is {value!r}")


def manifest_from(data: bytes, source: object) -> tuple[dict[str, Any], Digest]:
    """Return the manifest that bytes hold, and their digest; raises `EvidenceError`."""
    try:
        manifest = load_json(data, source)
        said, writer = manifest["format"], manifest.get("writer")
        catalogue.log_format(said, catalogue.RUN, source, writer)
        _check_shape(manifest)
        canonical = manifest_bytes(manifest)
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        raise EvidenceError(f"{source}: not a manifest: {type(error).__name__}: {error}") from error
    if data != canonical:
        raise EvidenceError(
            f"{source}: not the canonical bytes of its content: expected {digest(canonical)}, "
            f"got {digest(data)}"
        )
    return manifest, digest(data)


def differences(expected: Mapping[str, Any], got: Mapping[str, Any]) -> list[tuple[str, Any, Any]]:
    """Return the fields, as dotted paths, in which two manifests differ, with both values."""
    found = []
    for name in sorted({*expected, *got}):
        a, b = expected.get(name), got.get(name)
        if isinstance(a, Mapping) and isinstance(b, Mapping):
            found += [(f"{name}.{path}", x, y) for path, x, y in differences(a, b)]
        elif a != b:
            found.append((name, a, b))
    return found
