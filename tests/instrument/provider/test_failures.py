"""Errors inside success documents: where they stand, what status they mean, what is none."""

import json

import pytest

from judgeaudit.instrument.provider import embedded_error


def found(document):
    return embedded_error(json.dumps(document).encode())


ERROR = {"code": 502, "message": "upstream went away"}


@pytest.mark.parametrize(
    "document",
    [
        {"error": ERROR},
        {"choices": [{"error": ERROR, "message": {"content": "1"}}]},
        {"choices": [{"message": {"content": "1", "error": ERROR}}]},
        {"choices": [{"message": {"content": "1"}}, {"error": ERROR}]},
        {"type": "error", "error": ERROR},
        {"object": "error", **ERROR},
        {"content": [{"type": "text", "text": "4"}, {"type": "error", "error": ERROR}]},
        {"errors": [ERROR], "choices": [{"message": {"content": "1"}}]},
        {"output": [{"type": "message", "error": ERROR}]},
    ],
)
def test_an_error_is_found_wherever_it_stands(document):
    """case A1: the places that OpenRouter, vLLM, Anthropic and the Responses API use."""
    error = found(document)

    assert (error.status, error.code, error.message) == (502, "502", "upstream went away")
    assert str(error) == "an error under a success status: 502: upstream went away"


@pytest.mark.parametrize(
    "document",
    [
        {"error": None, "choices": [{"error": None, "message": {"content": "1"}}]},
        {"error": {}, "errors": []},
        {"choices": [{"message": {"content": '{"error": "none"}'}}]},
        {"choices": [{"content_filter_results": {"error": {"code": "content_filter_error"}}}]},
        {"prompt_filter_results": [{"content_filter_results": {"error": ERROR}}]},
        [],
        None,
    ],
)
def test_null_empty_and_a_filters_own_trouble_are_no_errors(document):
    """Azure: a filter that was down says so beside an answer that is whole."""
    assert found(document) is None


@pytest.mark.parametrize(
    ("error", "status"),
    [
        ({"code": 429}, 429),
        ({"code": "429"}, 429),
        ({"code": 429, "status": "RESOURCE_EXHAUSTED"}, 429),
        ({"status": "UNAVAILABLE"}, 503),
        ({"type": "overloaded_error"}, 529),
        ({"type": "invalid_request_error", "code": "rate_limit_exceeded"}, 429),
        ({"code": None, "type": "authentication_error"}, 401),
        ({"code": 7}, None),
        ({"code": 200}, None),
        ({"message": "odd"}, None),
        ("plain words", None),
    ],
)
def test_the_status_is_the_one_that_code_or_type_stands_for(error, status):
    assert found({"error": error}).status == status


def test_what_is_no_json_has_no_error():
    assert embedded_error(b"<html>502</html>") is None
    assert embedded_error(b"[" * 100_000) is None


def test_a_deep_document_is_searched_to_a_bounded_depth():
    """Eight levels hold every documented place; more is a server's own matter."""
    document = {"error": ERROR}
    for _ in range(20):
        document = {"inner": document}

    assert found(document) is None
