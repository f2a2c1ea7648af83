"""Later stages: bodies from sealed readings, by the frozen matching rule."""

import json

import pytest

from judgeaudit.design.stages import make_stage
from judgeaudit.errors import EvidenceError
from judgeaudit.evidence.lock.files import freeze, load_frozen
from judgeaudit.evidence.lock.stage_files import freeze_stage, verify_stage
from judgeaudit.model import Invalid, Reading, Reason, Value

PROTOCOL = """
name = "two-stages"
version = "1"

[[stages]]
readout = "text"
prompt = { user = "Write a lesson: {question}" }
[[stages.cells]]
name = "lesson"

[[stages]]
readout = "choice"
options = { tools_field = "tools_shown" }
prompt = { user = "{memory}\\n{question}\\nAnswer with exactly one of: {tools}" }
[[stages.cells]]
name = "own"
take = [{ field = "memory", cell = "lesson" }]
[[stages.cells]]
name = "unrelated"
[[stages.cells.take]]
field = "memory"
cell = "lesson"
source = "unrelated"
avoid = ["tool"]
count = "(?m)^Title:"
[[stages.cells]]
name = "none"
fields = { memory = "No memory." }
"""

CLAIM = {'claim = "score"': 'claim = "choice"'}


def world(number, tool):
    return {
        "id": f"i{number}",
        "group": f"g{number}",
        "task": f"t{number}",
        "fields": {"question": f"World {number}?", "tool": tool, "tools_shown": [tool, "other"]},
    }


WORLDS = [world(0, "Alpha"), world(1, "Beta"), world(2, "Gamma"), world(3, "Delta")]


@pytest.fixture
def study(make, facts):
    root = make(toml=PROTOCOL, items=WORLDS, controls=[], replace=CLAIM)
    freeze(root, facts)
    return load_frozen(root)


def readings(study, **texts):
    """Stage 1's readings: `i0="..."` for both endpoints; None is an invalid one."""
    for call in study.plan:
        if call.stage == 1:
            text = texts[call.item]
            value = Invalid(Reason.EMPTY) if text is None else Value(text=text)
            yield Reading(call, value, 1)


LESSONS = {
    "i0": "Title: be careful",
    "i1": "Title: be careful now",
    "i2": "Title: a much, much longer lesson about patience",
    "i3": "Title: x\nTitle: two items in one memory",
}


def bodies(study, made, endpoint="a"):
    """(item, arm) to the user message, at one endpoint."""
    calls = {call.call_id: call for call in study.plan}
    return {
        (calls[one.call_id].item, calls[one.call_id].arm): (
            json.loads(one.body.request.body)["messages"][-1]["content"] if one.body else one.reason
        )
        for one in made
        if calls[one.call_id].endpoint == endpoint
    }


def test_a_later_stages_calls_have_a_derivation_and_no_body_before(study):
    late = [call for call in study.plan if call.stage == 2]

    assert {call.body_sha256 for call in late} == {None}
    assert len({call.derivation_sha256 for call in late}) == 4 * 3 * 2
    assert {call.window for call in late} == {"s2-d1w1", "s2-d1w2"}
    assert {call.derivation_sha256 for call in study.plan if call.stage == 1} == {None}


def test_own_is_the_items_own_reading_and_none_takes_nothing(study):
    sent = bodies(study, make_stage(study, 2, readings(study, **LESSONS)))

    assert sent["i0", "own"].startswith("Title: be careful\nWorld 0?")
    assert sent["i0", "none"].startswith("No memory.\nWorld 0?")


def test_unrelated_is_the_nearest_in_length_with_as_many_items(study):
    """i0 (17 characters): i1 has 21, i2 has 48, i3 has two items and never fits."""
    sent = bodies(study, make_stage(study, 2, readings(study, **LESSONS)))

    assert sent["i0", "unrelated"].startswith("Title: be careful now\nWorld 0?")
    assert sent["i2", "unrelated"].startswith("Title: be careful now\nWorld 2?")


def test_unrelated_may_not_name_what_is_to_be_avoided(study):
    """Beta's nearest lesson names beta, in another case; the next one is taken."""
    texts = {**LESSONS, "i0": "Title: BETA is bad now"}
    sent = bodies(study, make_stage(study, 2, readings(study, **texts)))

    assert sent["i1", "unrelated"].startswith("Title: a much, much longer lesson")


def test_without_a_candidate_there_is_no_memory_and_no_body(study):
    """i3 alone has two items."""
    sent = bodies(study, make_stage(study, 2, readings(study, **LESSONS)))

    assert sent["i3", "unrelated"].reason is Reason.NO_MEMORY
    assert sent["i3", "own"].startswith("Title: x\nTitle: two")


def test_an_invalid_lesson_leaves_its_cells_without_memory_and_is_nobodys_unrelated(study):
    texts = {**LESSONS, "i1": None}
    sent = bodies(study, make_stage(study, 2, readings(study, **texts)))

    assert sent["i1", "own"].reason is Reason.NO_MEMORY
    assert sent["i1", "unrelated"].reason is Reason.NO_MEMORY
    assert sent["i1", "none"].startswith("No memory.")
    assert sent["i0", "unrelated"].startswith("Title: a much, much longer")


def test_memories_stay_within_their_endpoint(study):
    """Endpoint b's lessons differ; a's bodies hold none of them."""
    mixed = [
        Reading(r.call, Value(text=f"{r.value.text} ({r.call.endpoint})"), 1)
        for r in readings(study, **LESSONS)
    ]
    for endpoint, other in (("a", "b"), ("b", "a")):
        sent = bodies(study, make_stage(study, 2, mixed), endpoint)
        assert not any(f"({other})" in str(text) for text in sent.values())


def test_a_missing_reading_is_evidence_missing(study):
    some = [r for r in readings(study, **LESSONS) if r.call.item != "i2"]

    with pytest.raises(EvidenceError, match="no sealed reading of item 'i2' in cell 'lesson'"):
        make_stage(study, 2, some)


@pytest.fixture
def frozen(study, facts):
    """The study with its second stage frozen on run d1w1."""
    made = list(readings(study, **LESSONS))
    freeze_stage(study, 2, made, {"d1w1": "sha256:" + "0" * 64}, facts)
    return load_frozen(study.root)


def test_a_frozen_stage_gives_its_calls_bodies_and_extends_the_lock(frozen, study):
    folder = frozen.root / "frozen" / "stage-2"
    lock = json.loads((folder / "lock.json").read_bytes())
    call = next(c for c in frozen.plan if (c.item, c.arm) == ("i0", "own"))
    none = next(c for c in frozen.plan if (c.item, c.arm) == ("i3", "unrelated"))

    assert lock["extends"]["lock"] == study.lock_digest
    assert b"Title: be careful" in frozen.body_of(call).request.body
    assert frozen.body_of(none) is None
    assert frozen.stage_locks.keys() == {2}
    assert call.derivation_sha256 == study.call(call.call_id).derivation_sha256


def test_freezing_a_stage_again_changes_nothing(frozen, facts):
    again = list(readings(frozen, **LESSONS))

    assert freeze_stage(frozen, 2, again, {"d1w1": "sha256:" + "0" * 64}, facts)[1] is False


def test_a_stage_that_other_readings_would_give_is_refused(frozen, facts):
    other = list(readings(frozen, **{**LESSONS, "i0": "Title: be daring"}))

    with pytest.raises(
        EvidenceError, match=r"content is sha256:.* the sealed readings give sha256"
    ):
        freeze_stage(frozen, 2, other, {"d1w1": "sha256:" + "0" * 64}, facts)


def test_one_changed_byte_of_a_lesson_is_found_and_the_bodies_are_named(frozen):
    other = list(readings(frozen, **{**LESSONS, "i0": "Title: be carefuL"}))

    findings = verify_stage(frozen, 2, other, {"d1w1": "sha256:" + "0" * 64})

    assert findings
    assert any("stage-2/calls.parquet: row " in finding for finding in findings)
    assert any("stage-2/bodies.parquet: row " in finding for finding in findings)


def test_a_stage_that_rests_on_another_manifest_is_found(frozen):
    same = list(readings(frozen, **LESSONS))

    (finding,) = verify_stage(frozen, 2, same, {"d1w1": "sha256:" + "1" * 64})

    assert "rests on manifest sha256:000" in finding


def test_an_untouched_stage_has_no_findings(frozen):
    same = list(readings(frozen, **LESSONS))

    assert verify_stage(frozen, 2, same, {"d1w1": "sha256:" + "0" * 64}) == []
