"""What a sealed study says of its replies does not change with the program (case R8's kind)."""

from dataclasses import replace

import pytest

from judgeaudit.design.lock import reading_rules
from judgeaudit.errors import OtherVersion
from judgeaudit.evidence.derive import derive
from judgeaudit.instrument.rules import CURRENT, Rules
from judgeaudit.model import Attempt, Outcome, Reason

ABORTED = b'{"choices": [{"message": {"content": "pass"}, "finish_reason": "abort"}]}'


def attempt(call):
    names = ("call_id", "endpoint", "condition", "window", "repeat", "body_sha256")
    known = {name: getattr(call, name) for name in names}
    return Attempt(
        **known,
        attempt=1,
        canonical_sha256="",
        reserved_at=0,
        sent_at=0,
        received_at=0,
        ttfb_ms=0.0,
        elapsed_ms=0.0,
        in_flight=1,
        status=200,
        outcome=Outcome.OK,
        response_body=ABORTED,
    )


def test_a_new_study_is_frozen_with_the_current_rules_and_read_by_them(study):
    frozen = study()
    call = frozen.plan[0]

    assert frozen.lock["reading_rules"] == CURRENT == frozen.rules
    assert derive(frozen)([attempt(call)], call).value.reason is Reason.TRUNCATED


def test_a_lock_of_0_1_names_no_rules_and_its_study_is_read_as_it_was(study):
    """By 0.1 the ending "abort" was whole, so that the sealed reading was `pass`."""
    frozen = study()
    lock = {name: value for name, value in frozen.lock.items() if name != "reading_rules"}
    old, call = replace(frozen, lock=lock), frozen.plan[0]

    assert old.rules is Rules.V1
    assert derive(old)([attempt(call)], call).value.category == "pass"


def test_rules_of_a_later_program_are_refused_by_name():
    with pytest.raises(OtherVersion, match=r"99 of the reading rules, written by judgeaudit 9\.0"):
        reading_rules({"reading_rules": 99, "beside": {"code_version": "9.0"}})
