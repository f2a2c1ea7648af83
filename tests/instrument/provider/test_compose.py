"""What a provider freezes: one serialization, nothing dropped, nothing secret."""

import json

import pytest

from judgeaudit.errors import InputError
from judgeaudit.instrument.provider import CATALOGUE, provider
from judgeaudit.model import Ask, Endpoint, Message

USER = Message("user", "Grüße")
SYSTEM = Message("system", "Be brief.")
OPENAI, ANTHROPIC = provider("openai.chat"), provider("anthropic.messages")


def chat(**changes):
    return Endpoint("judge", "openai.chat", "http://x/v1", "m", **changes)


def claude(**changes):
    return Endpoint(
        "judge", "anthropic.messages", "http://x", "m", **{"api_version": "2023-06-01", **changes}
    )


def test_a_chat_body_is_compact_utf8_with_the_keys_in_one_order():
    """The only serialization: no spaces, no ASCII escapes; model, messages, decoding, readout."""
    found = OPENAI.compose(chat(), Ask((SYSTEM, USER), 5), {"temperature": 0, "max_tokens": 8})

    assert found.path == "/chat/completions"
    assert (
        found.body
        == (
            '{"model":"m","messages":[{"role":"system","content":"Be brief."},'
            '{"role":"user","content":"Grüße"}],"temperature":0,"max_tokens":8,'
            '"logprobs":true,"top_logprobs":5}'
        ).encode()
    )


def test_an_anthropic_body_moves_the_system_message_and_freezes_the_version():
    found = ANTHROPIC.compose(claude(), Ask((SYSTEM, USER)), {"max_tokens": 8, "stop": ["\n"]})

    assert found.path == "/v1/messages"
    assert ("anthropic-version", "2023-06-01") in found.headers
    assert json.loads(found.body) == {
        "model": "m",
        "messages": [{"role": "user", "content": "Grüße"}],
        "max_tokens": 8,
        "stop_sequences": ["\n"],
        "system": "Be brief.",
    }


@pytest.mark.parametrize("value", [None, "unset"])
def test_unset_is_not_sent(value):
    """Some models refuse sampling parameters even at their defaults."""
    found = OPENAI.compose(chat(), Ask((USER,)), {"temperature": value, "max_tokens": 8})

    assert "temperature" not in json.loads(found.body)


def test_the_token_limit_can_be_named_as_reasoning_models_want_it():
    decoding = {"max_tokens": 8, "max_tokens_field": "max_completion_tokens"}

    body = json.loads(OPENAI.compose(chat(), Ask((USER,)), decoding).body)

    assert body["max_completion_tokens"] == 8
    assert "max_tokens" not in body
    assert "max_tokens_field" not in body


def test_params_reach_the_body_as_they_are_and_last():
    """OpenRouter's provider block: which host answers is part of the experiment."""
    block = {"order": ["host"], "allow_fallbacks": False, "require_parameters": True}

    body = json.loads(OPENAI.compose(chat(params={"provider": block}), Ask((USER,)), {}).body)

    assert list(body)[-1] == "provider"
    assert body["provider"] == block


@pytest.mark.parametrize("name", ["model", "messages", "stream", "n"])
def test_params_cannot_touch_what_the_study_owns(name):
    with pytest.raises(InputError, match=rf"params\.{name}"):
        OPENAI.compose(chat(params={name: 1}), Ask((USER,)), {})


def test_a_parameter_is_said_once_or_refused():
    """A value that is silently replaced never reached the wire."""
    with pytest.raises(InputError, match=r"params\.temperature.*already"):
        OPENAI.compose(chat(params={"temperature": 1}), Ask((USER,)), {"temperature": 0})


@pytest.mark.parametrize(
    ("api", "decoding", "named"),
    [
        ("openai.chat", {"top_k": 4}, "top_k"),
        ("anthropic.messages", {"max_tokens": 8, "seed": 1}, "seed"),
        ("anthropic.messages", {}, "max_tokens"),
    ],
)
def test_what_an_api_has_no_name_for_is_refused_not_dropped(api, decoding, named):
    """The incident: a parameter accepted by the SDK that never reached the wire."""
    endpoint = chat() if api == "openai.chat" else claude()

    with pytest.raises(InputError, match=named):
        provider(api).compose(endpoint, Ask((USER,)), decoding)


def test_every_decoding_parameter_given_is_in_the_body():
    given = {"temperature": 0.5, "top_p": 0.9, "max_tokens": 8, "seed": 3, "stop": ["x"]}

    body = json.loads(OPENAI.compose(chat(), Ask((USER,)), given).body)

    assert {name: body[name] for name in given} == given


def test_anthropic_gives_no_log_probabilities():
    with pytest.raises(InputError, match="log-probabilities"):
        ANTHROPIC.compose(claude(), Ask((USER,), 5), {"max_tokens": 8})


def test_anthropic_needs_an_explicit_version():
    with pytest.raises(InputError, match="api_version"):
        ANTHROPIC.compose(claude(api_version=None), Ask((USER,)), {"max_tokens": 8})


def test_a_structured_answer_is_asked_for_in_each_apis_own_way():
    schema = {"type": "object", "properties": {"ranking": {"type": "array"}}}
    ask = Ask((USER,), json_schema=schema)

    open_ai = json.loads(OPENAI.compose(chat(), ask, {}).body)
    anthropic = json.loads(ANTHROPIC.compose(claude(), ask, {"max_tokens": 8}).body)

    assert open_ai["response_format"]["json_schema"]["schema"] == schema
    assert anthropic["output_config"] == {"format": {"type": "json_schema", "schema": schema}}


@pytest.mark.parametrize("name", ["Authorization", "X-Api-Key", "Cookie", "Host", "Content-Length"])
def test_headers_that_carry_secrets_or_belong_to_the_tool_cannot_be_frozen(name):
    with pytest.raises(InputError, match=name.lower()):
        OPENAI.compose(chat(headers={name: "value"}), Ask((USER,)), {})


@pytest.mark.parametrize("text", ["\ud800", "x\udfff"])
def test_a_lone_surrogate_is_refused_at_freeze(text):
    with pytest.raises(InputError, match="surrogate"):
        OPENAI.compose(chat(), Ask((Message("user", text),)), {})


def test_nan_is_refused_at_freeze():
    with pytest.raises(InputError):
        OPENAI.compose(chat(), Ask((USER,)), {"temperature": float("nan")})


@pytest.mark.parametrize("api", CATALOGUE)
def test_no_composed_header_carries_a_key(api):
    endpoint = chat() if api == "openai.chat" else claude()

    found = provider(api).compose(endpoint, Ask((USER,)), {"max_tokens": 8})

    assert {name for name, _ in found.headers} <= {"accept", "content-type", "anthropic-version"}


def test_a_key_travels_where_its_api_version_reads_it():
    assert OPENAI.auth("k") == {"authorization": "Bearer k"}
    assert ANTHROPIC.auth("k", "2023-06-01") == {"x-api-key": "k"}
    assert ANTHROPIC.auth("k", "2026-10-21") == {"authorization": "Bearer k"}


def test_an_unknown_api_is_named_with_those_there_are():
    with pytest.raises(InputError, match=r"openai\.chat, anthropic\.messages"):
        provider("openai.responses")
