"""What verification can find: one defect, where it is, and both sides."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path


class Defect(StrEnum):
    """The kinds of damage that are told apart."""

    ALTERED_FILE = "altered_file"
    UNREADABLE = "unreadable"
    ALTERED_ROW = "altered_row"
    DROPPED_ROW = "dropped_row"
    ADDED_ROW = "added_row"
    REORDERED_ROWS = "reordered_rows"
    BROKEN_CHAIN = "broken_chain"
    SWAPPED_PART = "swapped_part"
    MISSING_PART = "missing_part"
    MISSING_RUN = "missing_run"
    EDITED_MANIFEST = "edited_manifest"
    JOURNAL_BROKEN = "journal_broken"
    JOURNAL_DIFFERS = "journal_differs"
    READING_DIFFERS = "reading_differs"
    LEDGER_OPEN = "ledger_open"
    STRAY = "stray"
    LINK = "link"
    MISSING_FILE = "missing_file"
    OTHER_VERSION = "other_version"


@dataclass(frozen=True, slots=True)
class Finding:
    """One defect: its file, row (from 0) and call where it has them, expected and got."""

    defect: Defect
    file: Path
    detail: str
    row: int | None = None
    call_id: str | None = None
    expected: object = None
    got: object = None

    def __str__(self) -> str:
        place = [str(self.file)]
        if self.row is not None:
            place.append(f"row {self.row}")
        if self.call_id is not None:
            place.append(f"call {self.call_id}")
        text = f"{': '.join(place)}: {self.defect.value.replace('_', ' ')}: {self.detail}"
        if self.expected is None and self.got is None:
            return text
        return f"{text}: expected {self.expected}, got {self.got}"
