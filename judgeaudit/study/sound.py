"""A registration that may go on to its next step: checked with the statistics that there are."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from judgeaudit.analysis.catalogue import NAMES
from judgeaudit.design.check.study import CheckReport, check
from judgeaudit.design.draft import Draft
from judgeaudit.errors import Problem, RegistrationError
from judgeaudit.statistic import Catalogue
from judgeaudit.verdict.declared import declaration_problems, rehearsal_problems


def statistics() -> Catalogue:
    """Return the statistics that gates and rules may use."""
    return NAMES


def checked(draft: Draft) -> CheckReport:
    """Return everything that is wrong with a draft; contrasts by the code that analyses them."""
    report = check(draft, statistics())
    more = [one for one in _contrasts(draft) if one not in report.problems]
    return replace(report, problems=(*report.problems, *more))


def _contrasts(draft: Draft) -> Iterator[Problem]:
    if draft.protocol is None:
        return
    yield from declaration_problems(draft.protocol)
    if draft.registration is not None:
        worlds = [item.id for item in draft.items if "control" not in item.meta]
        yield from rehearsal_problems(draft.registration, draft.protocol, worlds)


def sound(draft: Draft) -> CheckReport:
    """Return a sound draft's report; raises `RegistrationError` with all that is wrong."""
    report = checked(draft)
    if not report.ok:
        raise RegistrationError(draft.root / "registration.toml", report.problems)
    return report
