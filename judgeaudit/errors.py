"""Every error that a person can cause or mend, as one tree.

    JudgeauditError                 one line: file, place, what was found, what to do (exit 2)
    ├── InputError                  a file or an option that cannot be used as it is
    │   └── RegistrationError       every problem of a registration at once, each with its key path
    ├── EvidenceError               a frozen, logged or sealed file that is not what its digest says
    ├── OtherVersion                a file in a format that this version does not read (exit 3)
    ├── GuardError                  a guard refused before anything left the process
    │   ├── ExecutorBusy            another process holds this study
    │   └── RunPaused               the circuit breaker stopped a run; it stays unsealed
    ├── TooEarly                    a window cannot be placed yet (exit 3, with the earliest time)
    └── UndefinedEstimate           the data hold no estimate of this quantity (exit 3)

Anything else that escapes is a bug: it keeps its traceback and exits 70.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from judgeaudit.printable import printable


class JudgeauditError(Exception):
    """Base of all errors that are told in one line and never as a traceback."""


class InputError(JudgeauditError):
    """A file, row or option that cannot be used.

    `InputError("items.jsonl", "line 3", "duplicate id 'q1'", "give every item an id of its own")`
    reads `items.jsonl: line 3: duplicate id 'q1'; give every item an id of its own`.
    """

    def __init__(self, source: object, place: str = "", found: str = "", remedy: str = "") -> None:
        self.source, self.place, self.found, self.remedy = str(source), place, found, remedy
        head = ": ".join(part for part in (self.source, place, found) if part)
        text = f"{head}; {remedy}" if remedy else head
        super().__init__(printable(" ".join(text.splitlines())))


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing wrong with a registration: its key path, what was found, what is allowed."""

    key: str
    found: str
    allowed: str = ""

    def __str__(self) -> str:
        return f"{self.key}: {self.found}" + (f"; {self.allowed}" if self.allowed else "")


class RegistrationError(InputError):
    """All problems of a registration, in the order of the file."""

    def __init__(self, source: object, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        count = len(self.problems)
        text = (
            str(self.problems[0])
            if count == 1
            else "; ".join(
                f"({number}) {problem}" for number, problem in enumerate(self.problems, 1)
            )
        )
        super().__init__(source, f"{count} problems" if count > 1 else "", text)


class EvidenceError(JudgeauditError):
    """Frozen or sealed bytes that differ from what their digest promised.

    Messages give both sides (expected, got) and name file and row.
    """


class OtherVersion(JudgeauditError):
    """A file in a format that another version of this program wrote; no word on its integrity."""

    def __init__(
        self, source: object, said: str, writer: object, version: str, known: Sequence[str]
    ) -> None:
        self.said = said
        by = f"judgeaudit {writer}" if isinstance(writer, str) else "another version of judgeaudit"
        super().__init__(
            f"{source}: format {said}, written by {by}; this is judgeaudit {version}, which reads "
            f"{' and '.join(known)}: use the version that wrote it; whether anything was altered "
            "cannot be told here"
        )


class GuardError(JudgeauditError):
    """A guard refused. Nothing was sent."""


class ExecutorBusy(GuardError):
    """A second executor met the study's lock; the message names the first."""


class RunPaused(GuardError):
    """The circuit breaker paused a run unsealed; running again resumes it."""


class TooEarly(JudgeauditError):
    """A window may not start yet."""

    def __init__(self, message: str, earliest: datetime) -> None:
        super().__init__(message)
        self.earliest = earliest


class NoKey(InputError):
    """The environment has no key for an endpoint that needs one: nothing can be asked."""


class UndefinedEstimate(JudgeauditError):
    """The data hold no estimate of the quantity that was asked for."""
