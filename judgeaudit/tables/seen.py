"""What was read, told in sentences: ids, labels and candidates seen, and what is doubtful of them.

Each function yields lines for the notes of a report. Nothing here changes a reading.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from judgeaudit.readings.sheet import Coded
from judgeaudit.tables.cells import WORDS, Words, look_alikes
from judgeaudit.tables.decimals import doubtful, grouped, number, pointed

SHOWN = 12
_CUT = re.compile(r"[0-9](\.[0-9]+)?[eE]\+[0-9]{2}")
"""How a spreadsheet writes a long number that it has rounded: 1.23457E+19."""

_FAILED = """error err errored exception timeout timed_out invalid parse_error parsing_error
parse_failure unparsed unparsable unparseable refused refusal no_answer no_response failed_to_parse
rate_limit"""
_FAILURES = frozenset(_FAILED.split())
"""Labels that harnesses write where a judge gave no verdict."""


def ids(columns: Mapping[str, Coded]) -> Iterator[str]:
    """Yield how many ids each role has, the first of them, and those that look alike."""
    told = [f"{role} {_some(column.labels)}" for role, column in columns.items()]
    yield f"seen: {'; '.join(told)}"
    for role, column in columns.items():
        for alike in list(look_alikes(column.labels, numbered=True))[:3]:
            yield f"ids of {role} that look alike and are kept apart: {_quoted(alike)}"
        if cut := [label for label in column.labels if _CUT.fullmatch(label)]:
            yield f"ids of {role} in scientific notation may have lost digits: {_quoted(cut)}"
        words = [label for label in column.labels if label.strip() in WORDS]
        if words:
            yield f"ids of {role} that may mean none and are names here: {_quoted(words)}"


def _some(labels: Sequence[str], most: int = 3) -> str:
    shown = ", ".join(str(label)[:40] for label in labels[:most])
    more = ", ..." if len(labels) > most else ""
    return f"{len(labels)} ({shown}{more})"


def _quoted(labels: Iterable[str], most: int = 6) -> str:
    found = list(labels)
    shown = ", ".join(repr(label[:60]) for label in found[:most])
    return shown + (f" and {len(found) - most} more" if len(found) > most else "")


def _shown(label: str) -> str:
    return label[:40] if label == label.strip() else repr(label[:40])


def counts(column: Coded) -> dict[str, int]:
    """Return how often each label stands, most often first."""
    found = np.bincount(column.codes[column.codes >= 0], minlength=len(column.labels))
    order = np.argsort(-found, kind="stable")
    return {str(column.labels[code]): int(found[code]) for code in order if found[code]}


def labels(seen: Mapping[str, int], what: str, gold: Sequence[str] = ()) -> Iterator[str]:
    """Yield the labels with their counts, look-alikes among them, and those of a failure."""
    if not seen:
        return
    shown = ", ".join(f"{_shown(label)} {count}" for label, count in list(seen.items())[:SHOWN])
    more = f" and {len(seen) - SHOWN} more" if len(seen) > SHOWN else ""
    yield f"{what} seen: {shown}{more}"
    for alike in list(look_alikes(dict.fromkeys([*seen, *gold])))[:3]:
        yield f"{what} that look alike and are kept apart: {_quoted(alike)}"
    failures = [label for label in seen if "_".join(label.casefold().split()) in _FAILURES]
    for label in failures:
        yield (
            f"{what}: {label!r} ({seen[label]} readings) may tell of a failure and not of a "
            f"verdict; --invalid {label} counts it as no reading"
        )


def numbers(seen: Mapping[str, int], name: str) -> Iterator[str]:
    """Yield that verdicts which are all numbers may be scores: on a scale, 4 is nearer to 5 than 1.

    Two numbers (0 and 1) are usual verdicts.
    """
    if len(seen) > 2 and all(number(label) is not None for label in seen):
        yield (
            f"column {name!r}: all {len(seen)} verdicts are numbers; if they are scores, say "
            f"--score {name}: as verdicts 4 and 5 are as unlike as 1 and 5"
        )


def words(column: Coded, declared: Words, name: str, *, labels: bool) -> Iterator[str]:
    """Yield how many cells hold a word that was taken for no answer without being declared."""
    undeclared = WORDS - declared.missing - declared.labels - declared.invalid
    found = {label: n for label, n in counts(column).items() if label.strip() in undeclared}
    if found:
        told = ", ".join(f"{label!r} {count}" for label, count in found.items())
        either = ",".join(dict.fromkeys(label.strip() for label in found))
        how = f"; --label {either} makes them labels" if labels else ""
        yield f"column {name!r} holds {told}: taken for no answer{how}"


def no_numbers(unparsed: Mapping[str, int], name: str, decimal: str = ".") -> Iterator[str]:
    """Yield examples of cells that hold no number, and whether commas or points are the cause."""
    if not unparsed:
        return
    total = sum(unparsed.values())
    yield f"column {name!r}: {total} cells hold no number, e.g. {_quoted(unparsed, 4)}"
    if groups := grouped(unparsed):
        yield (
            f"column {name!r}: {groups[0]!r} has separators of thousands, which are not read: "
            "write numbers without them, e.g. 1000.5 (or 1000,5 with --decimal ,)"
        )
    if decimal == "," and (points := pointed(unparsed)):
        yield f"column {name!r}: {points[0]!r} has a point; --decimal . reads a decimal point"
    elif commas := doubtful(unparsed):
        yield f"column {name!r}: is {commas[0]!r} a decimal comma? --decimal , reads it so"


def files(parts: Sequence[Sequence[str]], names: Sequence[str]) -> Iterator[str]:
    """Yield how many items several files share, where they do not all hold the same."""
    sets = [set(part) for part in parts]
    common, every = set.intersection(*sets), set.union(*sets)
    if len(common) < len(every):
        told = ", ".join(f"{len(s)} in {name}" for s, name in zip(sets, names, strict=True))
        yield f"{len(common) or 'no'} items in common of {len(every)}: {told}"
