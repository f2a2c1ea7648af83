"""Tables of a supplement: types by name, truth by item, a README made from the schemas."""

import pyarrow as pa
import pytest

from judgeaudit.analysis.estimate import Estimate, undefined
from judgeaudit.model import Candidate, Item
from judgeaudit.report.supplement.tables import (
    VERDICT_COLUMNS,
    Origin,
    Part,
    estimates_table,
    verdicts_table,
)
from judgeaudit.report.supplement.truth import Truth, candidates_table
from judgeaudit.report.supplement.words import readme
from judgeaudit.verdict import Findings, Held, Named, Outcome, Verdict

HALF = Estimate("flip_rate", 0.5, endpoint="a", low=0.2, high=0.8)


def findings(*verdicts, named=()):
    return Findings((), verdicts, tuple(named), ())


def test_types_do_not_depend_on_what_is_there():
    """A column of nothing but nulls has the type of one that is full."""
    full, empty = estimates_table([HALF]), estimates_table([undefined("icc", "one run")])

    assert full.schema == empty.schema == estimates_table([]).schema
    assert verdicts_table(findings()).schema.names == list(VERDICT_COLUMNS)


def test_a_gate_over_two_endpoints_has_two_rows():
    held = (
        Held("a", Outcome.PASS, HALF, Outcome.PASS),
        Held("b", Outcome.UNDEFINED, undefined("flip_rate", "one run"), None, ("one run",)),
    )
    gate = Verdict("g", Outcome.UNDEFINED, "flip_rate", "all", "at most .9", "bound", held)

    rows = verdicts_table(findings(gate)).to_pylist()

    assert [(r["endpoint"], r["outcome"], r["value"], r["reasons"]) for r in rows] == [
        ("a", "pass", 0.5, []),
        ("b", "undefined", None, ["one run"]),
    ]


def test_a_composite_gate_has_one_row_with_its_parts():
    both = Verdict("c", Outcome.FAIL, "", "", "all of g, h", "parts", parts=("g", "h"))

    (row,) = verdicts_table(findings(both)).to_pylist()

    assert (row["kind"], row["endpoint"], row["parts"]) == ("composite gate", "all", ["g", "h"])


def test_a_rule_stands_with_its_first_estimate_at_each_endpoint():
    other = Estimate("flip_rate", 0.9, endpoint="a", scope="group=1")
    rule = Named("r", "flip_rate", "all", (("a", "middle"),), (HALF, other), ("low", "middle"))

    (row,) = verdicts_table(findings(named=[rule])).to_pylist()

    assert (row["kind"], row["outcome"], row["value"], row["asks"]) == (
        "rule", "middle", 0.5, "low, middle",
    )  # fmt: skip


def items():
    sole = (Candidate("c", "text", correct=True),)
    two = (Candidate("x", "t", True, {"slip": 1}), Candidate("y", "t", False))
    return [
        Item("i0", "g", "t", candidates=sole, gold="yes", meta={"easy": True, "n": 1, "m": 1}),
        Item("i1", "g", "t", candidates=two, meta={"control": "gold", "n": 2.5, "m": "a"}),
    ]


def test_readings_take_their_items_truth_and_typed_meta():
    readings = pa.table({"item": ["i1", "i0", "gone"]})
    truth = Truth(items())
    schema = truth.schema(readings.schema)

    rows = truth.join(readings, schema).to_pylist()

    assert [r["gold"] for r in rows] == [None, "yes", None]
    assert [r["correct"] for r in rows] == [None, True, None]
    assert [r["control"] for r in rows] == ["gold", None, None]
    assert [r["meta.n"] for r in rows] == [2.5, 1.0, None]
    assert [r["meta.easy"] for r in rows] == [None, True, None]
    assert [r["meta.m"] for r in rows] == ["a", "1", None]


def test_candidates_have_one_row_each_and_no_text():
    table = candidates_table(items())

    assert table.column("candidate").to_pylist() == ["c", "x", "y"]
    assert table.column("position").to_pylist() == [0, 0, 1]
    assert table.column("meta").to_pylist() == ["{}", '{"slip": 1}', "{}"]
    assert "text" not in table.schema.names


@pytest.mark.parametrize(("exploratory", "said"), [(True, True), (False, False)])
def test_the_readme_says_exploratory_where_it_is(exploratory, said):
    table = verdicts_table(findings())
    origin = Origin("Title", "0.1", exploratory, {"a|b": "sha256:00"})

    text = readme(origin, [Part("verdicts", "one gate", table.schema, 3)])

    assert ("Exploratory: " in text) is said
    assert "| `verdicts.parquet` | 3 | one gate |" in text
    assert r"| a\|b | `sha256:00` |" in text
