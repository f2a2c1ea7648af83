"""What a protocol declares of its cells and contrasts, as analyses take it, and its faults.

A registration's questions about contrasts are rehearsed before the freeze: they are put to a table
of the planned calls, each answered, by the code that will analyse the study. A contrast that is not
declared, or has no cell that is asked, is found before anything is paid.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from fractions import Fraction

import pandas as pd

from judgeaudit.analysis.catalogue import NAMES
from judgeaudit.analysis.catalogue import compute as computed
from judgeaudit.analysis.luck.declared import CellSpec, Contrast, Design, Relevance, faults
from judgeaudit.design.base import plain
from judgeaudit.design.criteria import Analysis, Gate, Rule
from judgeaudit.design.document import Registration
from judgeaudit.design.protocol import ContrastSpec, ProtocolDocument
from judgeaudit.errors import InputError, Problem
from judgeaudit.readings.table import checked
from judgeaudit.verdict.registered import question_of

CHOICES = "choices"


def design_of(protocol: ProtocolDocument) -> Design | None:
    """Return the declared design; None where neither factors nor contrasts are declared."""
    if not protocol.contrasts and not protocol.factors:
        return None
    cells = {
        cell.name: CellSpec(dict(cell.levels), cell.again, cell.probe)
        for cell in protocol.all_stages()[-1].cells
    }
    rule = protocol.relevant
    return Design(
        cells,
        tuple(map(_contrast, protocol.contrasts)),
        {name: dict(levels) for name, levels in protocol.factors.items()},
        relevant=None if rule is None else Relevance(rule.contrast, rule.scope, rule.claim),
    )


def _contrast(spec: ContrastSpec) -> Contrast:
    return Contrast(
        spec.name,
        spec.scope,
        tuple((cell, Fraction(weight)) for cell, weight in spec.weights.items()),
        None if spec.margin is None else float(spec.margin),
        spec.claims,
        spec.everywhere,
        dict(spec.labels),
        spec.of,
        spec.note,
        spec.descriptive,
        spec.beside,
    )


def declaration_problems(protocol: ProtocolDocument) -> Iterator[Problem]:
    """Yield what is wrong with a protocol's factors, levels and contrasts."""
    design = design_of(protocol)
    if design is None:
        for cell in (c for stage in protocol.all_stages() for c in stage.cells):
            if cell.levels:
                yield Problem(f"protocol: cell {cell.name!r}", "has levels", "declare [factors]")
        return
    for key, wrong in faults(design):
        yield Problem(f"protocol: {key}", wrong, "")
    yield from _other_bytes(protocol)
    for factor, levels in design.factors.items():
        used = {cell.levels.get(factor) for cell in design.cells.values()}
        for level in levels:
            if level not in used:
                yield Problem(
                    f"protocol: factors.{factor}.{level}", "no cell has this level", "take it out"
                )


def _other_bytes(protocol: ProtocolDocument) -> Iterator[Problem]:
    """Yield cells that say they repeat another one's bytes, and do not ask the same."""
    own = {"name", "levels", "again", "probe", "repeats"}
    cells = {cell.name: cell for cell in protocol.all_stages()[-1].cells}
    for cell in cells.values():
        other = cells.get(cell.again)
        if other is not None and cell.model_dump(exclude=own) != other.model_dump(exclude=own):
            yield Problem(
                f"protocol: cell {cell.name!r}",
                f"again: does not ask the bytes of {cell.again!r}",
                "give both cells the same fields, texts, take, prompt and options",
            )


def rehearsal_problems(
    registration: Registration, protocol: ProtocolDocument, worlds: Iterable[str]
) -> Iterator[Problem]:
    """Yield what the analysis of contrasts would not be able to tell of a study that went well."""
    design = design_of(protocol)
    asked = [*_asked(registration)]
    if not asked or any(declaration_problems(protocol)):
        return
    table = _rehearsed(registration, protocol, list(worlds))
    for key, one in asked:
        params = {name: plain(value) for name, value in one.params.items()}
        question = question_of(one if isinstance(one, Gate) else None, registration, None, design)
        question = question if isinstance(one, Gate) else replace(question, params=params)
        try:
            found = computed(one.statistic, table, question, one.where)
        except InputError as error:
            yield Problem(f"{key}.{error.source}.{error.place}", error.found, error.remedy)
            continue
        first = next((e for e in found if e.analysis == one.statistic), None)
        if first is None or (first.undefined is not None and not _is_soft(first.undefined)):
            why = "nothing is computed" if first is None else first.undefined
            yield Problem(f"{key}.statistic", f"{one.statistic!r}: {why}", _remedy(design))


def _is_soft(why: str) -> bool:
    """Tell whether a reason is one of size, which other checks speak of."""
    return "needs >= 2" in why


def _remedy(design: Design | None) -> str:
    if design is None:
        return "declare [factors] and [[contrasts]] in the protocol"
    return f"declared: {', '.join(contrast.id for contrast in design.contrasts)}"


def _asked(registration: Registration) -> Iterator[tuple[str, Gate | Rule | Analysis]]:
    """Yield what is asked of choices: gates, rules, and analyses."""
    every: list[tuple[str, Gate | Rule | Analysis]] = [
        *((f"gates[{n}]", gate) for n, gate in enumerate(registration.gates)),
        *((f"rules[{n}]", rule) for n, rule in enumerate(registration.rules)),
        *((f"analyses[{n}]", one) for n, one in enumerate(registration.asked_analyses())),
    ]
    for key, one in every:
        record = NAMES.get(one.statistic)
        gateable = record is not None and record.subject == CHOICES and record.gate
        # A bare name asks for whatever there is, and says so where there is nothing.
        if gateable and not (isinstance(one, Analysis) and not one.params):
            yield key, one


def _rehearsed(
    registration: Registration, protocol: ProtocolDocument, worlds: list[str]
) -> pd.DataFrame:
    """Return the last stage's planned calls, each answered; every seventh chose the worse tool."""
    stages = protocol.all_stages()
    rows = [
        {
            "endpoint": spec.id,
            "item": world,
            "arm": cell.name,
            "stage": len(stages),
            "status": "ok",
            "category": "worse" if (number + place) % 7 == 0 else "better",
            "reason": None,
        }
        for spec in registration.endpoints
        for number, world in enumerate(worlds)
        for place, cell in enumerate(stages[-1].cells)
    ]
    return checked(pd.DataFrame(rows))
