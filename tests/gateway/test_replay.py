"""Recorded answers in recorded order, and nothing else."""

import asyncio
import json

import pytest
from gateway_world import (
    Answer,
    asks,
    body_of,
    chat,
    gateway,
    post,
    raw,
    stream,
    streamed,
    upstream,
)

from judgeaudit.errors import EvidenceError, InputError
from judgeaudit.evidence.log.load import load_readings
from judgeaudit.gateway.reask import Settings
from judgeaudit.gateway.replay import load_replay
from judgeaudit.instrument.spoken import reply_of

PATH = "/v1/chat/completions"


@pytest.fixture
def recorded(tmp_path):
    """Twice the bytes "a" (answered 1, 2), once "b" (a 429 and then 3), once "s", streamed."""
    said = [Answer(chat(str(n))) for n in (1, 2)]
    busy = Answer(b"{}", 429)
    answers = [said[0], said[1], busy, Answer(chat("3")), stream(streamed("4"))]

    async def work():
        async with (
            upstream(lambda _, n: answers[n] if n < 5 else Answer(chat("again"))) as up,
            gateway(tmp_path, up.url, Settings(1.0)) as found,
        ):
            for prompt in "aabbs":
                await raw(found.url, post(asks(prompt)))

    asyncio.run(work())
    return tmp_path


def text(response):
    found = reply_of(
        "openai.chat", response.body, {k.lower(): v for k, v in response.headers.items()}
    )
    return found.text


def test_answers_come_in_recorded_order_without_failures_and_without_re_asks(recorded):
    replay = load_replay(recorded)

    given = [text(replay.next("POST", PATH, asks(prompt))) for prompt in ("a", "b", "a", "s")]

    assert given == ["1", "3", "2", "4"]
    assert replay.given == 4


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [("POST", PATH, asks("c")), ("POST", "/v1/responses", asks("b")), ("PUT", PATH, asks("b"))],
)
def test_an_unknown_request_is_an_error_and_never_a_guess(method, path, body, recorded):
    replay = load_replay(recorded)

    assert replay.next(method, path, body) is None
    refused = replay.refuse(method, path, body)
    assert refused.status == 404
    assert "no recorded answer to these bytes" in json.loads(refused.body)["error"]["message"]
    assert refused.headers["x-should-retry"] == "false"


def test_a_request_that_comes_once_more_than_it_was_recorded_is_an_error(recorded):
    replay = load_replay(recorded)

    assert replay.next("POST", PATH, asks("b")) is not None
    assert replay.next("POST", PATH, asks("b")) is None
    assert b"came once more" in replay.refuse("POST", PATH, asks("b")).body


def test_a_log_that_was_changed_answers_nothing(recorded):
    journal = recorded / "log" / "journal" / "s001.jsonl"
    journal.write_bytes(journal.read_bytes().replace(b"upstream", b"upstraem", 1))

    with pytest.raises(EvidenceError, match="differs from the manifest's"):
        load_replay(recorded)


def test_a_folder_without_a_sealed_session_is_told(tmp_path):
    with pytest.raises(InputError, match="no sealed session"):
        load_replay(tmp_path)


def test_new_requests_pass_through_and_are_recorded(recorded, tmp_path_factory):
    root = tmp_path_factory.mktemp("new")

    async def work():
        async with upstream(lambda *_: Answer(chat("new"))) as up, gateway(root, up.url) as found:
            found.proxy._replay = load_replay(recorded)
            known = body_of(await raw(found.url, post(asks("a"))))
            unknown = body_of(await raw(found.url, post(asks("z"))))
            return known, unknown, len(up.requests)

    known, unknown, sent = asyncio.run(work())

    assert (known, unknown, sent) == (chat("1"), chat("new"), 1)
    assert [row["text"] for row in load_readings(root / "log").to_pylist()] == ["new"]
