"""The protocols that come with the toolkit (IO: reads the package's own files).

In a wheel they lie inside the package as `_protocols/`; in a checkout beside it as `protocols/`.
"""

from __future__ import annotations

from pathlib import Path

from judgeaudit.design.draft import Source
from judgeaudit.errors import InputError


def folder() -> Path:
    """Return where the protocols lie; raises `InputError` in an incomplete installation."""
    package = Path(__file__).parents[1]
    for place in (package / "_protocols", package.parent / "protocols"):
        if place.is_dir():
            return place
    raise InputError("protocols", found="not installed", remedy="install the package again")


def names() -> list[str]:
    """Return the names of the protocols there are."""
    return sorted(path.stem for path in folder().glob("*.toml"))


def protocol_source(name: str) -> Source:
    """Return a protocol by its name, or by a path that ends in `.toml`.

    Raises `InputError` naming those there are.
    """
    path = Path(name) if name.endswith(".toml") else folder() / f"{name}.toml"
    if not path.is_file():
        raise InputError("protocol", found=f"no {name!r}", remedy=f"one of {', '.join(names())}")
    return Source(str(path) if name.endswith(".toml") else f"{name}.toml", path.read_bytes())
