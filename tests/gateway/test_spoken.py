"""Other people's requests and replies: one reader for whole and streamed ones."""

import json

import pytest
from gateway_world import sse

from judgeaudit.canonical import body_bytes
from judgeaudit.instrument.spoken import api_of, reply_of, said
from judgeaudit.model import Ending, Invalid, Reason

JSON_ = {"content-type": "application/json"}
SSE = {"content-type": "text/event-stream; charset=utf-8"}


def read(api, *pieces):
    return reply_of(api, b"".join(pieces), SSE)


@pytest.mark.parametrize(
    ("method", "path", "api"),
    [
        ("POST", "/v1/chat/completions", "openai.chat"),
        ("POST", "/openai/deployments/x/chat/completions", "openai.chat"),
        ("POST", "/v1/messages", "anthropic.messages"),
        ("POST", "/v1/responses", "openai.responses"),
        ("POST", "/v1/messages/count_tokens", None),
        ("GET", "/v1/chat/completions", None),
    ],
)
def test_an_api_is_known_by_method_and_path(method, path, api):
    assert api_of(method, path) == api


def test_a_streamed_chat_says_what_a_whole_one_says():
    """Two pieces of text, the usage in the last event, as `stream_options` has it."""
    cached = {"cached_tokens": 4}
    usage = {"prompt_tokens": 7, "completion_tokens": 2, "prompt_tokens_details": cached}
    head = {"id": "x", "model": "m-1", "system_fingerprint": "f"}
    message = {"role": "assistant", "content": "A: yes"}
    whole = {**head, "choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}
    pieces = sse(
        {**head, "choices": [{"index": 0, "delta": {"role": "assistant", "content": "A: "}}]},
        {**head, "choices": [{"index": 0, "delta": {"content": "yes"}}]},
        {**head, "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]},
        {**head, "choices": [], "usage": usage},
    )

    streamed = read("openai.chat", *pieces)

    assert streamed == reply_of("openai.chat", body_bytes({**whole, "usage": usage}), JSON_)
    assert (streamed.text, streamed.ending, streamed.usage.cached) == ("A: yes", Ending.WHOLE, 4)


def test_two_streamed_choices_are_no_one_answer():
    pieces = sse(
        *({"choices": [{"index": n, "delta": {"content": t}}]} for n, t in enumerate("ab")),
        {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]},
    )

    assert read("openai.chat", *pieces) == Invalid(
        Reason.BAD_BODY, "2 choices, where one was asked"
    )


def test_streamed_arguments_of_a_tool_are_no_text():
    call = {"index": 0, "function": {"name": "grade", "arguments": '{"a":'}}
    more = {"index": 0, "function": {"arguments": "1}"}}
    pieces = sse(
        {"choices": [{"index": 0, "delta": {"tool_calls": [call]}}]},
        {"choices": [{"index": 0, "delta": {"tool_calls": [more]}, "finish_reason": "stop"}]},
    )

    found = read("openai.chat", *pieces)

    assert (found.text, found.other) == (None, ("tool_calls",))


@pytest.mark.parametrize(
    ("api", "pieces", "why"),
    [
        ("openai.chat", sse({"choices": [{"delta": {"content": "a"}}]}), "finish reason"),
        ("anthropic.messages", sse({"type": "message_start", "message": {}}), "message_stop"),
        ("openai.responses", sse({"type": "response.created"}), "response.completed"),
    ],
)
def test_a_stream_without_its_end_is_truncated(api, pieces, why):
    found = read(api, *pieces)

    assert found.reason is Reason.TRUNCATED
    assert why in found.detail


@pytest.mark.parametrize("api", ["openai.chat", "anthropic.messages", "openai.responses"])
def test_an_error_in_a_stream_overrides_its_text(api):
    error = {"type": "error", "error": {"type": "overloaded_error", "message": "busy"}}

    assert "busy" in read(api, *sse(error)).detail


def test_a_streamed_message_says_what_a_whole_one_says():
    """Anthropic's events; the answer's length is told at the end, the prompt's at the start."""
    start = {
        "id": "m",
        "model": "c-1",
        "role": "assistant",
        "content": [],
        "usage": {"input_tokens": 5},
    }
    pieces = sse(
        {"type": "message_start", "message": start},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "ping"},
        *(
            {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": t}}
            for t in ("GRADE: ", "I")
        ),
        {"type": "content_block_stop", "index": 0},
        {
            "type": "message_delta",
            "delta": {"stop_reason": "end_turn"},
            "usage": {"output_tokens": 3},
        },
        {"type": "message_stop"},
        done=False,
    )
    usage = {"input_tokens": 5, "output_tokens": 3}
    content = [{"type": "text", "text": "GRADE: I"}]
    whole = {**start, "content": content, "stop_reason": "end_turn", "usage": usage}

    assert read("anthropic.messages", *pieces) == reply_of(
        "anthropic.messages", body_bytes(whole), JSON_
    )


def response(**more):
    parts = [{"type": "output_text", "text": "4"}]
    output = [{"type": "reasoning", "summary": []}, {"type": "message", "content": parts}]
    usage = {"input_tokens": 3, "input_tokens_details": {"cached_tokens": 1}}
    return {"model": "o-1", "status": "completed", "output": output, "usage": usage, **more}


def test_a_response_is_read_whole_and_streamed():
    found = reply_of("openai.responses", body_bytes(response()), JSON_)
    events = sse(
        {"type": "response.created"}, {"type": "response.completed", "response": response()}
    )

    assert (found.text, found.model, found.ending) == ("4", "o-1", Ending.WHOLE)
    assert (found.usage.prompt, found.usage.cached) == (3, 1)
    assert read("openai.responses", *events) == found


@pytest.mark.parametrize(
    ("why", "ending"),
    [
        ("max_output_tokens", Ending.CUT),
        ("content_filter", Ending.DECLINED),
        ("else", Ending.UNKNOWN),
    ],
)
def test_an_incomplete_response_says_why(why, ending):
    document = response(status="incomplete", incomplete_details={"reason": why})

    assert reply_of("openai.responses", body_bytes(document), JSON_).ending is ending


def test_what_requests_say_is_read_in_all_three_forms():
    """The same system prompt and question; content as text and as parts, `developer` as system."""
    parts = [{"type": "text", "text": "Q"}]
    bodies = {
        "openai.chat": {
            "model": "m",
            "messages": [{"role": "developer", "content": "S"}, {"role": "user", "content": parts}],
        },
        "anthropic.messages": {
            "model": "m",
            "system": [{"type": "text", "text": "S"}],
            "messages": [{"role": "user", "content": "Q"}],
        },
        "openai.responses": {"model": "m", "instructions": "S", "input": "Q"},
    }
    for api, body in bodies.items():
        found = said(api, json.dumps(body).encode())
        assert [(m.role, m.content) for m in found.messages] == [("system", "S"), ("user", "Q")], (
            api
        )
        assert found.model == "m"


def test_a_shape_is_the_form_and_not_the_words():
    def shape(**more):
        body = {"model": "m", "messages": [{"role": "user", "content": "a"}], **more}
        return said("openai.chat", json.dumps(body).encode()).shape("openai.chat")

    schema = {"type": "json_schema", "json_schema": {"name": "x", "schema": {}}}
    shapes = [
        shape(),
        shape(model="n"),
        shape(response_format=schema),
        shape(tools=[{"type": "function", "function": {"name": "f"}}]),
        shape(messages=[{"role": "system", "content": "s"}, {"role": "user", "content": "a"}]),
    ]
    assert len(set(shapes)) == 5
    assert shape(messages=[{"role": "user", "content": "b"}], temperature=1) == shapes[0]
