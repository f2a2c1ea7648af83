"""Scripted agents read worlds as the battery writes them, and act as planted."""

import json
import re

import pytest
from scipy.stats import binomtest

from judgeaudit.battery.catalogue import build_battery
from judgeaudit.canonical import body_bytes, digest
from judgeaudit.endpoint.simulated import Virtual, reply, scenario
from judgeaudit.endpoint.simulated.agent import by_record, last_outcome

WORLDS = build_battery("worlds", 40, 1).items


def send(name, prompt, t=0, **params):
    body = {"model": "m", "messages": [{"role": "user", "content": prompt}], **params}
    sim = reply(scenario(name), 5, body, digest(body_bytes(body)), Virtual(t))
    return json.loads(sim.body)["choices"][0]["message"]["content"]


def decision(world, outcome, memory):
    fields = world.fields
    return (
        f"{fields['log']}\nRuns are independent.\n{fields[f'outcome_{outcome}']}\n"
        f"<memory>\n{memory}\n</memory>\nWhich tool is used first?\n"
        f"Answer with exactly one of: {fields['tool_1']}, {fields['tool_2']}"
    )


def lesson(world, outcome, name="superstitious-agent"):
    fields = world.fields
    return send(
        name,
        f"{fields['log']}\n{fields[f'outcome_{outcome}']}\nWrite at most 3 memory items, each with "
        "title, description and content.",
    )


def share_worse(name, outcome, memory_of, draws=25, *, worlds=WORLDS):
    """(worse choices, choices) over the worlds, `draws` moments each."""
    worse = total = 0
    for world in worlds:
        prompt = decision(world, outcome, memory_of(world))
        for t in range(draws):
            worse += send(name, prompt, t) == world.meta["worse"]
            total += 1
    return worse, total


def inside(planted, count, total):
    found = binomtest(count, total).proportion_ci(0.99, "exact")
    return found.low <= planted <= found.high


def test_the_better_tool_is_read_from_either_form_of_log():
    table = "| tool | runs | succeeded | failed |\n| --- | --- | --- | --- |\n"
    table += "| Zig | 40 | 20 | 20 |\n| Quo | 40 | 32 | 8 |"
    lines = "Zig: 20 successes in 40 runs\nQuo: 32 successes in 40 runs"

    assert by_record(table, ("Zig", "Quo")) == by_record(lines, ("Zig", "Quo")) == ["Quo", "Zig"]
    assert by_record("no log", ("Zig", "Quo")) == []


def test_the_outcome_shown_is_read_and_none_inside_the_memory():
    for world in WORLDS:
        assert last_outcome(world.fields["outcome_better_failed"]) == (
            world.meta["better"],
            "failed",
        )
    assert last_outcome("Last run: Quo succeeded.") == ("Quo", "succeeded")
    assert last_outcome("<memory>Last run: Quo failed.</memory>") is None


def test_a_bayes_agent_picks_the_better_tool_whatever_it_remembers():
    for outcome in ("better_failed", "better_succeeded", "worse_succeeded"):
        worse, _ = share_worse("bayes-agent", outcome, lambda w: lesson(w, "better_failed"), 2)
        assert worse == 0


@pytest.mark.parametrize("carry", [0.042, 0.352])
def test_a_superstitious_agent_has_its_planted_chance_after_failure_and_its_lesson(carry):
    """FF = base + carry; every other cell is base = .004, so CARRY = carry."""
    name = f"superstitious-agent:{carry}"
    blame = share_worse(name, "better_failed", lambda w: lesson(w, "better_failed"))

    assert inside(0.004 + carry, *blame)


@pytest.mark.parametrize(
    ("outcome", "memory"),
    [
        ("better_failed", "better_succeeded"),
        ("better_succeeded", "better_failed"),
        ("better_succeeded", "better_succeeded"),
        ("worse_succeeded", "worse_succeeded"),
    ],
)
def test_a_superstitious_agent_is_calm_in_every_other_cell(outcome, memory):
    cell = share_worse("superstitious-agent:0.352", outcome, lambda w: lesson(w, memory), 10)

    assert inside(0.004, *cell)


def test_the_lesson_of_another_world_and_a_directive_carry_nothing():
    foreign = lesson(WORLDS[0], "better_failed")
    tool = WORLDS[0].meta["better"]  # names recur; an unrelated memory names neither tool
    name, others = "superstitious-agent:0.9", [w for w in WORLDS if w.meta["better"] != tool]

    for memory_of in (lambda w: foreign, lambda w: f"Avoid {w.meta['better']}."):
        assert inside(0.004, *share_worse(name, "better_failed", memory_of, 10, worlds=others))


def test_a_random_agent_picks_either_tool():
    assert inside(0.5, *share_worse("random-agent", "better_failed", lambda w: "", 20))


def test_a_stubborn_agent_picks_what_is_offered_first():
    for world in WORLDS:
        prompt = decision(world, "better_failed", "")
        assert send("stubborn-agent", prompt) == world.fields["tool_1"]


def test_an_unparsable_agent_names_no_tool_in_its_planted_share():
    answers = [
        send("unparsable-agent", decision(world, "better_failed", ""), t)
        for world in WORLDS
        for t in range(20)
    ]

    assert inside(0.3, sum(answer.startswith("SIMULATED") for answer in answers), len(answers))


def test_a_lesson_is_one_item_that_blames_after_failure_only():
    world = WORLDS[0]
    failure, success = lesson(world, "better_failed"), lesson(world, "better_succeeded")

    for text in (failure, success):
        assert re.findall(r"^## (\w+)$", text, re.M) == ["Title", "Description", "Content"]
        assert "SIMULATED" in text
    assert f"avoid {world.meta['better']} because it failed" in failure
    assert "avoid" not in success


def test_a_lesson_comes_as_json_where_the_prompt_shows_json():
    text = send(
        "bayes-agent",
        'Last run: Quo failed.\nWrite at most 3 memory items as {"items": [{"title": "..."}]}.',
    )

    (item,) = json.loads(text)["items"]
    assert set(item) == {"title", "description", "content"}


def test_the_same_bytes_at_the_same_time_get_the_same_choice():
    prompt = decision(WORLDS[0], "better_failed", "")

    assert [send("random-agent", prompt, t) for t in range(20)] == [
        send("random-agent", prompt, t) for t in range(20)
    ]
    assert len({send("random-agent", prompt, t) for t in range(20)}) == 2
