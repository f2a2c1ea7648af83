"""Deviations: departures from a registration that happened, told by a person (IO).

    STUDY/deviations/001.json    what, why, effect, when it was told, the lock, the log's head

Each holds the digest of the one before and ends with the digest of its own content. A deviation
changes nothing that is frozen; it stands beside the verdicts in every report of the study.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from judgeaudit.canonical import canonical_bytes, digest, digest_of
from judgeaudit.design.amendments import Words
from judgeaudit.errors import EvidenceError
from judgeaudit.evidence.documents import load_json
from judgeaudit.evidence.formats import catalogue
from judgeaudit.evidence.log.files import create
from judgeaudit.evidence.strays import beside
from judgeaudit.model import JSON

FOLDER = "deviations"
KIND, VERSION = "judgeaudit-deviation", 1


def deviations(root: Path) -> list[dict[str, Any]]:
    """Return a study's deviations in order; raises `EvidenceError` where one was changed."""
    found: list[dict[str, Any]] = []
    before: str | None = None
    for number, path in enumerate(_paths(root), 1):
        data = path.read_bytes()
        document = load_json(data, path)
        _check(path, data, document, number, before)
        before = str(digest(data))
        found.append(document)
    return found


def _paths(root: Path) -> list[Path]:
    return sorted((root / FOLDER).glob("[0-9][0-9][0-9].json"))


def _check(path: Path, data: bytes, document: Any, number: int, before: str | None) -> None:
    if not isinstance(document, dict):
        raise EvidenceError(f"{path}: no deviation")
    catalogue.number_of(document.get("format"), KIND, [VERSION], path, document.get("writer"))
    content = {name: value for name, value in document.items() if name != "content_sha256"}
    if data != canonical_bytes(document) + b"\n" or document.get("content_sha256") != digest_of(
        content
    ):
        raise EvidenceError(f"{path}: its digest is not that of its content; it was edited")
    if (document.get("number"), document.get("previous")) != (number, before):
        raise EvidenceError(f"{path}: does not follow the deviation before it; one is missing")


def deviate(root: Path, words: Words, beside_it: Mapping[str, JSON]) -> dict[str, Any]:
    """Keep one more deviation; `beside_it` is what was true when it was told."""
    known = deviations(root)
    before = None if not known else str(digest(_paths(root)[-1].read_bytes()))
    document: dict[str, Any] = {
        "format": f"{KIND}/{VERSION}",
        "number": len(known) + 1,
        "previous": before,
        "what": words.what,
        "why": words.why,
        "effect": words.effect,
        **beside_it,
    }
    document["content_sha256"] = str(digest_of(document))
    path = root / FOLDER / f"{document['number']:03d}.json"
    create(path, canonical_bytes(document) + b"\n")
    return document


def deviation_findings(root: Path) -> list[str]:
    """Return what is wrong with a study's deviations, and what lies beside them."""
    found = [str(one) for one in beside(root / FOLDER, {path.name for path in _paths(root)})]
    try:
        deviations(root)
    except EvidenceError as error:
        found.append(str(error))
    return found
