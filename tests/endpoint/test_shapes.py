"""Replies have the providers' shapes, as the SDKs' own types hold them; requests are checked."""

import json

import pytest
from anthropic.types import Message
from openai.types.chat import ChatCompletion

from judgeaudit.canonical import body_bytes, digest
from judgeaudit.endpoint.simulated import Virtual, reply, scenario

PROMPTS = {
    "text": {"content": "Say why."},
    "ranking": {"content": 'A: x\nB: y\n\nReturn {"ranking": [...]}'},
    "label": {"content": "Is it so?\nAnswer with exactly one of: yes, no", "logprobs": True},
}


def send(content, api="openai.chat", name="stable", **params):
    body = {"model": "m", "messages": [{"role": "user", "content": content}], **params}
    if body.get("logprobs") is True:
        body.setdefault("top_logprobs", 5)
    return reply(scenario(name), 1, body, digest(body_bytes(body)), Virtual(10**18), api=api)


@pytest.mark.parametrize("name", ["stable", "fingerprint-churn", "alias-move", "invalid-some"])
@pytest.mark.parametrize("asked", PROMPTS)
def test_openai_replies_validate_strictly_against_the_sdks_type(name, asked):
    for number in range(20):
        prompt = PROMPTS[asked]
        sim = send(f"{number}. {prompt['content']}", name=name, logprobs=prompt.get("logprobs"))
        found = ChatCompletion.model_validate_json(sim.body, strict=True)
        assert found.model.startswith(f"simulated-{name}")
        assert found.usage.total_tokens > 0
        assert found.created == 10**9


@pytest.mark.parametrize("name", ["stable", "invalid-some"])
def test_anthropic_replies_validate_strictly_against_the_sdks_type(name):
    for number in range(40):
        sim = send(f"{number}. Say why.", "anthropic.messages", name, max_tokens=200)
        found = Message.model_validate_json(sim.body, strict=True)
        assert found.model == f"simulated-{name}"
        assert found.stop_reason in ("end_turn", "refusal", "max_tokens")


def test_as_many_alternatives_come_as_were_asked_for():
    for top in (0, 1, 5):
        sim = send(PROMPTS["label"]["content"], logprobs=True, top_logprobs=top)
        position = json.loads(sim.body)["choices"][0]["logprobs"]["content"][0]
        assert len(position["top_logprobs"]) == top


def test_an_answer_longer_than_max_tokens_is_cut_and_says_so():
    openai = json.loads(send("Say why.", max_completion_tokens=4).body)["choices"][0]
    anthropic = json.loads(send("Say why.", "anthropic.messages", max_tokens=4).body)

    assert (openai["finish_reason"], anthropic["stop_reason"]) == ("length", "max_tokens")


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"temperature": "hot"}, "temperature"),
        ({"temperature": 2.5}, "temperature"),
        ({"top_p": True}, "top_p"),
        ({"max_tokens": 0}, "max_tokens"),
        ({"logprobs": 5}, "logprobs"),
        ({"top_logprobs": 5}, "top_logprobs: needs logprobs"),
        ({"logprobs": True, "top_logprobs": 21}, "top_logprobs"),
        ({"messages": []}, "messages"),
        ({"messages": [{"role": "user"}]}, "content"),
        ({"model": None}, "model"),
        ({"response_format": "json"}, "response_format"),
    ],
)
def test_a_bad_parameter_is_a_400_that_names_it(params, words):
    sim = send("Say why.", **params)

    assert sim.status == 400
    assert words in json.loads(sim.body)["error"]["message"]


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({}, "max_tokens"),
        ({"max_tokens": 5, "temperature": 1.5}, "temperature"),
        ({"max_tokens": 5, "messages": [{"role": "system", "content": "x"}]}, "roles"),
    ],
)
def test_a_bad_anthropic_request_is_a_400_in_anthropics_shape(params, words):
    sim = send("Say why.", "anthropic.messages", **params)

    assert sim.status == 400
    document = json.loads(sim.body)
    assert document["type"] == "error"
    assert words in document["error"]["message"]
