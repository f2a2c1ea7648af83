"""A registration that may go on to its next step: checked with the statistics that there are."""

from __future__ import annotations

from judgeaudit.analysis.catalogue import NAMES
from judgeaudit.design.check.study import CheckReport, require_sound
from judgeaudit.design.draft import Draft
from judgeaudit.statistic import Catalogue


def statistics() -> Catalogue:
    """Return the statistics that gates and rules may use."""
    return NAMES


def sound(draft: Draft) -> CheckReport:
    """Return a sound draft's report; raises `RegistrationError` with all that is wrong."""
    return require_sound(draft, statistics())
