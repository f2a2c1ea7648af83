"""What a file or a frame gave: columns as Arrow, the whole header, and what there is to tell."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judgeaudit.tables import header as names

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, slots=True)
class Source:
    """A table: the columns that were read, all its columns' names, its metadata.

    `first_row` is the line or row of the first reading, as a person counts in that file. `notes`
    say what was recognised (a separator, an encoding, a header record). `lossy` names columns whose
    floats are so large that digits are lost.
    """

    path: Path
    table: pa.Table
    header: tuple[str, ...]
    meta: Mapping[str, Any] = field(default_factory=dict)
    first_row: int = 2
    rows: int = 0
    notes: tuple[str, ...] = ()
    lossy: frozenset[str] = frozenset()
    copies: int = 1

    def columns(self) -> str:
        """Return the names that there are, for a message."""
        return names.columns(self.header)
