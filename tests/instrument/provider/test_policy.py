"""The retry policy, case by case."""

import json

import pytest

from judgeaudit.instrument.provider import Kind, provider
from judgeaudit.model import Responsibility

CLASSIFY = provider("openai.chat").classify


def error(**fields):
    return json.dumps({"error": fields}).encode()


@pytest.mark.parametrize("status", [200, 201])
def test_a_success_is_an_outcome_whatever_it_holds(status):
    assert CLASSIFY(status, {}, b"<html>").kind is Kind.FINAL


@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503, 504, 529])
def test_these_are_tried_again(status):
    assert CLASSIFY(status, {}, b"").kind is Kind.RETRY


@pytest.mark.parametrize("status", [400, 401, 402, 403, 404, 413, 422])
def test_these_never_are_not_even_when_the_server_asks_for_it(status):
    found = CLASSIFY(status, {"x-should-retry": "true"}, b"")

    assert (found.kind, found.responsibility) == (Kind.REFUSE, Responsibility.USER)


@pytest.mark.parametrize(
    ("status", "asked", "kind"),
    [
        (429, "false", "refuse"),
        (418, "true", "retry"),
        (418, "", "refuse"),
        (500, "false", "refuse"),
    ],
)
def test_x_should_retry_decides_the_rest(status, asked, kind):
    assert CLASSIFY(status, {"x-should-retry": asked}, b"").kind == kind


@pytest.mark.parametrize(
    "fields",
    [
        {"code": "insufficient_quota"},
        {"type": "insufficient_quota", "code": None},
        {"code": "enforced_spend_limit_reached"},
        {"type": "billing_error"},
        {"code": "credit_balance_too_low"},
    ],
)
def test_spent_money_pauses_and_is_no_rate_limit(fields):
    """The incident: a rate limit assumed away. A 429 is one only if its code does not say quota."""
    found = CLASSIFY(429, {}, error(**fields))

    assert (found.kind, found.pause) == (Kind.REFUSE, True)


def test_a_rate_limit_that_mentions_quota_in_its_message_alone_is_tried_again():
    body = b'[{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","message":"exceeded your quota"}}]'

    assert CLASSIFY(429, {}, body).kind is Kind.RETRY


@pytest.mark.parametrize(
    ("status", "pause"),
    [(401, True), (402, True), (403, True), (404, True), (400, False), (422, False)],
)
def test_what_no_later_call_can_survive_pauses_at_once(status, pause):
    assert CLASSIFY(status, {}, b"").pause is pause


def test_codes_may_be_integers_and_details_are_one_line():
    found = CLASSIFY(503, {}, error(code=503, type="unavailable_error", message="Loading\n model"))

    assert found.detail == "503: unavailable_error: Loading model"


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({}, None),
        ({"retry-after-ms": "250.5", "retry-after": "9"}, 251),
        ({"retry-after": "2"}, 2000),
        ({"retry-after": "0.5"}, 500),
        ({"retry-after": "-3"}, 0),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "soon"}, None),
        (
            {
                "retry-after": "Wed, 21 Oct 2026 07:28:10 GMT",
                "date": "Wed, 21 Oct 2026 07:28:00 GMT",
            },
            10_000,
        ),
        ({"retry-after": "Wed, 21 Oct 2026 07:28:10 GMT"}, None),
    ],
)
def test_the_wait_is_what_the_server_says_in_any_of_its_three_forms(headers, expected):
    assert CLASSIFY(429, headers, b"").retry_after_ms == expected


def test_a_date_without_a_date_header_is_held_against_the_callers_clock():
    """07:28:10 is 4 s after 07:28:06 = 1792567686 s."""
    headers = {"retry-after": "Wed, 21 Oct 2026 07:28:10 GMT"}

    found = CLASSIFY(429, headers, b"", now_ns=1_792_567_686 * 10**9)

    assert found.retry_after_ms == 4000


@pytest.mark.parametrize(
    "body", [b"", b"\xff", b"null", b'"text"', b'{"error":null}', b'{"error":"no"}', b"[1]"]
)
def test_no_error_body_is_too_odd(body):
    assert CLASSIFY(500, {}, body).kind is Kind.RETRY
