"""Everything wrong with a study before it is frozen, at once, and what it will cost.

A problem stops a freeze; a note does not. Each check is one function of the inputs that yields
problems; what could not be read is reported by the draft, and the checks that need it are left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from judgeaudit.battery import lint
from judgeaudit.design.asking import Asker
from judgeaudit.design.bodies import BodyKey, Composer
from judgeaudit.design.check.criteria import criteria_notes, criteria_problems
from judgeaudit.design.check.endpoints import (
    endpoint_problems,
    schedule_notes,
    schedule_problems,
)
from judgeaudit.design.check.items import (
    compose_problems,
    item_problems,
    prompt_problems,
    protocol_problems,
)
from judgeaudit.design.check.plan import plan_notes, plan_problems
from judgeaudit.design.check.sequential import block_problems, sequential_problems
from judgeaudit.design.costs import (
    Numbers,
    measure,
    numbers_notes,
    numbers_problems,
    size_problem,
)
from judgeaudit.design.draft import Draft, Inputs
from judgeaudit.design.plan import make_plan
from judgeaudit.design.reasking import registration_findings
from judgeaudit.errors import JudgeauditError, Problem
from judgeaudit.statistic import Catalogue


@dataclass(frozen=True)
class CheckReport:
    """What was found: problems, notes, and the numbers where the plan could be made.

    `frozen` is True for a study that is frozen already.
    """

    problems: tuple[Problem, ...]
    notes: tuple[str, ...] = ()
    numbers: Numbers | None = None
    frozen: bool = False

    @property
    def ok(self) -> bool:
        """True where nothing stops a freeze."""
        return not self.problems


def check(draft: Draft, statistics: Catalogue | None = None) -> CheckReport:
    """Return every problem of a draft; `statistics` are the names that gates and rules may use.

    With `statistics` None the names are not checked, which a note says.
    """
    problems = list(draft.problems)
    if draft.registration is not None:
        problems += endpoint_problems(draft.registration)
        problems += schedule_problems(draft.registration)
        problems += criteria_problems(draft.registration, draft.protocol, statistics)
        problems += sequential_problems(draft.registration)
    if draft.protocol is not None:
        problems += protocol_problems(draft.protocol)
    if problems or draft.registration is None or draft.protocol is None:
        problems += _items_alone(draft)
        return CheckReport(_unique(problems))
    return _check_whole(draft.whole(), statistics)


def _items_alone(draft: Draft) -> list[Problem]:
    """Return what is wrong with the items where the rest is not sound enough to compose them."""
    if draft.protocol is None or not draft.items or list(protocol_problems(draft.protocol)):
        return []
    asker = Asker.of(draft.protocol)
    return [
        *prompt_problems(asker),
        *item_problems(asker, draft.protocol, draft.items, draft.controls),
    ]


def _check_whole(inputs: Inputs, statistics: Catalogue | None) -> CheckReport:
    asker = Asker.of(inputs.protocol)
    problems = [
        *prompt_problems(asker),
        *item_problems(asker, inputs.protocol, inputs.items, inputs.controls),
        *block_problems(inputs.registration, asker, inputs.items),
    ]
    if problems:
        return CheckReport(_unique(problems))
    composer = Composer.of(asker, inputs.registration.endpoints)
    sizes: dict[BodyKey, int] = {}
    bodies: set[str] = set()
    problems += compose_problems(composer, [*inputs.items, *inputs.controls], sizes, bodies)
    if problems:
        return CheckReport(_unique(problems))
    if problem := size_problem(inputs.registration, len(inputs.items)):
        return CheckReport((problem,))
    try:
        plan = make_plan(
            inputs.registration, inputs.protocol, inputs.items, inputs.controls, bodies={}
        )
    except JudgeauditError as error:
        return CheckReport((Problem("plan", str(error)),))
    about = (inputs.registration, asker, plan, inputs.items, statistics)
    problems += plan_problems(*about)
    numbers = measure(inputs.registration, inputs.protocol, plan, sizes, len(bodies))
    problems += numbers_problems(inputs.registration, numbers)
    findings = lint([item for item in inputs.items if "control" not in item.meta])
    problems += [
        Problem(found.where or "battery", found.message, found.rule)
        for found in findings
        if found.severity == "error"
    ]
    notes = [
        *schedule_notes(inputs.registration),
        *criteria_notes(inputs.registration, statistics),
        *plan_notes(*about),
        *registration_findings(inputs.registration, statistics or {}),
        *numbers_notes(inputs.registration, numbers),
        *(f"battery {found}" for found in findings if found.severity == "warning"),
    ]
    return CheckReport(_unique(problems), tuple(notes), numbers)


def _unique(problems: Iterable[Problem]) -> tuple[Problem, ...]:
    return tuple(dict.fromkeys(problems))


def lines(report: CheckReport) -> Iterator[str]:
    """Yield a report as text: problems, notes, then the numbers."""
    yield from (f"problem: {problem}" for problem in report.problems)
    yield from (f"note: {note}" for note in report.notes)
    if report.numbers is not None:
        yield from report.numbers.lines()
