"""Which replies are whole: the allow-list of endings, one choice, one text part, no error."""

import json

import pytest

from judgeaudit.instrument.provider import CATALOGUE, provider
from judgeaudit.instrument.rules import Rules
from judgeaudit.model import Ending, Invalid, Reason

OPENAI, ANTHROPIC = "openai.chat", "anthropic.messages"
ABSENT = object()


def chat(content="1", reason=ABSENT, **message):
    choice = {"index": 0, "message": {"role": "assistant", "content": content, **message}}
    if reason is not ABSENT:
        choice["finish_reason"] = reason
    return {"choices": [choice]}


def message(content, reason=ABSENT):
    whole = {"type": "message", "content": content}
    return whole if reason is ABSENT else {**whole, "stop_reason": reason}


def read(api, document, rules=Rules.V2):
    return provider(api).read(json.dumps(document).encode(), rules)


DOCUMENTS = {OPENAI: chat, ANTHROPIC: message}
TEXT = {OPENAI: "1", ANTHROPIC: [{"type": "text", "text": "1"}]}


def ending(api, reason):
    return read(api, DOCUMENTS[api](TEXT[api], reason))


@pytest.mark.parametrize(
    ("api", "word"),
    [
        (OPENAI, "stop"),
        (OPENAI, "eos_token"),
        (ANTHROPIC, "end_turn"),
        (ANTHROPIC, "stop_sequence"),
    ],
)
def test_an_ending_that_the_api_documents_as_whole_is_whole(api, word):
    assert ending(api, word).ending is Ending.WHOLE


@pytest.mark.parametrize("api", sorted(CATALOGUE.keys() & DOCUMENTS.keys()))
@pytest.mark.parametrize("reason", [None, ABSENT])
def test_an_ending_that_is_not_reported_is_told_as_that(api, reason):
    """Null and absent: OpenAI's own API and KoboldCpp have sent whole answers like that."""
    reply = ending(api, reason)

    assert (reply.ending, reply.finish_reason) == (Ending.NOT_REPORTED, None)


@pytest.mark.parametrize("word", ["length", "max_tokens", "model_length", "max_output_tokens"])
@pytest.mark.parametrize("api", DOCUMENTS)
def test_a_word_for_a_cut_is_a_cut_in_every_api(api, word):
    assert ending(api, word).ending is Ending.CUT


@pytest.mark.parametrize("word", ["content_filter", "refusal", "safety"])
def test_a_word_for_a_refusal_is_a_refusal(word):
    assert ending(OPENAI, word).ending is Ending.DECLINED


@pytest.mark.parametrize(
    ("api", "word", "told"),
    [
        (OPENAI, "error", "error"),
        (OPENAI, "abort", "abort"),
        (OPENAI, "tool_calls", "tool_calls"),
        (OPENAI, "end_turn", "end_turn"),
        (OPENAI, "STOP", "STOP"),
        (OPENAI, "stop ", "stop "),
        (OPENAI, "insufficient_system_resource", "insufficient_system_resource"),
        (OPENAI, "", ""),
        (OPENAI, 3, "3"),
        (OPENAI, {"type": "stop"}, '{"type": "stop"}'),
        (ANTHROPIC, "pause_turn", "pause_turn"),
        (ANTHROPIC, "tool_use", "tool_use"),
        (ANTHROPIC, "stop", "stop"),
    ],
)
def test_any_other_ending_is_unknown_and_keeps_its_word(api, word, told):
    """case A1: "error" and "abort" came with "1", which was what had come of "10"."""
    reply = ending(api, word)

    assert (reply.ending, reply.finish_reason) == (Ending.UNKNOWN, told)


def test_an_error_in_a_choice_overrides_its_content():
    """case A1: `choices[0].error` beside content "1"."""
    document = chat(reason="error")
    document["choices"][0]["error"] = {"code": 502, "message": "upstream went away"}

    assert read(OPENAI, document) == Invalid(
        Reason.BAD_BODY, "an error under a success status: 502: upstream went away"
    )
    assert read(OPENAI, document | {"choices": chat()["choices"]}).text == "1"


def test_an_error_block_overrides_an_anthropic_message():
    blocks = [{"type": "text", "text": "4"}, {"type": "error", "error": {"type": "api_error"}}]

    assert read(ANTHROPIC, message(blocks)).reason is Reason.BAD_BODY


def test_two_choices_are_no_answer():
    """One was asked; which of two is meant, nothing says."""
    two = {"choices": [*chat("A")["choices"], *chat("B")["choices"]]}

    assert read(OPENAI, two) == Invalid(Reason.BAD_BODY, "2 choices, where one was asked")
    assert read(OPENAI, two, Rules.V1).text == "A"


FOUR_FIVE = [{"type": "text", "text": "4"}, {"type": "text", "text": "5"}]


@pytest.mark.parametrize("api", DOCUMENTS)
def test_text_parts_are_counted_and_keep_a_seam(api):
    """case A4: 4 and 5 are not 45."""
    reply = read(api, DOCUMENTS[api](FOUR_FIVE, "end_turn"))

    assert (reply.text, reply.parts) == ("4\n5", 2)
    assert read(api, DOCUMENTS[api](FOUR_FIVE), Rules.V1).text == "45"


@pytest.mark.parametrize("api", DOCUMENTS)
def test_blank_parts_say_nothing_and_make_no_second_part(api):
    """Claude writes a part of two line feeds before it thinks."""
    blank = {"type": "text", "text": "\n\n"}

    reply = read(api, DOCUMENTS[api]([blank, {"type": "text", "text": "4"}, blank]))

    assert (reply.text, reply.parts) == ("4", 1)


@pytest.mark.parametrize("api", DOCUMENTS)
@pytest.mark.parametrize(
    "part",
    [
        {"type": "thinking", "thinking": "hm"},
        {"type": "redacted_thinking", "data": "x"},
        {"type": "input_audio", "text": "B"},
        {"type": "tool_use", "text": "B", "input": {}},
    ],
)
def test_a_part_that_is_not_text_is_not_read_and_its_place_is_told(api, part):
    reply = read(api, DOCUMENTS[api]([part, {"type": "text", "text": "4"}]))

    assert (reply.text, reply.parts, reply.other) == ("4", 1, (part["type"],))


@pytest.mark.parametrize("part", ["B", 3, None, ["B"]])
def test_a_part_that_is_no_object_is_not_read(part):
    assert read(OPENAI, chat([part, {"type": "text", "text": "4"}])).text == "4"


@pytest.mark.parametrize(
    ("fields", "places"),
    [
        ({"reasoning_content": "So it is B."}, ("reasoning_content",)),
        ({"reasoning": "So it is B."}, ("reasoning",)),
        ({"thinking": "B", "tool_calls": [{"id": "x"}]}, ("thinking", "tool_calls")),
        ({"reasoning_details": [{"text": "B"}]}, ("reasoning_details",)),
        ({"reasoning_content": "", "tool_calls": []}, ()),
    ],
)
def test_where_something_stands_beside_the_content_is_told(fields, places):
    """case A6 (ollama, DeepSeek, vLLM, OpenRouter write reasoning under these names)."""
    assert read(OPENAI, chat("", "stop", **fields)).other == places


def test_a_refusal_may_be_a_part_of_the_content():
    part = {"type": "refusal", "refusal": "I cannot judge that."}

    assert read(OPENAI, chat([part])).refusal == "I cannot judge that."
