"""The declared design of a memory-luck study: factors, cells, contrasts. Values only.

* A *factor* has named levels, each with its words for people.
* A *cell* of the last stage has one level of each factor that it names. `again` says that it asks
  the bytes of another cell once more, `probe` that it asks which tool has the better record.
* A *contrast* is a sum of signed weights over P(worse tool) of cells; the weights add up to 0. It
  has a name, a scope (what it is narrowed to), a margin, the claims that are made of it, and, where
  `everywhere` names one of these, asks for that claim at every endpoint.

Contrasts of one name are one question asked in several scopes; the first one that is declared
decides where a registration names no scope. A protocol declares all of this; protocols of 0.1,
which had names of cells instead, are read by `named`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal

from judgeaudit.errors import InputError

Claim = Literal["present", "large", "negligible"]
CLAIMS: tuple[Claim, ...] = ("present", "large", "negligible")
Losses = Literal["planned", "asked"]


@dataclass(frozen=True, slots=True)
class CellSpec:
    """What a cell is: its level of each factor, whose bytes it repeats, whether it is a probe."""

    levels: Mapping[str, str] = field(default_factory=dict)
    again: str = ""
    probe: bool = False


@dataclass(frozen=True, slots=True)
class Contrast:
    """Signed weights over cells, and what to call and to claim of their sum.

    `labels` are what a registration may choose it by, beside its scope: e.g. {"lesson": "F"}. `of`
    says in words what it compares. `descriptive` is a caveat, "" where there is none; `beside` the
    name of the contrast of the same scope that every headline tells with it.
    """

    name: str
    scope: str
    weights: tuple[tuple[str, Fraction], ...]
    margin: float | None = None
    claims: tuple[Claim, ...] = CLAIMS
    everywhere: Claim | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    of: str = ""
    note: str = ""
    descriptive: str = ""
    beside: str = ""

    @property
    def cells(self) -> tuple[str, ...]:
        """The cells in the order of the declaration."""
        return tuple(cell for cell, _ in self.weights)

    @property
    def full_scope(self) -> str:
        """The scope with its labels, e.g. `unlucky, lesson=F`."""
        return ", ".join([self.scope, *(f"{k}={v}" for k, v in self.labels.items())])

    @property
    def id(self) -> str:
        """Name and scope: no two contrasts of a design have the same."""
        return f"{self.name} ({self.full_scope})"

    @property
    def formula(self) -> str:
        """The sum in words, e.g. `p(a) - p(b)`."""
        parts = []
        for n, (cell, weight) in enumerate(self.weights):
            sign = ("-" if weight < 0 else "") if n == 0 else (" - " if weight < 0 else " + ")
            size = "" if abs(weight) == 1 else f"{float(abs(weight)):g} "
            parts.append(f"{sign}{size}p({cell})")
        return "".join(parts)

    def halves(self) -> list[tuple[int, int]] | None:
        """Return pairs (added, subtracted) of positions, None where weights are not all +-1.

        Each cell is paired with the next one of the other sign that has no partner yet.
        """
        if any(abs(weight) != 1 for _, weight in self.weights):
            return None
        waiting: dict[int, list[int]] = {1: [], -1: []}
        found: list[tuple[int, int]] = []
        for place, (_, weight) in enumerate(self.weights):
            sign = int(weight)
            if waiting[-sign]:
                other = waiting[-sign].pop(0)
                found.append((place, other) if sign > 0 else (other, place))
            else:
                waiting[sign].append(place)
        return found


def signed(*weights: tuple[str, int]) -> tuple[tuple[str, Fraction], ...]:
    """Return weights as a contrast holds them."""
    return tuple((cell, Fraction(weight)) for cell, weight in weights)


@dataclass(frozen=True, slots=True)
class Design:
    """All that a protocol declares of its cells and contrasts.

    `losses`: with "planned" the share that is missing, and the worst cases, are those of planned
    worlds; with "asked", as in 0.1, of worlds that had a memory to ask with. `relevant` is the rule
    by which an endpoint counts as relevant: a contrast, and the claim that it makes there.
    """

    cells: Mapping[str, CellSpec]
    contrasts: tuple[Contrast, ...]
    factors: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    losses: Losses = "planned"
    relevant: Relevance | None = None

    def called(self, name: str) -> list[Contrast]:
        """Return the contrasts of a name, in the order of the declaration."""
        return [contrast for contrast in self.contrasts if contrast.name == name]

    @property
    def names(self) -> tuple[str, ...]:
        """The names of contrasts, each once."""
        return tuple(dict.fromkeys(contrast.name for contrast in self.contrasts))

    def beside(self, contrast: Contrast) -> Contrast | None:
        """Return the contrast that is told with another one, None where there is none."""
        return next((c for c in self.called(contrast.beside) if c.scope == contrast.scope), None)

    def words(self, cell: str) -> str:
        """Return a cell's levels in words, its name where it has none."""
        levels = self.cells[cell].levels if cell in self.cells else {}
        said = [self.factors.get(f, {}).get(level, level) for f, level in levels.items()]
        return "; ".join(word for word in said if word) or cell


@dataclass(frozen=True, slots=True)
class Relevance:
    """Which endpoints are relevant: those where `contrast` makes `claim`, by a frozen rule."""

    contrast: str
    scope: str
    claim: Claim


def chosen(design: Design, name: str, params: Mapping[str, object]) -> list[Contrast]:
    """Return the contrasts of a name that `params` choose, the one that decides first.

    `stratum` (or `scope`) names a scope; `lesson` and `criterion` are labels. Raises `InputError`
    naming what there is.
    """
    called = design.called(name)
    wanted = {key: str(params[key]) for key in ("stratum", "scope") if key in params}
    labels = {key: str(params[key]) for key in ("lesson", "criterion") if key in params}
    found = [
        one
        for one in called
        if all(one.scope == scope for scope in wanted.values())
        and all(one.labels.get(key, value) == value for key, value in labels.items())
    ]
    if called and not found:
        told = ", ".join(f"{k} = {v!r}" for k, v in (wanted | labels).items())
        key = next(iter(wanted | labels))
        there = ", ".join(dict.fromkeys(one.full_scope for one in called))
        raise InputError("params", key, f"no contrast {name!r} with {told}", f"declared: {there}")
    return found


def faults(design: Design) -> Iterator[tuple[str, str]]:
    """Yield (key, what is wrong) of a declaration."""
    yield from _cell_faults(design)
    seen: set[str] = set()
    for number, contrast in enumerate(design.contrasts):
        key = f"contrasts[{number}]"
        if contrast.id in seen:
            yield key, f"a second contrast {contrast.id}"
        seen.add(contrast.id)
        unknown = [cell for cell in contrast.cells if cell not in design.cells]
        if unknown:
            yield f"{key}.weights", f"no cell {unknown[0]!r} is asked in the last stage"
        probes = [c for c in contrast.cells if c in design.cells and design.cells[c].probe]
        if probes:
            yield f"{key}.weights", f"cell {probes[0]!r} is a probe: it asks for no next choice"
        total = sum((weight for _, weight in contrast.weights), Fraction(0))
        if total:
            yield f"{key}.weights", f"they add up to {float(total):g}, not to 0"
        if len(contrast.weights) < 2 or any(not weight for _, weight in contrast.weights):
            yield f"{key}.weights", "fewer than two cells with a weight unlike 0"
        if contrast.everywhere is not None and contrast.everywhere not in contrast.claims:
            yield f"{key}.everywhere", f"{contrast.everywhere!r} is none of its claims"
        if contrast.beside and design.beside(contrast) is None:
            yield f"{key}.beside", f"no contrast {contrast.beside!r} of scope {contrast.scope!r}"
    rule = design.relevant
    if rule is not None and not any(
        (c.name, c.full_scope) == (rule.contrast, rule.scope) for c in design.contrasts
    ):
        yield "relevant", f"no contrast {rule.contrast} ({rule.scope})"


def _cell_faults(design: Design) -> Iterator[tuple[str, str]]:
    seen: dict[tuple[tuple[str, str], ...], str] = {}
    for name, cell in design.cells.items():
        key = f"cell {name!r}"
        for factor, level in cell.levels.items():
            if factor not in design.factors:
                yield key, f"no factor {factor!r} is declared"
            elif level not in design.factors[factor]:
                known = ", ".join(design.factors[factor])
                yield key, f"factor {factor!r} has no level {level!r}, only {known}"
        if cell.again and cell.again not in design.cells:
            yield key, f"again: no cell {cell.again!r} is asked in the last stage"
        if cell.again or cell.probe or not cell.levels:
            continue
        levels = tuple(sorted(cell.levels.items()))
        if levels in seen:
            yield key, f"has the levels of cell {seen[levels]!r}; where it repeats it, say `again`"
        seen.setdefault(levels, name)


def undeclared(design: Design, asked: Sequence[str]) -> list[str]:
    """Return arms that were asked and that the design does not know."""
    return [arm for arm in asked if arm not in design.cells]
