"""What one format of the log is: the fields of its records, parts and manifest.

A run keeps one format, that of its journal's first record. Field lists are literal for formats
that a released version wrote (`v1`), and follow the code for today's (`today`).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import pyarrow as pa


@dataclass(frozen=True, slots=True)
class Column:
    """One column: its name, Arrow type and the sentence that explains it."""

    name: str
    type: pa.DataType
    sentence: str = ""
    nullable: bool = True


@dataclass(frozen=True)
class LogFormat:
    """One format of journal, parts and manifest.

    `opening` and `attempt` are the fields of a journal's first record and of its outcomes,
    `identity` what an outcome repeats from its reservation, `outcomes` what a ledger lists,
    `manifest` the fields of `manifest.json`.
    """

    number: int
    opening: tuple[str, ...]
    identity: tuple[str, ...]
    attempt: tuple[str, ...]
    outcomes: tuple[str, ...]
    attempts: tuple[Column, ...]
    readings: tuple[Column, ...]
    manifest: tuple[str, ...]

    @cached_property
    def journal_version(self) -> str:
        """What a journal's first record says."""
        return f"journal/{self.number}"

    @cached_property
    def schema_version(self) -> str:
        """What a part's metadata says."""
        return f"log/{self.number}"

    @cached_property
    def run_version(self) -> str:
        """What a manifest says."""
        return f"judgeaudit-run/{self.number}"
