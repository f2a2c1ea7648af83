"""Amendments: written down before the calls they affect, never after an answer."""

import json

import pytest

from judgeaudit.design.amendments import Progress, Words
from judgeaudit.errors import EvidenceError, GuardError, InputError
from judgeaudit.evidence.lock.amendment_files import amend
from judgeaudit.evidence.lock.files import freeze, load_frozen
from judgeaudit.evidence.lock.verify import verify_frozen

WORDS = Words("max_tokens is 9", "16 was refused with a 400", "every call not yet tried")


@pytest.fixture
def frozen(make, facts):
    root = make()
    freeze(root, facts)
    return root


def tried(root, count, *, answered=0):
    """The first calls of one lane as tried, the first of these as answered."""
    calls = [call.call_id for call in load_frozen(root).calls_of("d1w1", "a")]
    return Progress(frozenset(calls[:count]), frozenset(calls[:answered]))


def test_an_amendment_carries_the_superseded_digest_and_the_lock_carries_the_amendment(
    frozen, facts, edit
):
    first = load_frozen(frozen).lock_digest
    edit(frozen / "protocol.toml", "max_tokens = 16", "max_tokens = 9")

    lock, document = amend(frozen, WORDS, facts, Progress())
    study = load_frozen(frozen)

    assert document["superseded_lock"] == first
    assert lock.document["supersedes"]["lock"] == first
    assert study.locks == (first, lock.digest)
    assert json.loads(study.body_of(study.plan[0]).request.body)["max_tokens"] == 9
    assert document["affected_calls"] == 68
    assert verify_frozen(frozen) == []


def test_amendments_form_a_chain(frozen, facts, edit):
    for old, new in (("16", "9"), ("9", "10"), ("10", "11")):
        edit(frozen / "protocol.toml", f"max_tokens = {old}", f"max_tokens = {new}")
        amend(frozen, WORDS, facts, Progress())

    assert len(load_frozen(frozen).locks) == 4
    assert freeze(frozen, facts)[1] is False
    assert verify_frozen(frozen) == []


def test_a_call_that_met_a_400_keeps_what_was_sent_and_the_rest_is_mended(frozen, facts, edit):
    progress = tried(frozen, 3)
    before = load_frozen(frozen)
    edit(frozen / "protocol.toml", "max_tokens = 16", "max_tokens = 9")

    _, document = amend(frozen, WORDS, facts, progress)
    after = load_frozen(frozen)

    for call_id in progress.tried:
        assert after.call(call_id) == before.call(call_id)
        assert b'"max_tokens":16' in after.body_of(after.call(call_id)).request.body
    assert document["kept"].keys() == progress.tried
    assert document["affected_calls"] == 65
    assert verify_frozen(frozen) == []
    assert freeze(frozen, facts)[1] is False


@pytest.mark.parametrize(
    ("file", "old", "new", "what"),
    [
        ("protocol.toml", "max_tokens = 16", "max_tokens = 9", "body"),
        ("protocol.toml", 'pattern = "number"', 'pattern = "last_line"', "readout"),
        ("items.jsonl", '"task": "t0"', '"task": "t9"', "item"),
    ],
)
def test_nothing_about_an_answered_call_may_change(frozen, facts, edit, file, old, new, what):
    progress = tried(frozen, 17, answered=17)
    edit(frozen / file, old, new)

    with pytest.raises(GuardError, match=f"was answered already, .* change its {what}"):
        amend(frozen, WORDS, facts, progress)


def test_an_answered_calls_endpoint_may_not_move(frozen, facts, edit):
    progress = tried(frozen, 3, answered=1)
    edit(frozen / "registration.toml", "embedded:stable", "embedded:noisy")

    with pytest.raises(GuardError, match=r"was answered already, .* change its endpoint"):
        amend(frozen, WORDS, facts, progress)


def test_an_address_may_change_while_nothing_was_answered(frozen, facts, edit):
    """Half of the 68 calls go to the endpoint that moves."""
    progress = tried(frozen, 3)
    edit(frozen / "registration.toml", "embedded:stable", "embedded:noisy")

    _, document = amend(frozen, WORDS, facts, progress)

    assert document["affected_calls"] == 34


def test_criteria_are_fixed_once_anything_was_answered(frozen, facts, edit):
    asked, answered = tried(frozen, 1), tried(frozen, 1, answered=1)
    gate = '[[gates]]\nid = "g"\nstatistic = "number_exact"\nat_least = 0.9\n\n[controls]'
    edit(frozen / "registration.toml", "[controls]", gate)

    with pytest.raises(GuardError, match="gates cannot be amended: 1 calls were answered"):
        amend(frozen, WORDS, facts, answered)
    amend(frozen, WORDS, facts, asked)


def test_calls_that_come_later_may_be_added(frozen, facts, edit):
    """A third window changes no call of the first."""
    progress = tried(frozen, 5, answered=5)
    edit(frozen / "registration.toml", "windows_per_day = 2", "windows_per_day = 3")

    amend(frozen, WORDS, facts, progress)

    assert [window.id for window in load_frozen(frozen).windows()] == ["d1w1", "d1w2", "d1w3"]


def test_a_tried_call_may_not_be_moved(frozen, facts, edit):
    progress = tried(frozen, 5)
    edit(frozen / "registration.toml", "seed = 7", "seed = 8")

    with pytest.raises(GuardError, match="would remove or move it"):
        amend(frozen, WORDS, facts, progress)


def test_nothing_to_amend_is_an_error(frozen, facts):
    with pytest.raises(InputError, match="nothing has changed"):
        amend(frozen, WORDS, facts, Progress())


@pytest.mark.parametrize("field", ["what", "why", "effect"])
def test_an_amendment_says_what_why_and_to_what_effect(field):
    with pytest.raises(InputError, match=f"--{field}: empty"):
        Words(**{"what": "w", "why": "w", "effect": "w", field: " "})


@pytest.fixture
def amended(frozen, facts, edit):
    edit(frozen / "protocol.toml", "max_tokens = 16", "max_tokens = 9")
    amend(frozen, WORDS, facts, Progress())
    return frozen / "frozen"


def test_an_edited_amendment_is_named(amended, edit):
    edit(amended / "amendments" / "001.json", "16 was refused", "9 was refused")

    with pytest.raises(EvidenceError, match=r"001\.json: digest sha256:.* the lock .* says sha256"):
        load_frozen(amended.parent)
    assert any("001.json" in finding for finding in verify_frozen(amended.parent))


def test_a_removed_amendment_is_named(amended):
    (amended / "amendments" / "001.json").unlink()

    with pytest.raises(EvidenceError, match=r"amendments/001\.json: missing; lock"):
        load_frozen(amended.parent)


def test_a_replaced_superseded_lock_is_named(amended, edit):
    edit(amended / "amendments" / "001-superseded" / "lock.json", "0.1.0", "0.2.0")

    with pytest.raises(EvidenceError, match="the lock kept beside it has digest"):
        load_frozen(amended.parent)


def test_an_amendment_leaves_no_other_folder(amended):
    names = {path.name for path in amended.parent.iterdir()}

    assert names == {
        "registration.toml",
        "protocol.toml",
        "items.jsonl",
        "controls.jsonl",
        "frozen",
    }
