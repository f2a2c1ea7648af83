"""Warnings where an interval fell short or was not measured."""

import pytest

from judgeaudit.stats.limits import LIMITS, MEASURED, is_listed, warn_if_unproven


@pytest.mark.parametrize("limit", LIMITS, ids=lambda limit: limit.analysis)
def test_a_listed_shortfall_warns_up_to_its_items_and_not_beyond(limit):
    assert f"{limit.coverage:.0%}" in warn_if_unproven(limit.analysis, limit.items)
    assert is_listed(f"{limit.analysis}, k=5", limit.items)


def test_spearman_at_thirty_items_is_proven():
    assert warn_if_unproven("spearman", 30) is None


def test_below_what_was_measured_it_says_so():
    assert "below 30 items" in warn_if_unproven("spearman", 29)
    assert "below 6 tasks" in warn_if_unproven("share of groups", 40, clusters=5)
    assert "was not measured" in warn_if_unproven("something new", 500)


def test_every_limit_belongs_to_a_measured_analysis():
    assert LIMITS
    assert all(limit.analysis in MEASURED for limit in LIMITS)
