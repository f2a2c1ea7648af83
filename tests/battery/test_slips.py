"""Constructed errors: type and size recomputed from the wording alone."""

import re
from collections import Counter
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judgeaudit.battery import build_battery, lint
from judgeaudit.battery.slips import BIN_NAMES, TYPES, bin_of
from judgeaudit.errors import InputError


def numbers(text):
    return [int(found) for found in re.findall(r"-?\d+", text)]


def explains(kind, total, terms):
    """Could a slip of this type give `total`? Written apart from the builder."""
    truth = sum(terms)
    if kind == "unit":
        size = abs(total - truth)
        return size in {10**k for k in range(7)} and len(str(total)) == len(str(truth))
    if kind == "transposed":
        pairs = [i for i, (a, b) in enumerate(zip(str(total), str(truth), strict=True)) if a != b]
        return (
            len(pairs) == 2
            and pairs[1] == pairs[0] + 1
            and sorted(str(total)) == sorted(str(truth))
        )
    change = {"omitted": -1, "sign": -2, "shifted": 9}[kind]
    return total - truth in [change * term for term in terms]


@settings(max_examples=20)
@given(st.integers(0, 10**6))
def test_one_right_total_and_nine_slips_of_their_type_and_size(seed):
    for item in build_battery("slips", 2, seed).items:
        terms = numbers(item.fields["question"])
        assert [len(str(term)) for term in sorted(terms)] == [2, 3, 4, 5, 6]
        right = [c for c in item.candidates if c.correct]
        assert [c.id for c in right] == [item.gold]
        assert numbers(right[0].text) == [sum(terms)]
        for candidate in item.candidates:
            if candidate.correct:
                continue
            (total,) = numbers(candidate.text)
            error = Fraction(abs(total - sum(terms)), sum(terms))
            assert candidate.meta["relative_error_exact"] == str(error)
            assert candidate.meta["relative_error"] == float(error)
            assert explains(candidate.meta["type"], total, terms)
            assert candidate.text == f"The sum is {total}."


def test_each_item_has_nine_slips_of_five_types_and_types_are_even():
    """9 = 2 + 2 + 2 + 2 + 1; over five items every type comes nine times."""
    counts = [
        Counter(c.meta["type"] for c in item.candidates if not c.correct)
        for item in build_battery("slips", 5, 1, variants=1).items
    ]

    assert [sorted(count.values()) for count in counts] == [[1, 2, 2, 2, 2]] * 5
    assert sum(counts, Counter()) == dict.fromkeys(TYPES, 9)


def test_size_is_not_confounded_with_type():
    """Each type is met in every bin from below 1e-3 to 1, about equally often."""
    cells = build_battery("slips", 25, 1).report["slips"]

    for kind in TYPES:
        per_bin = [cells[f"{kind} {name}"] for name in BIN_NAMES[:4]]
        assert min(per_bin) > 0
        assert max(per_bin) - min(per_bin) <= 2


def test_forty_tasks_fill_every_cell_that_the_types_can_have():
    """Five types in four bins, and two types (`sign`, `shifted`) that also reach 1: 22 cells."""
    battery = build_battery("slips", 40, 1)

    assert lint(battery.items) == []
    assert sum(count > 0 for count in battery.report["slips"].values()) == 22


@pytest.mark.parametrize(
    ("error", "name"),
    [
        (Fraction(1, 1001), "<1e-3"),
        (Fraction(1, 1000), "[1e-3,1e-2)"),
        (Fraction(1, 100), "[1e-2,1e-1)"),
        (Fraction(1, 10), "[1e-1,1)"),
        (Fraction(1), ">=1"),
    ],
)
def test_an_edge_belongs_to_the_bin_above(error, name):
    assert bin_of(error) == name


def test_at_least_one_task_and_one_variant():
    with pytest.raises(InputError, match="at least 1 each"):
        build_battery("slips", 3, 1, variants=0)
