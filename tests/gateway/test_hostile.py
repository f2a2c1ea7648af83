"""What a hostile upstream or client could slip into the log, or stop the gateway with."""

import asyncio

import pytest
from gateway_world import KEY, asks, gateway, post, raw, stream, streamed, upstream

from judgeaudit.errors import InputError
from judgeaudit.evidence.log.load import load_attempts, load_readings
from judgeaudit.study.gateway import gateway as served


def asked(root, *pieces, to=None, lines=(), path="/v1/chat/completions"):
    """Ask once with the key in its header; return what came back."""

    async def work():
        async with (
            upstream(lambda *_: stream(list(pieces))) as up,
            gateway(root, to or up.url) as found,
        ):
            return await raw(found.url, post(asks(stream=True), path, *lines))

    return asyncio.run(work())


def kept(root):
    rows = [*load_attempts(root / "log").to_pylist(), *load_readings(root / "log").to_pylist()]
    journal = next((root / "log" / "journal").glob("*.jsonl")).read_text()
    return repr(rows) + journal


def test_a_key_that_a_stream_spells_in_pieces_is_in_no_file(tmp_path):
    """Three characters a piece, as tokens come: the bytes hold no key, the joined text does."""
    pieces = [KEY[n : n + 3] for n in range(0, len(KEY), 3)]
    back = asked(tmp_path, *streamed(*pieces), lines=(f"Authorization: Bearer {KEY}",))

    [attempt] = load_attempts(tmp_path / "log").to_pylist()
    assert b"[DONE]" in back  # the harness got its reply, unchanged
    assert KEY not in kept(tmp_path)
    assert attempt["response_body"] == b"[redacted]"
    assert attempt["redacted"] is True


def test_a_key_in_a_header_that_is_stored_is_redacted(tmp_path):
    lines = (f"Authorization: Bearer {KEY}", f"User-Agent: tool/1 {KEY}")
    asked(tmp_path, *streamed("yes"), lines=lines)

    assert KEY not in kept(tmp_path)
    assert "tool/1 [redacted]" in kept(tmp_path)


def test_an_error_that_names_an_address_names_no_query(tmp_path):
    path = "/v1/chat/completions?X-Amz-Signature=ZZSIG99&pass=QQPASS"
    asked(tmp_path, to="http://127.0.0.1:9", path=path)

    assert "ZZSIG99" not in kept(tmp_path)
    assert "QQPASS" not in kept(tmp_path)


@pytest.mark.parametrize("text", ['"\\ud800"', "1e999"], ids=["half a character", "beyond floats"])
def test_a_stream_that_cannot_be_put_together_is_no_reading_and_is_passed_on(tmp_path, text):
    event = b'data: {"model": ' + text.encode() + b', "choices": []}\n\n'
    back = asked(tmp_path, event, *streamed("yes"))

    [reading] = load_readings(tmp_path / "log").to_pylist()
    assert event in back
    assert (reading["status"], reading["reason"]) == ("invalid", "bad_body")


@pytest.mark.parametrize("pattern", ["(?P<a>x){99999999999}", "(?:" * 3000, "("])
def test_a_pattern_that_python_cannot_take_is_refused_in_one_line(tmp_path, pattern):
    with pytest.raises(InputError, match="--system"):
        served(["http://127.0.0.1:9"], tmp_path / "log", system=pattern)
