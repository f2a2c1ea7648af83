"""What reaches the wire: the frozen bytes, one set of headers, nothing else. Seen by a recorder."""

import asyncio
import json
import os
import signal

import pyarrow.parquet as pq
import pytest

from judgeaudit.canonical import digest
from judgeaudit.collect.clock import RealClock
from judgeaudit.collect.transport import (
    Exchange,
    Limits,
    Route,
    Transport,
    check_bytes,
    failure_of,
)
from judgeaudit.errors import GuardError, InputError, RunPaused
from judgeaudit.evidence.log.load import load_attempts
from judgeaudit.model import Composed, FrozenBody, Outcome

KEY = "sk-recorded-0123456789abcdef"
EXPECTED = [
    "accept",
    "accept-encoding",
    "authorization",
    "content-length",
    "content-type",
    "host",
    "user-agent",
]
HOSTILE = {
    "OPENAI_API_KEY": "sk-from-the-environment",
    "OPENAI_BASE_URL": "http://127.0.0.1:9/hijacked",
    "OPENAI_ORG_ID": "org-environment",
    "OPENAI_CUSTOM_HEADERS": "x-custom: openai",
    "ANTHROPIC_API_KEY": "sk-ant-from-the-environment",
    "ANTHROPIC_BASE_URL": "http://127.0.0.1:9/hijacked",
    "ANTHROPIC_CUSTOM_HEADERS": "anthropic-version: test",
    "HTTP_PROXY": "http://127.0.0.1:9",
    "HTTPS_PROXY": "http://127.0.0.1:9",
    "ALL_PROXY": "http://127.0.0.1:9",
    "http_proxy": "http://127.0.0.1:9",
    "all_proxy": "http://127.0.0.1:9",
    "SSL_CERT_FILE": "/nonexistent/certificates.pem",
    "NETRC": "/nonexistent/netrc",
    "OTEL_TRACES_EXPORTER": "otlp",
}


def frozen_of(body=b'{"model":"m","messages":[]}', path="/chat/completions"):
    headers = (("accept", "application/json"), ("content-type", "application/json"))
    return FrozenBody(digest(body), digest(b"[]"), "judge", Composed(path, headers, body))


LIMITS = Limits(5, 5, 5)


def send(recorder, frozen=None, limits=LIMITS, **route):
    """Send one body over a new transport; returns the exchange and what was raised."""

    async def go():
        exchange = Exchange()
        async with Transport() as transport:
            try:
                way = Route(recorder.base_url, limits=limits, **route)
                await transport.send(way, frozen or frozen_of(), RealClock(), exchange)
            except BaseException as error:
                return exchange, error
        return exchange, None

    return asyncio.run(go())


def test_repeats_and_retries_put_the_frozen_bytes_and_one_header_set_on_the_wire(
    study, run, recording, make_registration, monkeypatch
):
    """Two repeats of six bodies; every third request meets a 429 and sets a cookie."""
    for name, value in HOSTILE.items():
        monkeypatch.setenv(name, value)

    def answer(request, number):
        if number % 3 == 0:
            headers = {"set-cookie": "session=abc; path=/", "retry-after": "0"}
            return recording.Answer(429, headers, b'{"error":{"code":"rate_limit"}}')
        return recording.Answer(headers={"set-cookie": "session=abc; path=/"})

    with recording.Recorder(answer) as server:
        text = make_registration("http://judge.example", schedule="repeats = 2")
        frozen = study(text, items=6)
        run(frozen, base=server.base_url, keys={"judge": KEY})

    planned = {digest(frozen.body_of(call).request.body) for call in frozen.plan}
    assert {digest(request.body) for request in server.requests} == planned
    assert len(server.requests) > 12 + 1
    assert {tuple(request.names) for request in server.requests} == {tuple(EXPECTED)}
    values = [dict(r.headers) for r in server.requests]
    assert {v["authorization"] for v in values} == {f"Bearer {KEY}"}
    assert {v["accept-encoding"] for v in values} == {"identity"}
    assert len({v["user-agent"] for v in values}) == 1
    said = b"".join(request.head for request in server.requests)
    for value in HOSTILE.values():
        assert value.encode() not in said


def test_a_resume_puts_the_same_bytes_on_the_wire(study, run, recording, make_registration):
    """The first run is paused by a 401; the second finishes: each body is a frozen one."""
    paused = {"now": False}

    def answer(request, number):
        if number == 4 and not paused["now"]:
            paused["now"] = True
            return recording.Answer(401, {}, b'{"error":{"message":"expired"}}')
        return recording.Answer()

    with recording.Recorder(answer) as server:
        frozen = study(make_registration("http://judge.example"), items=6)
        with pytest.raises(RunPaused, match="401"):
            run(frozen, base=server.base_url, keys={"judge": KEY})
        run(frozen, base=server.base_url, keys={"judge": KEY})

    planned = [call.body_sha256 for call in frozen.plan]
    sent = [digest(request.body) for request in server.requests]
    assert set(sent) == set(planned)
    # Preflight sends the first body once more, and the call that met the 401 is asked again.
    assert len(sent) == len(planned) + 2
    assert {tuple(request.names) for request in server.requests} == {tuple(EXPECTED)}


def test_a_body_with_another_digest_cannot_leave(recording):
    """The incident: an archive that hashed the SDK's arguments and not the wire bytes."""
    sound = frozen_of()
    altered = Composed(sound.request.path, sound.request.headers, sound.request.body + b" ")

    with recording.Recorder() as server:
        _, error = send(
            server, FrozenBody(sound.body_sha256, sound.prompt_sha256, "judge", altered)
        )

    assert isinstance(error, GuardError)
    assert sound.body_sha256 in str(error)
    assert digest(altered.body) in str(error)
    assert server.requests == []


def test_key_order_is_part_of_the_frozen_bytes():
    """The incident: a key-order defect in the body. Equal as JSON is not equal."""
    one, other = b'{"a":1,"b":2}', b'{"b":2,"a":1}'

    assert json.loads(one) == json.loads(other)
    with pytest.raises(GuardError):
        check_bytes(other, frozen_of(one))


@pytest.mark.parametrize(
    "body",
    [
        b'{"x":"' + "Grüße 漢字 \U0001f600".encode() + b'"}',
        b'{"x": 0.0,  "y" :1e5}',
        b'{"x":"' + b"a" * 200_000 + b'"}',
        '{"x":"é", "y":"é"}'.encode(),
    ],
)
def test_bytes_are_never_rewritten(recording, body):
    """Spaces, number forms, NFC beside NFD, large bodies: what is frozen is what arrives."""
    with recording.Recorder() as server:
        _, error = send(server, frozen_of(body))

    assert error is None
    assert server.requests[0].body == body


def test_replies_are_kept_undecoded(recording):
    """A server may compress although `identity` was asked: the log keeps what came."""
    packed = b"\x1f\x8b\x08\x00not really gzip"

    with recording.Recorder(
        lambda *_: recording.Answer(headers={"content-encoding": "gzip"}, body=packed)
    ) as server:
        exchange, error = send(server)

    assert error is None
    assert exchange.body == packed


def test_redirects_are_not_followed(recording):
    with (
        recording.Recorder() as other,
        recording.Recorder(
            lambda *_: recording.Answer(307, {"location": other.base_url})
        ) as server,
    ):
        exchange, _ = send(server)

    assert exchange.status == 307
    assert other.requests == []


def test_cookies_are_not_kept(recording):
    """By the host's name: an address has no cookies in any client, which would hide a jar."""

    async def go(url):
        async with Transport() as transport:
            for _ in range(2):
                await transport.send(Route(url), frozen_of(), RealClock(), Exchange())

    with recording.Recorder(lambda *_: recording.Answer(headers={"set-cookie": "a=b"})) as server:
        asyncio.run(go(server.base_url.replace("127.0.0.1", "localhost")))

    assert len(server.requests) == 2
    assert all("cookie" not in request.names for request in server.requests)


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        ({"drop": True}, Outcome.TRANSPORT_ERROR),
        ({"cut": True}, Outcome.TRANSPORT_ERROR),
        ({"delay_s": 1.0}, Outcome.TIMEOUT),
    ],
)
def test_failures_of_the_network_are_told_apart(recording, answer, outcome):
    """A closed connection is no timeout, whatever the transport below calls it."""
    with recording.Recorder(lambda *_: recording.Answer(**answer)) as server:
        exchange, error = send(server, limits=Limits(5, 0.2, 5))

    assert failure_of(error)[0] is outcome
    assert exchange.sent_at is not None


def test_nothing_listens_is_a_transport_failure(recording):
    with recording.Recorder() as server:
        url = server.base_url

    class Gone:
        base_url = url

    exchange, error = send(Gone)

    assert failure_of(error)[0] is Outcome.TRANSPORT_ERROR
    assert exchange.received_at is None


def test_the_total_time_is_bounded_also_where_bytes_trickle(recording):
    with recording.Recorder(lambda *_: recording.Answer(delay_s=2)) as server:
        _, error = send(server, limits=Limits(5, 5, 0.2))

    assert failure_of(error)[0] is Outcome.TIMEOUT


def test_a_dropped_connection_is_not_sent_again_behind_our_back(recording):
    """A retry is a new attempt with its own reservation, never the client's."""
    with recording.Recorder(lambda *_: recording.Answer(drop=True)) as server:
        send(server)

    assert len(server.requests) == 1


def test_times_stand_in_order(recording):
    with recording.Recorder(lambda *_: recording.Answer(delay_s=0.05)) as server:
        exchange, _ = send(server)

    assert exchange.sent_at < exchange.received_at
    assert 50 <= exchange.ttfb_ms <= exchange.elapsed_ms


@pytest.mark.parametrize(
    "url", ["http://user:pass@h", "http://h/?key=1", "ftp://h", "h", "http://"]
)
def test_a_base_url_carries_no_secret_and_is_http(url):
    with pytest.raises(InputError):
        Route(url)


def test_a_route_shows_no_key():
    assert KEY not in repr(Route("http://h", {"authorization": f"Bearer {KEY}"}))


def test_an_interrupted_attempt_leaves_its_trace_and_is_asked_again(
    study, run, recording, make_registration
):
    """Ctrl-C while four requests hang: four rows `cancelled`, then a resumed run is whole."""
    # A shell's background job ignores SIGINT, and so would what it starts.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    hang = {"on": True}

    def answer(request, number):
        if hang["on"] and number >= 4:
            if number == 7:
                os.kill(os.getpid(), signal.SIGINT)
            return recording.Answer(delay_s=30)
        return recording.Answer()

    schedule = 'conditions = [{name = "loaded", in_flight = 4}]'
    with recording.Recorder(answer) as server:
        frozen = study(make_registration("http://judge.example", schedule=schedule), items=12)
        with pytest.raises(KeyboardInterrupt):
            run(frozen, base=server.base_url)
        hang["on"] = False
        run(frozen, base=server.base_url)

    outcomes = load_attempts(frozen.root / "log").column("outcome").to_pylist()
    assert outcomes.count("cancelled") == 4
    assert outcomes.count("ok") == 12 + 1


def files_of(root):
    return [path for path in root.rglob("*") if path.is_file()]


def plain_bytes(path):
    """A file's bytes; a Parquet file's columns as text too, since its pages are compressed."""
    data = path.read_bytes()
    if path.suffix == ".parquet":
        table = pq.read_table(path)
        cells = [cell for column in table.columns for cell in column.to_pylist()]
        data += b"\n".join(c if isinstance(c, bytes) else str(c).encode() for c in cells)
    return data


def test_no_key_or_cookie_is_in_any_file_also_when_a_server_echoes_it(
    study, run, recording, make_registration
):
    """Bodies, errors and headers of replies hold the key; no file of the study does."""

    def answer(request, number):
        echo = json.dumps(request.headers).encode()
        reply = json.loads(recording.OK) | {"debug": request.headers, "model": f"m {KEY}"}
        headers = {"set-cookie": f"session={KEY}", "x-request-id": KEY, "x-echo": KEY}
        if number % 4 == 1:
            return recording.Answer(
                500, headers, b'{"error":{"message":%s}}' % json.dumps(echo.decode()).encode()
            )
        return recording.Answer(200, headers, json.dumps(reply).encode())

    with recording.Recorder(answer) as server:
        frozen = study(make_registration("http://judge.example"), items=6)
        run(frozen, base=server.base_url, keys={"judge": KEY})

    for path in files_of(frozen.root):
        data = plain_bytes(path)
        assert KEY.encode() not in data, path
        assert b"session=" not in data, path
    rows = load_attempts(frozen.root / "log").to_pylist()
    assert all(row["redacted"] for row in rows)
    assert all(b"[redacted]" in row["response_body"] for row in rows)
    assert all(row["received_sha256"] != row["stored_sha256"] for row in rows)
