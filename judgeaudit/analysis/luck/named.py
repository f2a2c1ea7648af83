"""Designs of protocols that declare none: the names of cells of version 0.1, made a declaration.

A cell's name, which is its arm in plan and log, is

    <case>.<outcome><lesson>[.<variant>...]        unlucky.FF    lucky.SU.dep    unlucky.FF.note-w

* `case` says which tool the shown run used. `unlucky`: the better tool, which fails by chance
  (shown F) or succeeds as usual (shown S). `lucky`: the worse tool, which succeeds by luck
  (shown S) or fails as usual (shown F).
* `outcome` is what the prompt shows, literally, in both cases: F the run failed, S it succeeded.
* `lesson` is the memory: F the lesson of that run's failure, S the lesson of its success, U an
  unrelated one of the same outcome kind as the outcome shown, D a directive without reasons, N no
  memory at all.
* `variant`: `dep` the log does not state that runs are independent (without it, it does); `note` a
  note on decision quality, `both` the same note for both outcomes with a "no change" option, either
  with `-w` (acts on writing) or `-c` (acts on choosing); `again` the same bytes once more; `probe`
  asks which tool has the better record. Their order does not matter.

Contrasts are written in roles: the *luck outcome* L is the one that chance made (F in `unlucky`, S
in `lucky`), the *ordinary outcome* O the other. Nothing here is used where a protocol declares its
contrasts, and nothing here changes: what 0.1 sealed is read by it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from judgeaudit.analysis.luck.declared import CellSpec, Contrast, Design, signed
from judgeaudit.errors import InputError

LUCK: Mapping[str, str] = {"unlucky": "F", "lucky": "S"}
"""The outcome that chance made, by case."""

ROLES: Mapping[str, tuple[tuple[str, int], ...]] = {
    "lesson_effect": (("LL", 1), ("LO", -1)),
    "total": (("LL", 1), ("OO", -1)),
    "harm": (("LL", 1), ("LU", -1)),
    "protection": (("LU", 1), ("LO", -1)),
    "carry": (("LL", 1), ("LU", -1), ("OO", -1), ("OU", 1)),
}
LESSONS = "FSUDN"
FACTORS: Mapping[str, Mapping[str, str]] = {
    "case": {"unlucky": "the better tool ran", "lucky": "the worse tool ran"},
    "shown": {"F": "failed", "S": "succeeded"},
    "lesson": {
        "F": "lesson of failure",
        "S": "lesson of success",
        "U": "unrelated lesson",
        "D": "directive",
        "N": "no memory",
    },
}
DESCRIPTIVE = "the log does not state independence: a reaction may be reasonable, so descriptive"

_DEPENDENT, _AGAIN, _PROBE = "dep", "again", "probe"
_MITIGATION = re.compile(r"(?:note|both)(?:-[wc])?")
_CELL = re.compile(r"(unlucky|lucky)\.([FS])([FSUDN])((?:\.[a-z-]+)*)")
_MEANT = re.compile(r"(?:unlucky|lucky)\.[^.]{2}(?:\.|$)")


@dataclass(frozen=True, slots=True, order=True)
class Stratum:
    """What the cells of one contrast share: case, whether independence is stated, mitigation."""

    case: str = "unlucky"
    dependent: bool = False
    mitigations: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The case with its variants, e.g. `unlucky.dep`."""
        return ".".join([self.case, *([_DEPENDENT] if self.dependent else []), *self.mitigations])

    @property
    def plain(self) -> Stratum:
        """The same case and log without mitigation."""
        return Stratum(self.case, self.dependent)

    def cell(self, roles: str) -> str:
        """Return the cell of an outcome and a lesson in roles: L luck, O ordinary, else literal."""
        luck = LUCK[self.case]
        letters = {"L": luck, "O": "S" if luck == "F" else "F"}
        shown, lesson = (letters.get(role, role) for role in roles)
        return NamedCell(self, shown, lesson).name


@dataclass(frozen=True, slots=True, order=True)
class NamedCell:
    """One cell: its stratum, the outcome shown and the lesson, both as literal letters."""

    stratum: Stratum
    shown: str
    lesson: str
    again: bool = False
    probe: bool = False

    @property
    def name(self) -> str:
        """The name in its usual order of variants."""
        variants = self.stratum.name.split(".")[1:]
        marks = [mark for mark, on in ((_AGAIN, self.again), (_PROBE, self.probe)) if on]
        return ".".join([self.stratum.case, self.shown + self.lesson, *variants, *marks])

    @property
    def spec(self) -> CellSpec:
        """The cell as a declaration says it."""
        again = replace(self, again=False).name if self.again else ""
        levels = {"case": self.stratum.case, "shown": self.shown, "lesson": self.lesson}
        return CellSpec(levels, again, self.probe)


def parse_cell(arm: str) -> NamedCell | None:
    """Return the cell that an arm's name says, None for an arm of another design.

    A readout's own arm after a colon is ignored. Raises `InputError` for a name that starts as a
    cell's does and ends as none.
    """
    name = arm.partition(":")[0]
    found = _CELL.fullmatch(name)
    if found is None:
        if _MEANT.match(name):
            raise _no_cell(name, "outcome and lesson")
        return None
    case, shown, lesson, rest = found.groups()
    variants = rest.split(".")[1:]
    mitigations = tuple(sorted(v for v in variants if _MITIGATION.fullmatch(v)))
    marks = {v for v in variants if v not in mitigations}
    if not marks <= {_DEPENDENT, _AGAIN, _PROBE} or len(set(variants)) != len(variants):
        raise _no_cell(name, f"variants {', '.join(variants)}")
    stratum = Stratum(case, _DEPENDENT in marks, mitigations)
    return NamedCell(stratum, shown, lesson, _AGAIN in marks, _PROBE in marks)


def _no_cell(name: str, what: str) -> InputError:
    remedy = "CASE.OUTCOMELESSON[.VARIANT]: outcome F, S; lesson F, S, U, D, N; variants dep, "
    return InputError("cell", name, f"{what} not known", remedy + "note, both, again, probe")


def design_of_names(
    arms: Iterable[str], stratum: object = None, lesson: object = None
) -> Design | None:
    """Return the design that the names of these arms say; None where none of them is a cell.

    The contrasts are those whose cells were all asked, and, asked or not, those that decide: of the
    `stratum` and the `lesson` that a registration names, else of `unlucky` and the lesson of luck.
    Raises `InputError` for a stratum that is none.
    """
    first = Stratum() if stratum is None else _stratum(stratum)
    parsed = {arm: cell for arm in arms if (cell := parse_cell(str(arm))) is not None}
    if not parsed:
        return None
    there = {cell.name for cell in parsed.values()}
    strata = {cell.stratum for cell in parsed.values() if not cell.probe}
    order = sorted(strata, key=lambda s: (s.case == "lucky", s.dependent, s.mitigations))
    every = [first, *(s for s in order if s != first)]
    contrasts = [*_plain_contrasts(every, there, lesson), *_mitigations(order, there)]
    specs = {cell.name: cell.spec for cell in sorted(set(parsed.values()))}
    return Design(specs, tuple(contrasts), FACTORS, losses="asked")


def contrast_of_name(name: str, case: str) -> Contrast:
    """Return one of 0.1's contrasts by the name of its statistic, e.g. `luck_carry`.

    Raises `InputError` for a name or a case that is none.
    """
    short = name.removeprefix("luck_")
    if short not in ROLES or case not in LUCK:
        known = f"one of {', '.join(ROLES)} for {' or '.join(LUCK)}"
        raise InputError("power", "contrast", f"{name!r}, {case!r}", known)
    return _contrast(short, Stratum(case), ROLES[short])


def _stratum(name: object) -> Stratum:
    case, *variants = str(name).split(".")
    cell = parse_cell(".".join([case, "FF", *variants]))
    if cell is None or cell.again or cell.probe:
        raise InputError(
            "params", "stratum", repr(name), 'write "unlucky", "lucky.dep" or the like'
        )
    return cell.stratum


def _plain_contrasts(strata: Sequence[Stratum], there: set[str], lesson: object) -> list[Contrast]:
    found = []
    decides = strata[0].name
    wanted = LUCK[strata[0].case] if lesson is None else str(lesson)
    for name, roles in ROLES.items():
        for stratum in strata:
            found.append(_contrast(name, stratum, roles))
    for stratum in strata:
        luck = LUCK[stratum.case]
        for letter in (luck, *(x for x in LESSONS if x != luck)):
            one = _contrast("outcome_effect", stratum, (("L" + letter, 1), ("O" + letter, -1)))
            found.append(replace(one, labels={"lesson": letter}))
    return [
        one
        for one in found
        if set(one.cells) <= there
        or (one.scope == decides and one.labels.get("lesson", wanted) == wanted)
    ]


def _contrast(name: str, stratum: Stratum, roles: Sequence[tuple[str, int]]) -> Contrast:
    weights = signed(*((stratum.cell(role), sign) for role, sign in roles))
    return Contrast(
        name,
        stratum.name,
        weights,
        descriptive=DESCRIPTIVE if stratum.dependent else "",
        beside="total" if name == "carry" else "",
    )


def _mitigations(strata: Sequence[Stratum], there: set[str]) -> list[Contrast]:
    """Return what each mitigation must do to harm, p_LL - p_LU, by criterion.

    Where no unrelated memory was asked under the mitigation, the one without serves both.
    """
    found = []
    for stratum in (s for s in strata if s.mitigations):
        own, plain = stratum.cell("LU"), stratum.plain.cell("LU")
        run = own in there
        with_it, without = stratum.cell("LL"), stratum.plain.cell("LL")
        note = "" if run else f"{plain} stands in for {own}, which was not run"
        less = signed((without, 1), (with_it, -1))
        if run:
            less = signed((without, 1), (plain, -1), (with_it, -1), (own, 1))
        for criterion, claim, weights in (
            ("reduction", "present", less),
            ("negligible", "negligible", signed((with_it, 1), (own if run else plain, -1))),
        ):
            found.append(
                Contrast(
                    "mitigation",
                    stratum.name,
                    weights,
                    everywhere="present" if claim == "present" else "negligible",
                    labels={"criterion": criterion},
                    note=note,
                    descriptive=DESCRIPTIVE if stratum.dependent else "",
                )
            )
    return found
