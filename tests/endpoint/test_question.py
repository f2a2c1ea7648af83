"""The simulator understands the shipped protocols, and the wordings that people use."""

import json
import tomllib
from pathlib import Path

import pytest

from judgeaudit.battery.catalogue import build_battery
from judgeaudit.battery.controls import controls_for
from judgeaudit.canonical import digest
from judgeaudit.endpoint.simulated import Virtual, reply, scenario
from judgeaudit.endpoint.simulated.question import understand
from judgeaudit.instrument.provider import provider
from judgeaudit.instrument.readout import READOUTS, Prompt, build
from judgeaudit.model import Endpoint, Value

PROTOCOLS = Path(__file__).parents[2] / "protocols"
BATTERIES = {
    "label-logprob": "traces",
    "label-pair": "traces",
    "ranking": "rankings",
    "score": "scores",
    "verdict": "pairs",
    "text": "scores",
}
"""Kind of battery for each shipped protocol of one stage whose prompt needs no more than it has."""


def readout_of(name):
    document = tomllib.loads((PROTOCOLS / f"{name}.toml").read_text())
    prompt = Prompt(document["prompt"].get("system"), document["prompt"]["user"])
    return build(document["readout"], prompt, document.get("options", {})), document["decoding"]


def read(name, item, arm, *, api="openai.chat", judge="stable"):
    """One item through the real provider and readout, answered by the simulator."""
    readout, decoding = readout_of(name)
    endpoint = Endpoint("sim", api, "http://127.0.0.1", "m", api_version="2023-06-01")
    composed = provider(api).compose(endpoint, readout.ask(item, arm), decoding)
    body = json.loads(composed.body)
    sim = reply(scenario(judge), 3, body, digest(composed.body), Virtual(0), api=api)
    assert sim.status == 200, sim.body
    return readout.read(provider(api).read(sim.body), item, arm)


@pytest.mark.parametrize("name", BATTERIES)
def test_every_shipped_protocol_gets_valid_readings(name):
    items = build_battery(BATTERIES[name], 3, 1).items
    readout, _ = readout_of(name)

    for item in items:
        for arm in readout.arms(item):
            assert isinstance(read(name, item, arm), Value)


@pytest.mark.parametrize("name", ["ranking", "score", "verdict", "text"])
def test_protocols_without_logprobs_are_read_in_anthropics_shape_too(name):
    item = build_battery(BATTERIES[name], 1, 1).items[0]
    readout, _ = readout_of(name)

    value = read(name, item, readout.arms(item)[0], api="anthropic.messages")
    assert value == read(name, item, readout.arms(item)[0])


def test_both_orders_of_a_pair_mean_the_same_candidate():
    """Quality belongs to a text, not to the place where it is shown."""
    for item in build_battery("pairs", 20, 1).items:
        readout, _ = readout_of("verdict")
        meanings = {read("verdict", item, arm).category for arm in readout.arms(item)}
        assert len(meanings) == 1


@pytest.mark.parametrize("name", ["ranking", "verdict"])
def test_gold_controls_are_judged_as_expected(name):
    items = build_battery(BATTERIES[name], 2, 1).items
    readout, _ = readout_of(name)
    gold = next(
        c
        for c in controls_for(READOUTS[name].record.controls, items)
        if c.meta["control"] == "gold"
    )

    for arm in readout.arms(gold):
        value = read(name, gold, arm)
        assert gold.meta["expect"] in (value.category, (value.ranking or [None])[0])


@pytest.mark.parametrize("name", ["label-pair", "score"])
def test_an_item_without_an_answer_is_judged_low(name):
    items = build_battery(BATTERIES[name], 2, 1).items
    readout, _ = readout_of(name)
    gold = next(
        c for c in controls_for(readout.record.controls, items) if c.meta["control"] == "gold"
    )

    middle = 0.5 if name == "label-pair" else 3
    assert all(read(name, gold, arm).number < middle for arm in readout.arms(gold))


def asked(user, system="", *, schema=None, logprobs=False):
    return understand([("system", system), ("user", user)], schema, logprobs)


@pytest.mark.parametrize(
    ("line", "positive"),
    [
        ('"A" means correct, "B" means incorrect.', "A"),
        ('"A" means incorrect, "B" means correct.', "B"),
        ("A = wrong, B = right", "B"),
        ("Answer A if the proof is valid or B if it is not.", "A"),
        ("If the proof is correct, answer B. If it is wrong, answer A.", "B"),
        ("If correct, answer B, otherwise answer A.", "B"),
    ],
)
def test_the_mapping_of_labels_is_read_from_its_line(line, positive):
    question = asked(f"A proof.\n{line}\nAnswer with exactly one of: A, B", logprobs=True)

    assert (question.kind, question.positive) == ("label", positive)
    assert question.text == "A proof."


def test_labels_that_mean_something_need_no_mapping():
    question = asked("A proof.\nAnswer with exactly one of: no, yes", logprobs=True)

    assert question.positive == "yes"


@pytest.mark.parametrize(
    ("prompt", "options"),
    [
        ("Answer with exactly one of: A, B, tie", ("A", "B", "tie")),
        ("Reply with one of these words: pass or fail.", ("pass", "fail")),
        ('Say one of the following: "good" | "bad"', ("good", "bad")),
    ],
)
def test_closed_sets_are_read_from_their_line(prompt, options):
    question = asked(f"An essay.\n{prompt}")

    assert (question.kind, question.options) == ("verdict", options)


@pytest.mark.parametrize(
    ("prompt", "low", "high", "decimals"),
    [
        ("Give a number from 1 to 5.", 1, 5, False),
        ("Give a score between 0 and 100.", 0, 100, False),
        ("Rate it on a scale of 1-10.", 1, 10, False),
        ("Answer with a probability between 0.0 and 1.0", 0, 1, True),
        ("A number from 0 to 1, with two decimals", 0, 1, True),
        ("A score in [-3, 3]", -3, 3, False),
    ],
)
def test_scales_are_read_from_their_line(prompt, low, high, decimals):
    question = asked(f"An essay.\n{prompt}")

    assert question.kind == "score"
    assert (question.low, question.high, question.decimals) == (low, high, decimals)


def test_rules_in_the_system_message_count_where_the_user_gives_none():
    assert asked("An essay.", "Answer with exactly one of: pass, fail").options == ("pass", "fail")
    assert asked("An essay.", "You give a score from 1 to 7.").high == 7


@pytest.mark.parametrize(
    "shown",
    [
        "[K1] one\n\n[K2] two\n[K3] three",
        "K1: one\nK2: two\nK3: three",
        "K1:\none\n\nK2:\ntwo\n\nK3:\nthree",
        "Candidate K1: one\nCandidate K2: two\nCandidate K3: three",
        "**K1:** one\n**K2:** two\n**K3:** three".replace(":**", "**:"),
    ],
)
def test_candidates_are_found_however_they_are_headed(shown):
    question = asked(f'{shown}\n\nRank them: {{"ranking": [...]}}')

    assert question.kind == "ranking"
    assert question.shown == {"K1": "one", "K2": "two", "K3": "three"}


def test_an_enum_in_the_schema_gives_the_aliases():
    array = {"type": "array", "items": {"type": "string", "enum": ["x", "y"]}}
    question = asked("x: one\n\ny: two", schema={"properties": {"order": array}})

    assert (question.kind, question.property_) == ("ranking", "order")
    assert question.shown == {"x": "one", "y": "two"}


def test_structured_verdicts_and_scores_are_answered_as_objects():
    for part, allowed in (
        ({"type": "string", "enum": ["pass", "fail"]}, {"pass", "fail"}),
        ({"type": "integer", "minimum": 1, "maximum": 5}, {1, 2, 3, 4, 5}),
    ):
        schema = {"type": "object", "properties": {"it": part}}
        form = {"type": "json_schema", "json_schema": {"name": "n", "schema": schema}}
        messages = [{"role": "user", "content": "An essay."}]
        body = {"model": "m", "messages": messages, "response_format": form}
        sim = reply(scenario("stable"), 1, body, "sha256:" + "0" * 64, Virtual(0))
        answer = json.loads(json.loads(sim.body)["choices"][0]["message"]["content"])
        assert answer["it"] in allowed


def test_other_text_gets_free_text_that_says_it_is_simulated():
    sim = reply(
        scenario("stable"),
        1,
        {"model": "m", "messages": [{"role": "user", "content": "Why?"}]},
        "sha256:" + "0" * 64,
        Virtual(0),
    )

    text = json.loads(sim.body)["choices"][0]["message"]["content"]
    assert text.startswith("SIMULATED stable: ")


def test_a_request_without_text_is_told_what_was_looked_for():
    body = {"model": "m", "messages": [{"role": "user", "content": " "}]}
    sim = reply(scenario("stable"), 1, body, "sha256:" + "0" * 64, Virtual(0))

    assert sim.status == 400
    assert "looked for: a json_schema" in json.loads(sim.body)["error"]["message"]
