"""Attempts to readings: which attempt counts, and why there is no value."""

import json
from datetime import UTC, datetime

import pytest

from judgeaudit.analysis.catalogue import NAMES
from judgeaudit.battery import build_battery
from judgeaudit.design.builtin_protocols import protocol_source
from judgeaudit.design.scaffold import EndpointChoice, Origin, scaffold
from judgeaudit.evidence.derive import derive
from judgeaudit.evidence.lock.environment import facts
from judgeaudit.evidence.lock.files import freeze, load_frozen
from judgeaudit.model import Attempt, Invalid, Outcome, Reason, Value


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """A frozen score study of four items."""
    root = tmp_path_factory.mktemp("study")
    items = build_battery("scores", 1, 1).items
    files = scaffold(
        root,
        protocol_source("score"),
        items,
        (),
        EndpointChoice(),
        Origin("scores", "test"),
        NAMES,
    )
    for name, data in files.items():
        (root / name).write_bytes(data)
    freeze(root, facts(root, datetime(2026, 11, 29, tzinfo=UTC)))
    return load_frozen(root)


def completion(text, finish="stop"):
    message = {"role": "assistant", "content": text}
    return json.dumps({"choices": [{"message": message, "finish_reason": finish}]}).encode()


def attempt(call, number, outcome, body=None, **changes):
    values = {
        "call_id": call.call_id,
        "attempt": number,
        "endpoint": call.endpoint,
        "condition": call.condition,
        "window": call.window,
        "repeat": call.repeat,
        "body_sha256": call.body_sha256,
        "canonical_sha256": call.body_sha256,
        "reserved_at": number,
        "sent_at": None,
        "received_at": None,
        "ttfb_ms": None,
        "elapsed_ms": None,
        "in_flight": 1,
        "status": 200 if outcome is Outcome.OK else None,
        "outcome": outcome,
        "response_body": body,
    }
    return Attempt(**{**values, **changes})


def read(study, *attempts_of):
    call = study.plan[0]
    tries = [attempt(call, n, *what) for n, what in enumerate(attempts_of, 1)]
    return derive(study)(tries, call)


def test_an_answer_is_read_by_its_readout(study):
    reading = read(study, (Outcome.OK, completion("4")))

    assert reading.value == Value(number=4.0, label="4")
    assert reading.attempt == 1


def test_the_answer_after_failures_counts(study):
    reading = read(
        study,
        (Outcome.HTTP_ERROR,),
        (Outcome.TIMEOUT,),
        (Outcome.OK, completion("2")),
    )

    assert (reading.value.number, reading.attempt) == (2.0, 3)


def test_the_last_of_two_answers_counts(study):
    """A second exists only after an attempt of which nothing was known at the time."""
    reading = read(study, (Outcome.OK, completion("2")), (Outcome.OK, completion("3")))

    assert (reading.value.number, reading.attempt) == (3.0, 2)


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (completion("four"), Reason.UNPARSED),
        (completion("9"), Reason.OUT_OF_SCALE),
        (completion("4", "length"), Reason.TRUNCATED),
        (completion(""), Reason.EMPTY),
        (completion("4", "content_filter"), Reason.REFUSED),
        (b"<html>", Reason.BAD_BODY),
    ],
)
def test_an_answer_without_a_value_is_invalid_with_its_reason(study, body, reason):
    reading = read(study, (Outcome.OK, body))

    assert isinstance(reading.value, Invalid)
    assert reading.value.reason is reason
    assert reading.attempt == 1


@pytest.mark.parametrize(
    ("outcome", "reason"),
    [
        (Outcome.BAD_BODY, Reason.BAD_BODY),
        (Outcome.UNRESOLVED, Reason.UNRESOLVED),
        (Outcome.HTTP_ERROR, Reason.NO_REPLY),
        (Outcome.TIMEOUT, Reason.NO_REPLY),
        (Outcome.TRANSPORT_ERROR, Reason.NO_REPLY),
        (Outcome.CANCELLED, Reason.NO_REPLY),
    ],
)
def test_without_an_answer_the_last_attempt_says_why(study, outcome, reason):
    reading = read(study, (Outcome.TIMEOUT,), (outcome,))

    assert reading.value.reason is reason
    assert reading.attempt == 2


def test_what_happened_stands_in_the_detail(study):
    call = study.plan[0]
    tries = [attempt(call, 1, Outcome.HTTP_ERROR, status=400, error="no such parameter")]

    reading = derive(study)(tries, call)

    assert reading.value.detail == "http_error 400 at attempt 1: no such parameter"


def test_readings_are_a_function_of_their_attempts(study):
    assert read(study, (Outcome.OK, completion("4"))) == read(study, (Outcome.OK, completion("4")))
