"""The one record of a statistic: what computes it, and every fact that another room asks of it.

Rules of this module:

* A record has no default: whoever adds a statistic says every fact, also that there is none.
* No room keeps a table of its own by names of statistics; it reads the record.
* `compute` takes one endpoint's rows of the readings table (`readings.table`) and a
  `analysis.question.Question`, and returns a list of `analysis.estimate.Estimate`, the headline
  first; with `whole_table` it takes the rows of all endpoints. This module knows neither type, so
  that every room can read it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

Compute = Callable[[Any, Any], list[Any]]

Over = Literal[
    "all",
    "same_window",
    "windows",
    "windows_same_day",
    "next_day",
    "other_day",
    "orders",
    "conditions",
    "gold",
]
"""Which pairs of readings a statistic compares.

`same_window`: repeats within a window. `windows`: two windows. `windows_same_day`, `next_day`,
`other_day`: two windows of one day, of two days in a row, of two different days. `orders`: two arms
of one item in one window. `conditions`: two conditions in one window. `gold`: a reading and its
item's gold. `all`: any two.
"""

PAIRS: tuple[Over, ...] = (
    "same_window",
    "windows",
    "windows_same_day",
    "next_day",
    "other_day",
    "conditions",
    "all",
)
ORDERS: tuple[Over, ...] = ("orders",)
WHOLE: tuple[Over, ...] = ("all", "same_window")
CELLS: tuple[Over, ...] = ("all",)

Facet = Literal[
    "repeats", "pair", "invalid", "windows", "days", "arms", "groups", "gold", "candidates", "truth"
]
"""What a plan or a table must hold: repeats of the same bytes; exactly two readings of an item;
several windows; several days; two arms (orders or label mappings); groups of two items or more;
gold answers; constructed candidates with their errors; items with constructed truth; readings
without a valid answer."""

Kind = Literal["share", "correlation", "positive", "plain"]
"""How an estimate scatters: a mean of shares in [0, 1]; normal on the scale atanh, log or none."""

Quantity = Literal["flips", "same", "reliability", "sd", "coefficient", "wrong", "right"]
"""What a consumer's decision allows: flips of single readings or their complement, the reliability
or noise of a score (as SD, or repeatability coefficient), wrong decisions or their complement."""

Subject = Literal["precision", "truth", "choices", "instrument"]
"""What a verdict on it speaks of: repeatability, agreement with what is right, choices in
constructed worlds, or delivery and identity of the instrument."""

Redesign = Literal["aggregate", "mean", "continuous"]
"""What can be proposed instead of a gate that does not discriminate: an aggregate of k rankings,
a mean of k scores, a continuous readout."""


@dataclass(frozen=True, slots=True)
class Param:
    """One parameter: its name, type, range and meaning.

    `kind` is "number", "whole", "text", "numbers" (a list) or "column" (of the table, or an item's
    meta key). `least` and `most` bound numbers, both ends allowed; `options` are the words allowed,
    empty where any is.
    """

    name: str
    kind: Literal["number", "whole", "text", "numbers", "column"]
    least: float
    most: float
    options: tuple[str, ...]
    about: str

    def fault(self, value: object) -> str | None:
        """Return what is wrong with a value, None if it may be given."""
        if self.kind == "numbers":
            listed = value if isinstance(value, list | tuple) else [value]
            return next((text for one in listed if (text := self._number_fault(one))), None)
        if self.kind in ("number", "whole"):
            return self._number_fault(value)
        if not isinstance(value, str) or (self.options and value not in self.options):
            return f"found {value!r}; {self.allowed}"
        return None

    def _number_fault(self, value: object) -> str | None:
        try:
            number = float(value)  # type: ignore[arg-type]  # what is no number raises
        except (TypeError, ValueError):
            return f"found {value!r}; {self.allowed}"
        whole = self.kind != "whole" or number == int(number)
        inside = math.isfinite(number) and self.least <= number <= self.most
        return None if inside and whole else f"found {value!r}; {self.allowed}"

    @property
    def allowed(self) -> str:
        """Return what may be given, in words."""
        if self.options:
            return f"one of {', '.join(self.options)}"
        words = {
            "text": "a text",
            "column": "the name of a column or of an item's meta key",
            "whole": "a whole number",
            "number": "a number",
            "numbers": "a list of numbers",
        }
        ends = [f"from {self.least:g}"] if math.isfinite(self.least) else []
        ends += [f"to {self.most:g}"] if math.isfinite(self.most) else []
        return " ".join([words[self.kind], *ends])


def number(name: str, about: str, least: float, most: float = math.inf) -> Param:
    """Return a parameter that takes a number from `least` to `most`."""
    return Param(name, "number", least, most, (), about)


def whole(name: str, about: str, least: float, most: float = math.inf) -> Param:
    """Return a parameter that takes a whole number from `least` to `most`."""
    return Param(name, "whole", least, most, (), about)


def numbers(name: str, about: str, least: float, most: float = math.inf) -> Param:
    """Return a parameter that takes a list of numbers from `least` to `most`."""
    return Param(name, "numbers", least, most, (), about)


def choice(name: str, about: str, *options: str) -> Param:
    """Return a parameter that takes one of some words; any text where none are named."""
    return Param(name, "text", -math.inf, math.inf, options, about)


def column(name: str, about: str) -> Param:
    """Return a parameter that names a column of the table or an item's meta key."""
    return Param(name, "column", -math.inf, math.inf, (), about)


DESIGNS = "it describes or sizes a design and is no property to pass or fail"
"""Why no gate rests on what sizes a study."""

BY = column("by", "further estimates, one for each value of this column")
"""The parameter that every statistic of one endpoint takes."""


@dataclass(frozen=True, slots=True)
class Answer:
    """One requirement that a statistic answers: the consumer's decision and what it then allows.

    `claim` narrows it to studies of one claim, "" takes any.
    """

    decision: str
    quantity: Quantity
    claim: str


@dataclass(frozen=True, slots=True)
class Example:
    """The gate that a new study is shown, for some readouts: threshold, healthy, degraded."""

    readouts: frozenset[str]
    threshold: str
    healthy: str
    degraded: str


@dataclass(frozen=True, slots=True)
class Coverage:
    """Where an interval's coverage was measured: the name in `stats.limits`.

    `spared` says of an estimate that a shortfall listed there is that of other data than its own.
    """

    name: str
    spared: Callable[[Any], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class Statistic:
    """All that is known of one statistic.

    name: its name in registrations. compute: see the module.
    reads: value columns, any of which it can be computed from; empty where it reads none or all.
    kind, bounds: how it scatters, and the least and the greatest value that its estimate can take.
    least_units: fewest independent units at which its estimate has an interval; 0 for none ever.
    claims: granularities that it speaks to; empty where it speaks to none in particular.
    over: comparisons it can be taken over, the first one where none is asked for.
    needs: facets that plan or table must hold.
    better: whether more of it is better ("high"), less ("low"), or neither ("").
    label, unit: what people read instead of its name, and what its values are in.
    covered: where its interval was measured to cover; None where that was not measured.
    answers: requirements that it answers. subject: what a verdict on it speaks of.
    defaults: readouts of which a new study registers it. told: kinds of tables (score, verdict,
    ranking, probability) of which `analyze TABLE` tells it unasked.
    example: the gate that a new study is shown, or None.
    params: what a registration may set beside `by`.
    per_pair: whether a comparison of rankings counts each pair of candidates.
    whole_table: whether it takes all endpoints at once.
    floor: whether it belongs to the noise floor that a pilot reports.
    kappa: sqrt(units) times its standard error on its scale where no pilot measured it, or None.
    greatest: whether it takes the best of several, so that one good one decides.
    redesigns: what to propose where its gate does not discriminate.
    why_no_gate: why no gate may rest on it; "" where one may.
    """

    name: str
    compute: Compute
    reads: tuple[str, ...]
    kind: Kind
    bounds: tuple[float, float]
    least_units: int
    claims: frozenset[str]
    over: tuple[Over, ...]
    needs: frozenset[Facet]
    better: Literal["high", "low", ""]
    label: str
    unit: str
    covered: Coverage | None
    answers: tuple[Answer, ...]
    subject: Subject
    defaults: frozenset[str]
    told: frozenset[str]
    example: Example | None
    params: tuple[Param, ...]
    per_pair: bool
    whole_table: bool
    floor: bool
    kappa: float | None
    greatest: bool
    redesigns: frozenset[Redesign]
    why_no_gate: str

    @property
    def gate(self) -> bool:
        """Whether a gate may rest on it."""
        return not self.why_no_gate

    @property
    def about(self) -> str:
        """What it gives: the first line of its function's docstring."""
        first = (self.compute.__doc__ or "").split("\n")[0]
        return " ".join(first.split()).removeprefix("Return ")

    @property
    def takes(self) -> tuple[Param, ...]:
        """All parameters that a registration may set."""
        return self.params if self.whole_table else (*self.params, BY)


Catalogue = Mapping[str, Statistic]
"""Statistics by name."""


def words(text: str) -> frozenset[Any]:
    """Return the words of a text as a set, for claims, facets and readouts."""
    return frozenset(text.split())
