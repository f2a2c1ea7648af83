"""Controls: made from the study's own items, so that its prompt fits them."""

import pytest

from judgeaudit.battery import build_battery, lint
from judgeaudit.battery.controls import NOTHING, controls_for
from judgeaudit.battery.foreign import Columns, items_from_rows
from judgeaudit.errors import InputError
from judgeaudit.instrument.readout import READOUTS, Prompt, build, problems_for
from judgeaudit.model import Item

LABELS = {"labels": {"correct": "A", "incorrect": "B"}}
STUDIES = [
    ("label_logprob", "traces", "{question}{candidate}{label_correct}", LABELS),
    ("label_pair", "traces", "{question}{candidate}{label_correct}{label_incorrect}", LABELS),
    ("ranking", "rankings", "{question}{candidates}", {}),
    ("ranking", "slips", "{question}{candidates}", {}),
    ("score", "scores", "{question}{candidate}", {"scale": {"low": 1, "high": 5}}),
    ("verdict", "pairs", "{candidate_1}{candidate_2}", {"categories": ["A", "B", "tie"]}),
    ("verdict", "scores", "{candidate}", {"categories": ["pass", "fail"]}),
    ("choice", "worlds", "{log}{tools}", {}),
    ("text", "worlds", "{log}{outcome_better_failed}", {}),
]


@pytest.mark.parametrize(("kind", "battery", "template", "options"), STUDIES)
def test_every_readout_can_ask_its_controls(kind, battery, template, options):
    items = build_battery(battery, 3, 1).items
    controls = controls_for(READOUTS[kind].record.controls, items)
    readout = build(kind, Prompt(None, template), options)

    assert [problem for item in controls for problem in problems_for(readout, item)] == []
    assert "identical" in {item.meta["control"] for item in controls}
    assert {item.id for item in controls}.isdisjoint(item.id for item in items)
    assert lint([*items, *controls]) == lint(items)
    assert controls_for(READOUTS[kind].record.controls, [*controls, *items]) == controls


def by_kind(kind, battery):
    controls = controls_for(READOUTS[kind].record.controls, build_battery(battery, 2, 1).items)
    return {item.meta["control"]: item for item in controls}


def test_a_compared_pair_is_identical_or_has_one_answer():
    found = by_kind("verdict", "pairs")
    identical, gold = found["identical"], found["gold"]

    assert identical.candidates[0].text == identical.candidates[1].text
    assert (identical.meta["expect"], identical.gold) == ("indifferent", None)
    assert [c.text for c in gold.candidates if c.id != gold.meta["expect"]] == [NOTHING]
    assert gold.gold == gold.meta["expect"]


def test_a_ranking_control_keeps_its_number_of_candidates_distinct():
    gold = by_kind("ranking", "rankings")["gold"]

    assert len({candidate.text for candidate in gold.candidates}) == 10


def test_readouts_of_one_answer_ask_the_same_twice():
    controls = controls_for("low", build_battery("traces", 1, 1).items)
    first, second = (item for item in controls if item.meta["control"] == "identical")

    assert (first.fields, first.candidates) == (second.fields, second.candidates)
    assert (first.meta["twin"], second.meta["twin"]) == (second.id, first.id)
    assert [i.meta["expect"] for i in controls if i.meta["control"] == "gold"] == ["low"]


def test_choices_are_between_equal_records_or_settled_ones():
    found = by_kind("choice", "worlds")

    assert found["identical"].fields["log"].count("| 40 | 20 | 20 |") == 2
    assert "| 40 | 40 | 0 |" in found["gold"].fields["log"]
    assert found["gold"].gold == found["gold"].meta["expect"] == "better"


def test_a_persons_own_columns_keep_their_places():
    """Without gold the first candidate is the one that says something."""
    rows = [(1, {"q": "Q", "a": "x", "b": "y"})]
    items = items_from_rows("f", rows, Columns(candidates=("a", "b"))).items
    identical, gold = controls_for("compared_if_several", items)
    readout = build("verdict", Prompt(None, "{q}{a}|{b}"), {"categories": ["A", "B"]})

    assert readout.ask(identical, "as-given").messages[0].content == "Qx|x"
    assert readout.ask(gold, "as-given").messages[0].content == f"Qx|{NOTHING}"
    assert gold.meta["expect"] == "a"


def test_what_cannot_carry_a_control_is_refused():
    with pytest.raises(InputError, match="no items to make controls from"):
        controls_for("low", [])
    with pytest.raises(InputError, match="a comparison needs at least 2"):
        controls_for("compared", [Item("q", "g", "t")])
