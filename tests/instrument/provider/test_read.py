"""Replies as servers really write them: what is missing or odd is "not reported"."""

import json
import math

import pytest

from judgeaudit.instrument.provider import provider
from judgeaudit.model import Ending, Invalid, Reason, Reply, TokenLogprob, Usage

OPENAI, ANTHROPIC = provider("openai.chat"), provider("anthropic.messages")


def chat(message=None, **changes):
    choice = {"index": 0, "message": message or {"content": "A"}, **changes.pop("choice", {})}
    return json.dumps({"choices": [choice], **changes}).encode()


def test_a_whole_chat_reply():
    body = chat(
        {"role": "assistant", "content": "A", "refusal": None},
        model="m-2026-01-01",
        system_fingerprint="fp_1",
        service_tier="default",
        provider="Host",
        usage={
            "prompt_tokens": 9,
            "completion_tokens": 1,
            "prompt_tokens_details": {"cached_tokens": 4},
            "completion_tokens_details": {"reasoning_tokens": 0},
        },
        choice={"finish_reason": "stop"},
    )

    assert OPENAI.read(body) == Reply(
        text="A",
        finish_reason="stop",
        ending=Ending.WHOLE,
        model="m-2026-01-01",
        fingerprint="fp_1",
        service_tier="default",
        provider="Host",
        usage=Usage(prompt=9, completion=1, cached=4, reasoning=0),
    )


def test_what_is_left_out_is_not_reported():
    assert OPENAI.read(chat()) == Reply(text="A")


@pytest.mark.parametrize(
    "odd",
    [
        {"usage": None},
        {"usage": "many"},
        {"usage": {"prompt_tokens": "9", "completion_tokens": True}},
        {"usage": {"prompt_tokens": -1, "completion_tokens": 10**400}},
        {"model": 7, "system_fingerprint": {}, "service_tier": [], "provider": False},
        {"choice": {"logprobs": "none"}},
        {"choice": {"logprobs": None}},
        {"choice": {"logprobs": {"content": None}}},
    ],
)
def test_an_oddly_typed_field_is_not_reported(odd):
    assert OPENAI.read(chat(**odd)) == Reply(text="A")


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html>Sign in</html>",
        b'{"choices":[{"message":{"con',
        b"[]",
        b"null",
        b'{"choices":[]}',
        b'{"choices":[{"text":"A"}]}',
        b'{"error":{"message":"slow down"}}',
        b"\xff\xfe",
        b"[" * 100_000,
        b'{"choices":' + b"9" * 5000 + b"}",
    ],
)
def test_a_success_that_is_no_completion_is_a_bad_body(body):
    found = OPENAI.read(body)

    assert isinstance(found, Invalid)
    assert found.reason is Reason.BAD_BODY


def test_entries_stay_a_list_in_the_replys_order_also_with_equal_texts():
    """Two token ids can have one text; a dict keyed by text would lose one."""
    top = [
        {"id": 1, "token": "A", "logprob": -0.5, "bytes": [65]},
        {"id": 2, "token": "A", "logprob": -1.5, "bytes": [65]},
        {"id": 3, "token": "�", "logprob": -3.0, "bytes": [195]},
    ]
    body = chat(
        choice={"logprobs": {"content": [{"token": "A", "logprob": -0.5, "top_logprobs": top}]}}
    )

    found = OPENAI.read(body)

    assert found.positions == (
        (
            TokenLogprob("A", -0.5, b"A"),
            TokenLogprob("A", -1.5, b"A"),
            TokenLogprob("�", -3.0, b"\xc3"),
        ),
    )


def test_sentinels_are_kept_as_they_are_and_no_number_is_nan():
    """-9999 and -Infinity reach the readout, which knows them; what is no number becomes NaN."""
    first = '{"token":"A","logprob":-9999.0},{"token":"B","logprob":-Infinity}'
    rest = '{"token":"C","logprob":NaN},{"token":"D"}'
    content = f'[{{"top_logprobs":[{first},{rest}]}}]'
    choice = f'{{"message":{{"content":"A"}},"logprobs":{{"content":{content}}}}}'
    body = f'{{"choices":[{choice}]}}'

    (entries,) = OPENAI.read(body.encode()).positions

    assert [entry.logprob for entry in entries[:2]] == [-9999.0, -math.inf]
    assert all(math.isnan(entry.logprob) for entry in entries[2:])


def test_bytes_that_are_none_are_not_reported():
    top = [
        {"token": "A", "logprob": -1, "bytes": [300]},
        {"token": "B", "logprob": -1, "bytes": "66"},
    ]
    body = chat(choice={"logprobs": {"content": [{"top_logprobs": top}]}})

    (entries,) = OPENAI.read(body).positions

    assert [entry.bytes_ for entry in entries] == [None, None]


def test_a_lone_surrogate_in_a_reply_does_not_stop_a_study():
    found = OPENAI.read(b'{"choices":[{"message":{"content":"a\\ud800b"}}]}')

    assert found.text == "a\ufffdb"


def test_an_empty_refusal_is_none():
    assert OPENAI.read(chat({"content": "A", "refusal": ""})).refusal is None
    assert OPENAI.read(chat({"content": None, "refusal": "No."})).refusal == "No."


def message(**changes):
    whole = {"content": [{"type": "text", "text": "A"}], **changes}
    return json.dumps(whole).encode()


def test_a_whole_anthropic_reply_counts_cached_tokens_into_the_prompt():
    """`input_tokens` leaves cached ones out: 3 fresh + 4 read + 2 written = 9."""
    body = message(
        model="claude-x",
        stop_reason="end_turn",
        usage={
            "input_tokens": 3,
            "cache_read_input_tokens": 4,
            "cache_creation_input_tokens": 2,
            "output_tokens": 7,
            "output_tokens_details": {"thinking_tokens": 5},
            "service_tier": "standard",
        },
    )

    assert ANTHROPIC.read(body) == Reply(
        text="A",
        finish_reason="end_turn",
        ending=Ending.WHOLE,
        model="claude-x",
        service_tier="standard",
        usage=Usage(prompt=9, completion=7, cached=4, reasoning=5),
    )


def test_thinking_is_no_part_of_the_answer():
    body = message(content=[{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "A"}])

    assert ANTHROPIC.read(body).text == "A"


def test_a_refusal_arrives_as_a_success():
    found = ANTHROPIC.read(message(content=[], stop_reason="refusal"))

    assert found.text is None
    assert found.refusal == "stop_reason refusal"


@pytest.mark.parametrize("body", [b"", b"{}", b'{"content":"A"}', b'{"type":"error"}'])
def test_an_anthropic_success_without_content_is_a_bad_body(body):
    assert ANTHROPIC.read(body).reason is Reason.BAD_BODY
