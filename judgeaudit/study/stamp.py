"""Time stamps of a lock: files in, files out."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from judgeaudit.design.layout import FROZEN, TOKEN
from judgeaudit.errors import InputError
from judgeaudit.evidence.lock.disk import read_lock
from judgeaudit.evidence.lock.timestamp import check_token
from judgeaudit.evidence.lock.timestamp import request as request_for
from judgeaudit.study.folders import Folder


def stamp(
    folder: Folder,
    *,
    request: Folder | None = None,
    token: Folder | None = None,
    roots: Sequence[Folder] = (),
) -> dict[str, Any]:
    """Write a time-stamp request for the lock in force to `request`, or keep a `token` for it.

    A token is checked against the lock, and its signature where `roots` (PEM files) are given.
    Nothing is sent. Raises `InputError` unless exactly one is given.
    """
    study = Path(folder)
    if request is not None and token is None:
        return write_request(study, Path(request))
    if token is not None and request is None:
        return keep_token(study, Path(token), [Path(root) for root in roots])
    raise InputError("stamp", found="one of --request and --token is wanted")


def write_request(study: Path, request: Path) -> dict[str, Any]:
    """Write a time-stamp request for the lock in force; return what was done."""
    lock = read_lock(study / FROZEN)
    request.write_bytes(request_for(lock.data))
    return {"request": str(request), "lock_digest": str(lock.digest)}


def keep_token(study: Path, token: Path, roots: list[Path]) -> dict[str, Any]:
    """Check a token against the lock in force and put it beside the lock."""
    if not token.is_file():
        raise InputError(token, found="no such file")
    lock = read_lock(study / FROZEN)
    data = token.read_bytes()
    stamped = check_token(token, data, lock.data, [root.read_bytes() for root in roots])
    kept = study / FROZEN / TOKEN
    if kept.exists() and kept.read_bytes() != data:
        raise InputError(kept, found="another token is kept already")
    if not kept.exists():
        part = kept.with_suffix(".part")
        part.unlink(missing_ok=True)
        with part.open("xb") as stream:
            stream.write(data)
        part.chmod(0o444)
        os.replace(part, kept)
    return {
        "token": str(kept),
        "stamped_at": stamped.at.isoformat(),
        "policy": stamped.policy,
        "signature_checked": stamped.signature_checked,
    }
