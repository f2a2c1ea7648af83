"""Requests and replies pass unchanged both ways, and every one of them is in the log."""

import asyncio
import gzip
import json

import pytest
from gateway_world import (
    KEY,
    Answer,
    asks,
    body_of,
    chat,
    gateway,
    post,
    raw,
    sse,
    stream,
    streamed,
    upstream,
)

from judgeaudit.evidence.log.load import load_attempts, load_readings
from judgeaudit.study.verify import verify


def attempts(root):
    return load_attempts(root / "log").to_pylist()


def readings(root):
    return load_readings(root / "log").to_pylist()


def told(head):
    """A request's lines but the host and what belongs to its connection."""
    lines = head.decode().split("\r\n")
    left_out = ("host:", "connection:", "content-length:")
    return [line for line in lines if line and not line.lower().startswith(left_out)]


def test_a_request_arrives_as_it_was_sent(tmp_path):
    """Path, query, header names as written, their order, and the body's bytes."""
    body = b'{"model":"m", "messages" : [],  "x":1.0}\n'
    sent = post(body, "/v1/chat/completions?a=%20b&c", "X-OdD: 1", "X-OdD: 2", "OpenAI-Beta: z")

    async def work():
        async with upstream() as up, gateway(tmp_path, up.url) as found:
            await raw(found.url, sent)
        return up.requests

    [(head, got)] = asyncio.run(work())

    assert got == body
    assert told(head) == told(sent.partition(b"\r\n\r\n")[0])


def test_a_reply_comes_back_as_it_was(tmp_path):
    """Status, headers and bytes, also of an error and of a packed body."""
    packed = gzip.compress(chat())
    answers = [
        Answer(b'{"error": {"message": "no"}}', 418, {"content-type": "text/plain", "X-A": "1"}),
        Answer(packed, 200, {"content-type": "application/json", "content-encoding": "gzip"}),
    ]

    async def work():
        async with upstream(lambda _, n: answers[n]) as up, gateway(tmp_path, up.url) as found:
            return [await raw(found.url, post(asks(str(n)))) for n in range(2)]

    first, second = asyncio.run(work())

    assert first.startswith(b"HTTP/1.1 418")
    assert b"\r\nX-A: 1\r\n" in first
    assert body_of(first) == answers[0].body
    assert body_of(second) == packed
    assert [r["status"] for r in attempts(tmp_path)] == [418, 200]
    assert [(r["status"], r["text"]) for r in readings(tmp_path)] == [
        ("invalid", None),
        ("ok", "yes"),
    ]


def test_codings_that_could_not_be_read_again_are_not_offered(tmp_path):
    async def work():
        async with upstream() as up, gateway(tmp_path, up.url) as found:
            await raw(found.url, post(asks(), "/v1/messages", "Accept-Encoding: gzip, br, zstd"))
        return up.requests[0][0]

    assert b"\r\nAccept-Encoding: gzip\r\n" in asyncio.run(work())


def test_a_stream_is_passed_on_piece_by_piece(tmp_path):
    """The first piece is here while the upstream still waits a quarter of a second for the next."""
    pieces = streamed("GRA", "DE: ", "C")

    async def work():
        async with (
            upstream(lambda *_: stream(pieces, pause_s=0.25)) as up,
            gateway(tmp_path, up.url) as found,
        ):
            reader, writer = await asyncio.open_connection("127.0.0.1", found.port)
            writer.write(post(asks(stream=True)))
            begun = asyncio.get_running_loop().time()
            await reader.readuntil(b"GRA")
            early = asyncio.get_running_loop().time() - begun
            rest = await reader.read()
            writer.close()
            return early, rest

    early, rest = asyncio.run(work())

    assert early < 0.2
    assert b"[DONE]" in rest
    assert attempts(tmp_path)[0]["response_body"] == b"".join(pieces)
    assert [r["text"] for r in readings(tmp_path)] == ["GRADE: C"]


def test_the_end_of_a_stream_is_recorded_before_the_client_has_it(tmp_path):
    """A gateway that dies the moment a client has its answer has lost nothing."""
    pieces = streamed("yes")
    journal = tmp_path / "log" / "journal" / "s001.jsonl"

    async def work():
        async with (
            upstream(lambda *_: stream(pieces, pause_s=0.05)) as up,
            gateway(tmp_path, up.url) as found,
        ):
            reader, writer = await asyncio.open_connection("127.0.0.1", found.port)
            writer.write(post(asks(stream=True)))
            await reader.readuntil(b"[DONE]")
            lines = journal.read_text().splitlines()
            await reader.read()
            writer.close()
            return lines

    assert '"outcome":"ok"' in asyncio.run(work())[-1]


def test_a_client_that_hangs_up_in_the_middle_is_recorded_as_that(tmp_path):
    """The upstream call ends too, as it would have without a gateway; what came is kept."""
    pieces = streamed(*"abcdefgh")

    async def work():
        async with (
            upstream(lambda *_: stream(pieces, pause_s=0.1)) as up,
            gateway(tmp_path, up.url) as found,
        ):
            reader, writer = await asyncio.open_connection("127.0.0.1", found.port)
            writer.write(post(asks(stream=True)))
            await reader.readuntil(b'"b"')
            writer.transport.abort()
            await asyncio.sleep(0.5)
            return up.in_flight

    assert asyncio.run(work()) == 0
    [row] = attempts(tmp_path)
    assert (row["outcome"], row["error"]) == (
        "cancelled",
        "the client hung up in the middle of the reply",
    )
    assert b'"b"' in row["response_body"]
    assert b"[DONE]" not in row["response_body"]
    assert [r["reason"] for r in readings(tmp_path)] == ["no_reply"]


@pytest.mark.parametrize("answer", [Answer(drop=True), stream(streamed("a")[:1], cut=True)])
def test_what_the_upstream_does_to_its_connection_is_done_to_the_clients(answer, tmp_path):
    """No status is made up: the client's SDK sees a broken connection and does as it would have."""

    async def work():
        async with upstream(lambda *_: answer) as up, gateway(tmp_path, up.url) as found:
            try:
                return await raw(found.url, post(asks()))
            except ConnectionError:
                return b""

    reply = asyncio.run(work())

    assert b"0\r\n\r\n" not in reply[-5:]
    [row] = attempts(tmp_path)
    assert (row["outcome"], row["responsibility"]) == ("transport_error", "transport")


def test_an_upstream_that_is_not_there_breaks_the_connection_too(tmp_path):
    async def work():
        async with gateway(tmp_path, "http://127.0.0.1:9") as found:
            try:
                return await raw(found.url, post(asks()))
            except ConnectionError:
                return b""

    assert asyncio.run(work()) == b""
    assert attempts(tmp_path)[0]["outcome"] == "transport_error"


def test_several_choices_and_tools_pass_and_are_read_as_what_they_are(tmp_path):
    """n > 1 is no single answer, a tool's arguments are no text: invalid, each with a reason."""
    tool = {"function": {"name": "grade", "arguments": "{}"}}
    message = {"content": None, "tool_calls": [tool]}
    answers = [
        json.dumps({"choices": [{"message": {"content": t}} for t in "ab"]}).encode(),
        json.dumps({"choices": [{"message": message, "finish_reason": "stop"}]}).encode(),
    ]

    async def work():
        async with (
            upstream(lambda _, n: Answer(answers[n])) as up,
            gateway(tmp_path, up.url) as found,
        ):
            return [body_of(await raw(found.url, post(asks(str(n), n=2)))) for n in range(2)]

    assert asyncio.run(work()) == answers
    assert [r["reason"] for r in readings(tmp_path)] == ["bad_body", "empty"]


def test_any_path_passes(tmp_path):
    """A list of models, an upload: passed on and recorded, in no kind of call."""
    get = b"GET /v1/models HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"

    async def work():
        async with upstream(lambda *_: Answer(b"[1]")) as up, gateway(tmp_path, up.url) as found:
            replies = [
                await raw(found.url, get),
                await raw(found.url, post(b"\xff\x00", "/v1/files")),
            ]
            return up.requests, [body_of(reply) for reply in replies]

    requests, bodies = asyncio.run(work())

    assert bodies == [b"[1]", b"[1]"]
    assert requests[0][0].startswith(b"GET /v1/models HTTP/1.1")
    assert requests[1][1] == b"\xff\x00"
    assert [r["group"] for r in readings(tmp_path)] == ["other", "other"]
    assert verify(tmp_path).ok


def test_no_key_is_in_any_file(tmp_path):
    """In a header, in the query, echoed in a reply's body and header, in a request's own body."""
    other = "AIza-query-key-0123456789"
    echo = chat(f"your key is {KEY} and {other}, or {KEY[3:20]}")
    answer = Answer(echo, 200, {"content-type": "application/json", "x-request-id": KEY})

    async def work():
        async with upstream(lambda *_: answer) as up, gateway(tmp_path, up.url) as found:
            sent = post(
                asks(f"the key {KEY}"), f"/v1/chat/completions?key={other}", "Cookie: s=abc"
            )
            reply = body_of(await raw(found.url, sent))
            bad = stream(sse({"error": {"message": f"bad key {KEY}"}}, done=False), status=200)
            up.answer = lambda *_: bad
            await raw(found.url, post(asks("again")))
            return reply

    assert asyncio.run(work()) == echo
    held = {p: p.read_bytes() for p in tmp_path.rglob("*") if p.is_file()}
    assert len(held) >= 4
    import base64

    journal = next(data for path, data in held.items() if path.suffix == ".jsonl")
    for record in map(json.loads, journal.splitlines()):
        for name in ("body", "response_body"):
            held[name] = base64.b64decode(record["record"].get(name) or b"") + held.get(name, b"")
    held["parquet"] = b"".join(row["response_body"] for row in attempts(tmp_path))
    for path, data in held.items():
        assert KEY[3:20].encode() not in data, path
        assert other.encode() not in data, path
    assert attempts(tmp_path)[0]["redacted"]
    assert verify(tmp_path).ok


def test_a_log_is_verified_as_a_studys(tmp_path):
    """A reply's byte changed in the journal is found, and so is a part that is gone."""

    async def work():
        async with upstream() as up, gateway(tmp_path, up.url) as found:
            for number in range(3):
                await raw(found.url, post(asks(str(number))))

    asyncio.run(work())
    asyncio.run(work())
    sound = verify(tmp_path)
    assert (sound.ok, sound.runs, sound.calls, sound.planned) == (True, ("s001", "s002"), 6, False)

    path = tmp_path / "log" / "sealed" / "s002" / "readings.parquet"
    path.rename(tmp_path / "gone")
    assert any("no such file" in text for text in verify(tmp_path).findings)
    (tmp_path / "gone").rename(path)
    journal = tmp_path / "log" / "journal" / "s001.jsonl"
    journal.write_bytes(journal.read_bytes().replace(b'"method":"POST"', b'"method":"PUT!"', 1))
    assert any("s001.jsonl" in text and "altered" in text for text in verify(tmp_path).findings)


def test_the_settings_by_which_replies_were_read_cannot_be_changed(tmp_path):
    """The opening's lock digest is that of the session's settings."""

    async def work():
        async with upstream() as up, gateway(tmp_path, up.url, value="$.a") as found:
            await raw(found.url, post(asks()))

    asyncio.run(work())
    journal = tmp_path / "log" / "journal" / "s001.jsonl"
    from judgeaudit.evidence.log.chain import Chain, Kind

    chain, lines = Chain(), []
    for line in journal.read_bytes().splitlines():
        record = json.loads(line)["record"]
        if record["kind"] == "event":
            record["data"]["value"] = None
        link = chain.extend(Kind(record.pop("kind")), record)
        chain.move_to(link)
        lines.append(link.line)
    journal.write_bytes(b"".join(lines))

    assert any("settings have digest" in text for text in verify(tmp_path).findings)
