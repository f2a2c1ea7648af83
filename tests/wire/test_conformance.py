"""Our bodies against what others hold right: the SDKs, and OpenAI's published schema.

The SDKs are never used to send. An SDK's parameter that its version does not name goes through its
`extra_body`, as a user of that version would send it.
"""

import inspect
import json
import os
import subprocess
import sys
from pathlib import Path

import anthropic
import openai
import pytest
from anthropic.types.message_create_params import MessageCreateParamsNonStreaming
from jsonschema import Draft202012Validator
from pydantic import TypeAdapter, ValidationError

from judgeaudit.instrument.provider import provider
from judgeaudit.model import Ask, Endpoint, Message

USER, SYSTEM = Message("user", 'Is "2 + 2 = 4" right?\nGrüße 漢字'), Message("system", "Be brief.")
SCHEMA = {
    "type": "object",
    "properties": {"ranking": {"type": "array", "items": {"enum": ["A", "B"]}}},
    "required": ["ranking"],
    "additionalProperties": False,
}
DECODINGS = {
    "openai.chat": [
        {"temperature": 0, "max_tokens": 8},
        {"temperature": 0.7, "top_p": 0.9, "max_tokens": 64, "seed": 7, "stop": ["\n", "END"]},
        {"max_tokens": 8, "max_tokens_field": "max_completion_tokens"},
    ],
    "anthropic.messages": [
        {"max_tokens": 8},
        {"temperature": 0.5, "top_p": 0.9, "max_tokens": 64, "stop": ["END"]},
    ],
}
ASKS = {
    "openai.chat": [Ask((USER,)), Ask((SYSTEM, USER), 20), Ask((USER,), json_schema=SCHEMA)],
    "anthropic.messages": [Ask((USER,)), Ask((SYSTEM, USER)), Ask((USER,), json_schema=SCHEMA)],
}
PARAMS = {
    "openai.chat": [
        {},
        {"provider": {"order": ["a"], "allow_fallbacks": False, "require_parameters": True}},
        {"reasoning_effort": "low", "service_tier": "default", "store": False},
    ],
    "anthropic.messages": [
        {},
        {"thinking": {"type": "disabled"}, "service_tier": "standard_only"},
    ],
}
CASES = [
    (api, ask, decoding, params)
    for api in ASKS
    for ask in ASKS[api]
    for decoding in DECODINGS[api]
    for params in PARAMS[api]
]
OFFICIAL = [case for case in CASES if case[0] == "openai.chat" and "provider" not in case[3]]


def ours(api, ask, decoding, params):
    version = "2023-06-01" if api == "anthropic.messages" else None
    endpoint = Endpoint("judge", api, "http://x", "m", params=params, api_version=version)
    return json.loads(provider(api).compose(endpoint, ask, decoding).body)


def known_arguments(api):
    sdk = {
        "openai.chat": openai.resources.chat.completions.Completions,
        "anthropic.messages": anthropic.resources.messages.Messages,
    }[api]
    return set(inspect.signature(sdk.create).parameters)


def capture(python, extra_only=()):
    """What the SDKs of `python` send for our cases."""
    cases = []
    for case in CASES:
        body, named = ours(*case), COMMON[case[0]] - set(extra_only)
        arguments = {k: v for k, v in body.items() if k in named}
        extra = {k: v for k, v in body.items() if k not in named}
        cases.append({"api": case[0], "arguments": arguments, "extra": extra})
    done = subprocess.run(
        [python, str(Path(__file__).with_name("sdk_capture.py"))],
        input=json.dumps(cases),
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    return json.loads(done.stdout)


COMMON = {
    "openai.chat": {
        "model",
        "messages",
        "temperature",
        "top_p",
        "max_tokens",
        "seed",
        "stop",
        "logprobs",
        "top_logprobs",
        "response_format",
    },
    "anthropic.messages": {
        "model",
        "messages",
        "max_tokens",
        "system",
        "stop_sequences",
    },
}
"""Arguments that every SDK version from openai 1.40 and anthropic 0.34 on has by name."""


def test_our_bodies_are_what_the_installed_sdks_send():
    found = capture(sys.executable)

    assert found["bodies"] == [ours(*case) for case in CASES]


def other_pythons():
    """The interpreters of the environments that JUDGEAUDIT_SDK_VENVS lists, as PATH does."""
    folders = os.environ["JUDGEAUDIT_SDK_VENVS"].split(os.pathsep)
    return [str(Path(folder) / "bin" / "python") for folder in folders]


@pytest.mark.integration
def test_our_bodies_are_what_three_versions_of_each_sdk_send():
    """The installed one and the others that `.ci/run` makes: an old body form of each kind."""
    found = [capture(python) for python in (sys.executable, *other_pythons())]

    expected = [ours(*case) for case in CASES]
    assert all(one["bodies"] == expected for one in found)
    for sdk in ("openai", "anthropic"):
        assert len({one["versions"][sdk] for one in found}) >= 3


@pytest.fixture(scope="module")
def chat_schema(shared):
    path = shared / "specs" / "openai-chat-completions.json"
    return json.loads(path.read_text())


def request_validator(document):
    """A validator of the published request schema; references stay within the document."""
    return Draft202012Validator(
        {**document, "$ref": "#/components/schemas/CreateChatCompletionRequest"}
    )


@pytest.mark.shared
@pytest.mark.parametrize("case", OFFICIAL)
def test_chat_bodies_validate_against_the_published_schema(case, chat_schema):
    errors = list(request_validator(chat_schema).iter_errors(ours(*case)))

    assert errors == []


@pytest.mark.shared
def test_the_published_schema_would_have_found_a_fault(chat_schema):
    """A mock that accepts `temperature: "hot"` proves nothing; this validator does not."""
    body = ours("openai.chat", Ask((USER,)), {"temperature": "hot"}, {})

    assert list(request_validator(chat_schema).iter_errors(body))


@pytest.mark.parametrize("case", [case for case in CASES if case[0] == "anthropic.messages"])
def test_anthropic_bodies_fit_the_sdks_own_types(case):
    """The type of the installed version has no sampling parameters (the 2026-10-21 API refuses
    them), so these are held against their names and the rest strictly.
    """
    body = ours(*case)
    sampling = {name: body.pop(name) for name in ("temperature", "top_p") if name in body}

    TypeAdapter(MessageCreateParamsNonStreaming).validate_python(body, strict=False)
    assert set(body) <= known_arguments("anthropic.messages")
    assert all(isinstance(value, float) for value in sampling.values())


def test_the_sdks_types_would_have_found_a_fault():
    body = ours("anthropic.messages", Ask((USER,)), {"max_tokens": "many"}, {})

    with pytest.raises(ValidationError):
        TypeAdapter(MessageCreateParamsNonStreaming).validate_python(body)
