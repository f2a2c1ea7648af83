"""Constructed errors of known size and type (CE: A-S3): one right total among nine slips.

A task is a sum of five whole numbers whose sizes run from two to six digits, so that each type of
slip comes at several scales and size is not confounded with type:

* `unit`: one digit of the total raised or lowered by one;
* `transposed`: two neighbouring digits of the total exchanged (relative error below 1);
* `omitted`: one number left out;
* `sign`: one number subtracted;
* `shifted`: one number read with a zero too many.

All ten candidates have the same wording and differ in the total alone. A slip's relative error is
|slip - truth| / truth, exact. A variant is a task with one set of nine slips; types and bins of
relative error are filled evenly over the battery.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from judgeaudit.battery.draws import Draws
from judgeaudit.battery.items import Battery
from judgeaudit.battery.kind import BatteryKind, Finding
from judgeaudit.errors import InputError
from judgeaudit.model import Candidate, Item

TYPES = ("unit", "transposed", "omitted", "sign", "shifted")

BINS = (Fraction(1, 1000), Fraction(1, 100), Fraction(1, 10), Fraction(1))
"""Edges of CE's bins of relative error: below the first, between two, at or above the last."""

BIN_NAMES = ("<1e-3", "[1e-3,1e-2)", "[1e-2,1e-1)", "[1e-1,1)", ">=1")

CELL_FLOOR = 20
"""A contrast within an error type needs this many independent slips a cell."""


@dataclass(frozen=True, slots=True)
class Slip:
    """A wrong total, how it came about, and |slip - truth| / truth."""

    total: int
    type: str
    error: Fraction

    @property
    def bin(self) -> str:
        """The bin of its relative error."""
        return bin_of(self.error)


def bin_of(error: Fraction) -> str:
    """Return the name of the bin that a relative error falls into; edges belong above."""
    return BIN_NAMES[sum(error >= edge for edge in BINS)]


def draw_terms(draws: Draws) -> tuple[int, ...]:
    """Return whole numbers of 2, 3, 4, 5 and 6 digits whose sum has two slips of each type."""
    while True:
        terms = [draws.between(10**d, 10 ** (d + 1) - 1) for d in range(1, 6)]
        found = Counter(slip.type for slip in possible_slips(tuple(terms)))
        if all(found[kind] >= 2 for kind in TYPES):
            return tuple(draws.shuffled(terms))


def possible_slips(terms: tuple[int, ...]) -> list[Slip]:
    """Return every slip of the five types, each total once, none equal to the truth.

    A total that two types can explain is left out: its type would not be known.
    """
    truth = sum(terms)
    found = [Slip(total, kind, Fraction(abs(total - truth), truth)) for kind, total in _all(terms)]
    kinds: dict[int, set[str]] = {}
    for slip in found:
        kinds.setdefault(slip.total, set()).add(slip.type)
    single = {slip.total: slip for slip in found if len(kinds[slip.total]) == 1}
    return [slip for total, slip in sorted(single.items()) if total != truth]


def _all(terms: tuple[int, ...]) -> Iterator[tuple[str, int]]:
    truth = sum(terms)
    digits = str(truth)
    for place in range(len(digits)):
        digit, unit = digits[-1 - place], 10**place
        if digit != "9":
            yield "unit", truth + unit
        if digit != "0" and not (digit == "1" and place == len(digits) - 1):
            yield "unit", truth - unit
    for i in range(len(digits) - 1):
        if digits[i] != digits[i + 1] and (i or digits[1] != "0"):
            total = int(digits[:i] + digits[i + 1] + digits[i] + digits[i + 2 :])
            # Few totals can more than double by it: a cell that could never be filled.
            if total < 2 * truth:
                yield "transposed", total
    for term in terms:
        yield "omitted", truth - term
        yield "sign", truth - 2 * term
        yield "shifted", truth + 9 * term


@dataclass
class Ledger:
    """How often each (type, bin) was chosen in the battery, and each slip within its task."""

    cells: Counter[tuple[str, str]]
    totals: Counter[int]

    def choose(self, draws: Draws, possible: list[Slip], types: list[str]) -> list[Slip]:
        """Return one slip for each entry of `types`, from the cells that are emptiest so far.

        Among equally empty cells a slip that its task has not shown yet comes first.
        """
        chosen: list[Slip] = []
        for kind in types:
            free = [slip for slip in possible if slip.type == kind and slip not in chosen]
            fewest = min(map(self._use, free))
            slip = draws.choice([slip for slip in free if self._use(slip) == fewest])
            self.cells[kind, slip.bin] += 1
            self.totals[slip.total] += 1
            chosen.append(slip)
        return chosen

    def _use(self, slip: Slip) -> tuple[int, int]:
        return self.cells[slip.type, slip.bin], self.totals[slip.total]


def types_of(position: int) -> list[str]:
    """Return the nine types of item number `position`: the one that comes once takes turns."""
    once = TYPES[position % len(TYPES)]
    return [kind for kind in TYPES for _ in range(1 if kind == once else 2)]


def slip_items(n: int, seed: int, *, variants: int = 3) -> Battery:
    """Return `variants` items for each of `n` tasks, ten candidates each, for the ranking readout.

    Candidates carry `type`, `bin` and `relative_error` (as a float, and exactly as a fraction);
    the item's gold is the right one's id. Raises `InputError` for no task or no variant.
    """
    if n < 1 or variants < 1:
        raise InputError("battery", "slips", f"{n} tasks, {variants} variants", "at least 1 each")
    cells: Counter[tuple[str, str]] = Counter()
    items: list[Item] = []
    for number in range(n):
        terms, ledger = draw_terms(Draws(seed, "slips", number)), Ledger(cells, Counter())
        for variant in range(1, variants + 1):
            draws = Draws(seed, "slips", number, variant)
            slips = ledger.choose(draws, possible_slips(terms), types_of(len(items)))
            items.append(_item(draws, f"s{number:03d}", variant, terms, slips))
    counts = {f"{kind} {name}": cells[kind, name] for kind in TYPES for name in BIN_NAMES}
    return Battery(tuple(items), {"tasks": n, "items": len(items), "slips": counts})


def _item(draws: Draws, task: str, variant: int, terms: tuple[int, ...], slips: list[Slip]) -> Item:
    truth = sum(terms)
    entries = draws.shuffled([Slip(truth, "correct", Fraction(0)), *slips])
    candidates = tuple(_candidate(f"c{i}", entry) for i, entry in enumerate(entries, 1))
    name = f"{task}v{variant}"
    return Item(
        id=name,
        group=name,
        task=task,
        fields={"question": f"What is {' + '.join(map(str, terms))}?"},
        candidates=candidates,
        gold=next(candidate.id for candidate in candidates if candidate.correct),
        meta={"battery": "slips", "variant": variant},
    )


def _candidate(name: str, entry: Slip) -> Candidate:
    right = entry.type == "correct"
    meta = (
        {}
        if right
        else {
            "type": entry.type,
            "bin": entry.bin,
            "relative_error": float(entry.error),
            "relative_error_exact": str(entry.error),
        }
    )
    return Candidate(name, f"The sum is {entry.total}.", right, meta)


def checked(items: Sequence[Item]) -> Iterator[Finding]:
    """Yield slips without their size, and cells of type and bin that hold too few tasks.

    Slips of one task are not independent, so a cell counts tasks.
    """
    cells: dict[tuple[str, str], set[str]] = defaultdict(set)
    for item in items:
        for candidate in item.candidates:
            if candidate.correct:
                continue
            if not {"type", "bin", "relative_error"} <= candidate.meta.keys():
                place = f"{item.id}/{candidate.id}"
                yield Finding("error", "error-size", place, "a slip without type and size")
                continue
            cells[candidate.meta["type"], candidate.meta["bin"]].add(item.task)
    thin = [f"{kind} {name}" for (kind, name), t in sorted(cells.items()) if len(t) < CELL_FLOOR]
    if thin:
        message = f"{len(thin)} of {len(cells)} cells have fewer than {CELL_FLOOR} tasks: "
        yield Finding("warning", "thin-cells", "", message + ", ".join(thin))


SLIPS = BatteryKind(
    name="slips",
    build=slip_items,
    counted="tasks",
    about="one right total among nine slips of known type and size",
    balanced=False,  # one candidate of ten is right by construction
    lint=checked,
    controls=None,
)
