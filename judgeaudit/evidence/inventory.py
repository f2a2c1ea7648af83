"""What a folder of results or an export holds: `manifest.json`, and every file against it.

The manifest lists each file with its bytes and digest, says what they were made from (`about`), and
ends with the digest of all that, so that a changed byte of the manifest itself is seen too. Whoever
rewrites files and manifest together is not found out by it: the log is what results are made from,
and `analyze` and `export` make them again.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from judgeaudit.canonical import canonical_bytes, digest_of, file_digest
from judgeaudit.errors import EvidenceError
from judgeaudit.evidence.documents import load_json
from judgeaudit.evidence.formats import catalogue
from judgeaudit.evidence.log.files import sweep
from judgeaudit.evidence.log.finding import Defect, Finding
from judgeaudit.evidence.strays import beside
from judgeaudit.model import JSON

NAME = "manifest.json"
KIND, VERSION = "judgeaudit-files", 1


def write_inventory(folder: Path, files: Iterable[str], about: Mapping[str, JSON]) -> None:
    """Write a folder's manifest over `files`, names relative to it; an earlier one is replaced.

    What the earlier one lists beside these stays listed as it was: a file that was edited since
    is not made good by a new manifest. Raises `EvidenceError` where the earlier one was edited.
    """
    earlier = read_inventory(folder)["files"] if (folder / NAME).exists() else {}
    listed = {**earlier, **{name: _facts(folder / name) for name in files}}
    document = {"format": f"{KIND}/{VERSION}", "about": dict(about), "files": listed}
    document["content_sha256"] = str(digest_of(document))
    sweep(folder / NAME)
    part = folder / f".{NAME}.{os.getpid()}"
    part.unlink(missing_ok=True)
    with part.open("xb") as stream:
        stream.write(canonical_bytes(document) + b"\n")
    os.replace(part, folder / NAME)


def _facts(path: Path) -> dict[str, JSON]:
    return {"bytes": path.stat().st_size, "sha256": str(file_digest(path))}


def read_inventory(folder: Path) -> dict[str, Any]:
    """Return a folder's manifest; raises `EvidenceError` where it is not what it was."""
    path = folder / NAME
    data = path.read_bytes()
    document = load_json(data, path)
    if not isinstance(document, dict) or not isinstance(document.get("files"), dict):
        raise EvidenceError(f"{path}: no manifest of files")
    writer = (document.get("about") or {}).get("writer")
    catalogue.number_of(document.get("format"), KIND, [VERSION], path, writer)
    content = {name: value for name, value in document.items() if name != "content_sha256"}
    if data != canonical_bytes(document) + b"\n" or document.get("content_sha256") != digest_of(
        content
    ):
        raise EvidenceError(f"{path}: its digest is not that of its content; it was edited")
    return document


def inventory_findings(folder: Path) -> Iterator[Finding]:
    """Yield what of a folder is not what its manifest says: files, links, strays, the manifest.

    Raises `OtherVersion` for a manifest that another version wrote.
    """
    try:
        files = read_inventory(folder)["files"]
    except FileNotFoundError:
        yield Finding(Defect.MISSING_FILE, folder / NAME, "there is no such file")
        return
    except EvidenceError as error:
        yield Finding(Defect.EDITED_MANIFEST, folder / NAME, str(error))
        return
    yield from beside(folder, {NAME, *files})
    for name, facts in files.items():
        yield from file_findings(folder / name, facts["sha256"])


def file_findings(path: Path, promised: str) -> Iterator[Finding]:
    """Yield that a file is missing or has other bytes than were promised."""
    if not path.is_file():
        yield Finding(Defect.MISSING_FILE, path, "there is no such file", expected=promised)
    elif (got := file_digest(path)) != promised:
        detail = "its digest is not the manifest's"
        yield Finding(Defect.ALTERED_FILE, path, detail, expected=promised, got=got)
