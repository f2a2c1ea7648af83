"""The plan: what is asked in each window, in which order, and which of it again."""

import hashlib
import itertools
import time
from collections import Counter

import pytest

from judgeaudit.canonical import digest_of
from judgeaudit.design.asking import Asker
from judgeaudit.design.plan import make_plan, shuffled, windows
from judgeaudit.evidence.lock.sources import load_study


@pytest.fixture
def plan_of(make):
    """The plan of the small study with changes."""

    def _plan(**changes):
        inputs = load_study(make(**changes)).whole()
        plan = make_plan(
            inputs.registration, inputs.protocol, inputs.items, inputs.controls, bodies={}
        )
        return inputs, plan

    return _plan


def lane(plan, window="d1w1", endpoint="a"):
    return [call for call in plan if (call.window, call.endpoint) == (window, endpoint)]


def test_every_item_is_asked_in_every_window_as_often_as_registered(plan_of):
    """8 items x 2 repeats + 1 control, at 2 endpoints in 2 windows: 68 calls."""
    _, plan = plan_of()

    assert len(plan) == (8 * 2 + 1) * 2 * 2
    counts = Counter((c.window, c.endpoint, c.item, c.condition) for c in plan)
    assert {counts[key] for key in counts if key[2] != "control-gold"} == {2}


def test_controls_are_asked_once_in_every_window(plan_of):
    _, plan = plan_of()

    asked = [(c.window, c.endpoint) for c in plan if c.item == "control-gold"]

    assert sorted(asked) == [("d1w1", "a"), ("d1w1", "b"), ("d1w2", "a"), ("d1w2", "b")]


def test_indices_count_and_ids_differ(plan_of):
    _, plan = plan_of()

    assert [call.plan_index for call in plan] == list(range(len(plan)))
    assert len({call.call_id for call in plan}) == len(plan)
    assert all(len(call.call_id) == 13 and call.call_id[0] == "c" for call in plan)


def test_an_id_is_the_digest_of_the_calls_key_in_rfc_8785(plan_of):
    _, plan = plan_of()
    c = plan[5]
    key = [c.stage, c.endpoint, c.item, c.arm, c.condition, c.window, c.repeat, c.draw]

    assert c.call_id == "c" + digest_of(key).hex[:12]


def test_a_window_runs_in_passes_so_that_equal_bytes_do_not_follow_each_other(plan_of):
    _, plan = plan_of()

    repeats = [call.repeat for call in lane(plan)]

    assert repeats == sorted(repeats)


def test_endpoints_are_asked_in_the_same_order_and_windows_in_orders_of_their_own(plan_of):
    _, plan = plan_of()

    def order(window, endpoint):
        return [(call.item, call.repeat) for call in lane(plan, window, endpoint)]

    assert order("d1w1", "a") == order("d1w1", "b")
    assert order("d1w1", "a") != order("d1w2", "a")


TWO_CONDITIONS = {
    'name = "quiet"\n': 'name = "quiet"\n[[schedule.conditions]]\nname = "loaded"\nin_flight = 8\n',
    "repeats = 2": "repeats = 2\nchunk = 4",
}


def test_conditions_alternate_in_chunks_over_the_same_items(plan_of):
    """Chunks of 4: each condition's chunk is followed by the other's, with equal items."""
    _, plan = plan_of(replace=TWO_CONDITIONS)

    chunks = [
        (condition, [call.item for call in calls])
        for condition, calls in itertools.groupby(lane(plan), key=lambda call: call.condition)
    ]

    # Runs of one condition may join where one pair ends as the next begins.
    assert len(chunks) > 4
    for name in ("quiet", "loaded"):
        items = [item for condition, items in chunks if condition == name for item in items]
        assert items == [call.item for call in lane(plan) if call.condition == name]
    quiet = [call.item for call in lane(plan) if call.condition == "quiet"]
    loaded = [call.item for call in lane(plan) if call.condition == "loaded"]
    assert quiet == loaded


def test_neither_condition_always_comes_first(plan_of):
    _, plan = plan_of(replace={**TWO_CONDITIONS, "windows_per_day = 2": "windows_per_day = 9"})

    first = {lane(plan, f"d1w{n}")[0].condition for n in range(1, 10)}

    assert first == {"quiet", "loaded"}


def test_blocked_conditions_run_one_after_the_other(plan_of):
    changes = {**TWO_CONDITIONS, "seed = 7": 'seed = 7\norder = "blocked"'}
    _, plan = plan_of(replace=changes)

    runs = [condition for condition, _ in itertools.groupby(c.condition for c in lane(plan))]

    assert runs == ["quiet", "loaded"]


def test_repeats_cover_whole_groups_and_lie_within_the_replayed_ones(plan_of):
    """4 groups: a quarter is 1 group repeated, a half is 2 groups in later windows."""
    shares = {"repeats = 2": "repeats = 2\nrepeat_share = 0.25\nreplay_share = 0.5"}
    _, plan = plan_of(replace=shares)
    probes = [call for call in plan if call.group != "control"]

    repeated = {call.group for call in probes if call.repeat == 1}
    replayed = {call.group for call in probes if call.window == "d1w2"}

    assert len(repeated) == 1
    assert len(replayed) == 2
    assert repeated < replayed
    assert {call.group for call in probes if call.window == "d1w1"} == {"g0", "g1", "g2", "g3"}
    counts = Counter(call.group for call in probes if call.repeat == 1 and call.window == "d1w1")
    assert set(counts.values()) == {4}  # both items of the group, at both endpoints


def test_a_share_is_rounded_up_to_a_whole_group(plan_of):
    """.3 of 4 groups is 1.2, so 2."""
    _, plan = plan_of(replace={"repeats = 2": "repeats = 2\nrepeat_share = 0.3"})

    assert len({call.group for call in plan if call.repeat == 1}) == 2


def test_which_arm_comes_first_is_balanced_over_items(plan_of):
    """9 items with the control: 5 begin with one arm, 4 with the other."""
    _, plan = plan_of(protocol="label-pair")

    calls = lane(plan)
    first = [call.arm for call in calls[:18:2]]
    together = {one.item == two.item for one, two in zip(calls[::2], calls[1::2], strict=True)}

    assert sorted(Counter(first).values()) == [4, 5]
    assert together == {True}


def test_draws_are_calls_of_their_own(plan_of):
    changes = {"cap = 1000": "cap = 1000\ndraws = 3\n", "repeats = 2": "repeats = 1"}
    _, plan = plan_of(replace=changes)

    draws = Counter(call.draw for call in lane(plan) if call.group != "control")

    assert draws == {0: 8, 1: 8, 2: 8}


def test_an_earlier_stage_has_one_window_and_the_last_has_the_schedule():
    class Schedule:
        days, windows_per_day = 2, 2

    names = [window.id for window in windows(Schedule, stages=2)]

    assert names == ["d1w1", "s2-d1w1", "s2-d1w2", "s2-d2w1", "s2-d2w2"]


def test_an_order_is_by_digest_of_seed_purpose_and_position():
    """Any language can derive it: SHA-256 of the parts and the position, joined by U+001F."""
    keys = [hashlib.sha256(f"7\x1fgroups\x1f{n}".encode()).digest() for n in range(6)]
    expected = [value for _, value in sorted(zip(keys, "abcdef", strict=True))]

    assert shuffled("abcdef", 7, "groups") == expected
    assert shuffled("abcdef", 8, "groups") != expected


def test_ninety_thousand_calls_are_planned_in_seconds(plan_of, an_item):
    """11 endpoints, 256 items, 32 passes: the size of the memory study, 90,112 calls."""
    inputs, _ = plan_of(items=[an_item(n) for n in range(256)], controls=[])
    schedule = inputs.registration.schedule.model_copy(update={"windows_per_day": 1, "repeats": 32})
    first = inputs.registration.endpoints[0]
    endpoints = [first.model_copy(update={"id": f"e{n}"}) for n in range(11)]
    registration = inputs.registration.model_copy(
        update={"schedule": schedule, "endpoints": endpoints}
    )
    began = time.process_time()

    plan = make_plan(registration, inputs.protocol, inputs.items, (), bodies={})

    assert len(plan) == 90_112
    assert time.process_time() - began < 20


def test_cells_of_a_stage_become_arms(plan_of):
    toml = """
name = "cells"
version = "1"
[[stages]]
readout = "score"
options = { scale = { low = 1, high = 5 } }
prompt = { user = "{hint} {question} {candidate} a number from 1 to 5" }
[[stages.cells]]
name = "plain"
fields = { hint = "Look." }
[[stages.cells]]
name = "again"
fields = { hint = "@question" }
repeats = 3
"""
    inputs, plan = plan_of(toml=toml)

    counts = Counter((call.arm, call.repeat) for call in lane(plan) if call.group != "control")
    asking = Asker.of(inputs.protocol).find(1, "again")

    assert counts == {("plain", 0): 8, ("plain", 1): 8} | {("again", n): 8 for n in range(3)}
    assert asking.item(inputs.items[3]).fields["hint"] == "What is 3 + 1?"
