"""What stage 2 sent, read from the sealed study: fresh requests, one memory each, by the rules."""

import json
import re
from collections import Counter

import pytest

MEMORY = re.compile(r"<memory>\n(.*?)\n</memory>", re.S)
ITEM = re.compile(r"^#+ *memory item", re.I | re.M)
OWN = {
    "unlucky.FF": "better.F",
    "unlucky.FS": "better.S",
    "unlucky.SF": "better.F",
    "unlucky.SS": "better.S",
    "lucky.SS": "worse.S",
    "lucky.SF": "worse.F",
    "lucky.FS": "worse.S",
    "lucky.FF": "worse.F",
}
UNRELATED = {
    "unlucky.FU": "better.F",
    "unlucky.SU": "better.S",
    "lucky.SU": "worse.S",
    "lucky.FU": "worse.F",
}


def asked(sealed, cell):
    """The calls of a cell that have a body."""
    return [call for call in sealed.calls(cell=cell) if sealed.body(call) is not None]


def memory_of(sealed, call):
    (found,) = MEMORY.findall(sealed.prompt(call))
    return found


def test_a_world_has_four_lessons_and_twenty_eight_choices(sealed):
    per_world = Counter((c.endpoint, c.item, c.stage) for c in sealed.frozen.plan)

    assert {n for (_, _, stage), n in per_world.items() if stage == 1} == {4}
    assert {n for (_, _, stage), n in per_world.items() if stage == 2} == {28}


def test_lesson_and_choice_share_no_conversation(sealed):
    """A choice is one user message: no turn of the conversation that wrote the lesson is in it."""
    for call in sealed.calls():
        body = sealed.body(call)
        if body is None:
            continue
        assert [message["role"] for message in body["messages"]] == ["user"]
        (lesson,) = {c.item: c for c in sealed.calls(1) if c.item == call.item}.values()
        instruction = sealed.prompt(lesson).split("\n\n")[3]
        assert instruction.startswith("The run ")
        assert instruction not in sealed.prompt(call)
        assert "notebook: from what happened" not in json.dumps(body)


def test_a_choice_shows_the_log_the_outcome_and_at_most_one_memory(sealed):
    for call in sealed.calls():
        if sealed.body(call) is None:
            continue
        item, prompt = sealed.frozen.items[call.item], sealed.prompt(call)
        case, letters = call.arm.split(".")[:2]
        role = "better" if case == "unlucky" else "worse"
        ending = "failed" if letters[0] == "F" else "succeeded"
        assert item.fields["log"] in prompt
        assert item.fields[f"outcome_{role}_{ending}"] in prompt
        assert len(MEMORY.findall(prompt)) == (0 if letters[1] == "N" else 1)


@pytest.mark.parametrize(("cell", "lesson"), OWN.items())
def test_an_own_memory_is_the_sealed_lesson_byte_for_byte(sealed, cell, lesson):
    calls = asked(sealed, cell)

    assert len(calls) >= 20
    for call in calls:
        assert memory_of(sealed, call) == sealed.lesson(call, lesson)["text"]


@pytest.mark.parametrize(("cell", "kind"), UNRELATED.items())
def test_an_unrelated_memory_is_of_another_world_and_the_same_kind(sealed, cell, kind):
    """It is a whole lesson of the same endpoint and outcome, has as many items as the own one,
    names neither tool, and no other such lesson is nearer in length."""
    for call in asked(sealed, cell):
        item = sealed.frozen.items[call.item]
        memory, own = memory_of(sealed, call), sealed.lesson(call, kind)["text"]
        tools = (item.fields["tool_1"].casefold(), item.fields["tool_2"].casefold())
        candidates = [
            sealed.readings[other.call_id]["text"]
            for other in sealed.calls(1, kind)
            if other.endpoint == call.endpoint and other.item != call.item
        ]
        fit = [
            text
            for text in candidates
            if text is not None
            and len(ITEM.findall(text)) == len(ITEM.findall(own))
            and not any(tool in text.casefold() for tool in tools)
        ]
        assert memory in fit
        assert not any(tool in memory.casefold() for tool in tools)
        assert abs(len(memory) - len(own)) == min(abs(len(text) - len(own)) for text in fit)


def test_arms_of_one_outcome_differ_in_their_memory_alone(sealed):
    for call in asked(sealed, "unlucky.FF"):
        rest = MEMORY.sub("", sealed.prompt(call))
        for cell in ("unlucky.FS", "unlucky.FU", "unlucky.FD"):
            for other in asked(sealed, cell):
                if (other.endpoint, other.item) == (call.endpoint, call.item):
                    assert MEMORY.sub("", sealed.prompt(other)) == rest


def test_the_arm_asked_again_sends_the_same_bytes(sealed):
    first = {(c.endpoint, c.item): c.body_sha256 for c in sealed.calls(cell="unlucky.FF")}
    again = {(c.endpoint, c.item): c.body_sha256 for c in sealed.calls(cell="unlucky.FF.again")}

    assert first == again


def test_only_the_dependent_arms_leave_independence_unsaid(sealed):
    for call in sealed.calls():
        if sealed.body(call) is not None:
            said = "Runs are independent" in sealed.prompt(call)
            assert said == (".dep" not in call.arm)


def test_a_note_on_choosing_changes_nothing_else(sealed):
    for noted, plain in (("unlucky.FF.note-c", "unlucky.FF"), ("unlucky.SS.both-c", "unlucky.SS")):
        bodies = {(c.endpoint, c.item): sealed.prompt(c) for c in asked(sealed, plain)}
        for call in asked(sealed, noted):
            parts = sealed.prompt(call).split("\n\n")
            note = [part for part in parts if part.startswith("A good decision")]
            assert len(note) == 1
            parts.remove(note[0])
            assert "\n\n".join(parts) == bodies[call.endpoint, call.item]


def test_cells_are_interleaved(sealed):
    """In each half of a lane every cell has been asked: no cell waits for another to end."""
    for endpoint in ("bayes", "carries", "cut"):
        arms = [c.arm for c in sealed.calls() if c.endpoint == endpoint]
        half = len(arms) // 2
        assert set(arms[:half]) == set(arms[half:]) == set(arms)


def test_an_invalid_lesson_leaves_its_choices_without_memory_and_unsent(sealed):
    cut = {(c.item, c.arm) for c in sealed.calls(1) if sealed.readings[c.call_id]["status"] != "ok"}
    assert cut, "the scenario cuts a fifth of the bodies"
    sent = {attempt["call_id"] for attempt in sealed.attempts}
    seen = 0
    for cell, lesson in {**OWN, **UNRELATED}.items():
        for call in sealed.calls(cell=cell):
            reading = sealed.readings[call.call_id]
            if call.endpoint == "cut" and (call.item, lesson) in cut:
                seen += 1
                assert (reading["status"], reading["reason"]) == ("invalid", "no_memory")
                assert call.call_id not in sent
    assert seen == len(cut) * 3  # two cells take it as their own, one for its length


def test_no_lesson_was_drawn_twice(sealed):
    """One attempt a lesson: what could not be read is never asked again."""
    lessons = {call.call_id for call in sealed.calls(1)}
    attempts = Counter(a["call_id"] for a in sealed.attempts if a["call_id"] in lessons)

    assert set(attempts) == lessons
    assert set(attempts.values()) == {1}
