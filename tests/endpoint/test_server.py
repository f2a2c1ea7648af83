"""Embedded endpoints over real HTTP: start, answer, fail as planted, end."""

import asyncio
import itertools
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time

import httpx
import pytest

from judgeaudit.endpoint.server import start_embedded
from judgeaudit.errors import InputError, JudgeauditError

CHAT = "/v1/chat/completions"
T0 = 1_800_000_000_000_000_000


class FixedClock:
    """A clock that stands still, so that nothing but the request decides a reply."""

    virtual = True

    def now_ns(self):
        return T0

    async def sleep(self, seconds):
        raise AssertionError("the endpoint waits for nobody")


def start(name, **options):
    return start_embedded(f"embedded:{name}", clock=FixedClock(), seed=1, options=options)


def body(prompt="Say why.", **params):
    return {"model": "m", "messages": [{"role": "user", "content": prompt}], **params}


@pytest.fixture
def client():
    with httpx.Client(trust_env=False, timeout=10) as made:
        yield made


def virtual(t=0, attempt=1, load=1):
    return {"x-judgeaudit-virtual": f"t={t};attempt={attempt};load={load}"}


@pytest.mark.parametrize("process", [False, True])
def test_a_reply_is_the_same_from_a_thread_and_from_a_process(client, process):
    with start("shared-floor", process=process) as here, start("shared-floor") as there:
        for t in range(5):
            ours, theirs = (
                client.post(e.base_url + CHAT, json=body(), headers=virtual(t))
                for e in (here, there)
            )
            assert ours.content == theirs.content
            assert ours.headers["x-judgeaudit-simulated"] == "shared-floor"


@pytest.mark.parametrize("path", [CHAT, "/chat/completions"])
def test_both_forms_of_a_path_are_served(client, path):
    with start("stable") as endpoint:
        assert client.post(endpoint.base_url + path, json=body()).status_code == 200


def test_anthropic_messages_need_their_version_header(client):
    with start("stable") as endpoint:
        url, sent = endpoint.base_url + "/v1/messages", body(max_tokens=100)
        assert client.post(url, json=sent).status_code == 400
        reply = client.post(url, json=sent, headers={"anthropic-version": "2023-06-01"})
        assert reply.json()["type"] == "message"
        assert reply.headers["request-id"].startswith("req_simulated_")


def test_models_are_listed(client):
    with start("stable") as endpoint:
        listed = client.get(endpoint.base_url + "/v1/models").json()
        assert [model["id"] for model in listed["data"]] == ["simulated-stable"]


@pytest.mark.parametrize(
    ("method", "path", "content", "status"),
    [
        ("POST", "/v1/embeddings", b"{}", 404),
        ("GET", CHAT, b"", 404),
        ("POST", CHAT, b"{", 400),
        ("POST", CHAT, b"[1]", 400),
        ("POST", CHAT, b"\xff", 400),
    ],
)
def test_other_requests_are_errors_in_the_providers_shape(client, method, path, content, status):
    with start("stable") as endpoint:
        reply = client.request(method, endpoint.base_url + path, content=content)
        assert reply.status_code == status
        assert reply.json()["error"]["message"].startswith("SIMULATED: ")


def test_a_header_of_another_grammar_is_refused(client):
    with start("stable") as endpoint:
        url, headers = endpoint.base_url + CHAT, {"x-judgeaudit-virtual": "now"}
        assert client.post(url, json=body(), headers=headers).status_code == 400


def test_planted_transport_failures_reach_a_client_as_such(client):
    """With virtual time: a dropped connection, a truncated body, a 503; then a second try."""
    met = set()
    with start("flaky-transport") as endpoint:
        for t in range(80):
            try:
                reply = client.post(endpoint.base_url + CHAT, json=body(), headers=virtual(t))
                met.add(reply.status_code)
            except httpx.RemoteProtocolError as error:
                met.add("cut" if "complete message body" in str(error) else "drop")
            except httpx.ReadError:
                met.add("drop")
            again = client.post(
                endpoint.base_url + CHAT, json=body(), headers=virtual(t, attempt=2)
            )
            assert again.status_code == 200
    assert met == {200, 503, "drop", "cut"}


def test_without_virtual_time_a_failed_body_succeeds_when_sent_again(client):
    """The server counts failures of a body just before: the retry is the second attempt."""
    with start("rate-limited") as endpoint:
        statuses = [
            client.post(endpoint.base_url + CHAT, json=body()).status_code for _ in "x" * 80
        ]
    assert statuses.count(429) >= 5
    assert all(b == 200 for a, b in itertools.pairwise(statuses) if a == 429)


def test_a_hanging_endpoint_lets_the_client_time_out():
    with start("hang") as endpoint, pytest.raises(httpx.ReadTimeout):
        httpx.post(endpoint.base_url + CHAT, json=body(), timeout=0.2, trust_env=False)


def test_an_html_page_comes_with_status_200(client):
    with start("html") as endpoint:
        reply = client.post(endpoint.base_url + CHAT, json=body())
        assert (reply.status_code, reply.headers["content-type"]) == (200, "text/html")


def test_echo_key_shows_credentials_in_body_header_and_cookie(client):
    with start("echo-key") as endpoint:
        headers = {"authorization": "Bearer sk-test-123"}
        reply = client.post(endpoint.base_url + CHAT, json=body(), headers=headers)
        assert b"sk-test-123" in reply.content
        assert "sk-test-123" in reply.headers["x-debug-authorization"]
        assert "sk-test-123" in reply.headers["set-cookie"]


def test_load_without_virtual_time_is_what_is_really_in_flight():
    """Alone always the same answer; eight at once meet the loaded layer's noise."""

    async def sweep(url, width):
        prompt = "".join(f"[{a}] option {a}\n" for a in "ABCDEFGHIJ") + '{"ranking": [...]}'
        async with httpx.AsyncClient(trust_env=False) as client:
            texts = []
            for _ in range(48 // width):
                found = await asyncio.gather(
                    *(client.post(url, json=body(prompt)) for _ in range(width))
                )
                texts += [r.json()["choices"][0]["message"]["content"] for r in found]
            return set(texts)

    with start("load-dependent:sleep_ms=5") as endpoint:
        assert len(asyncio.run(sweep(endpoint.base_url + CHAT, 1))) == 1
        assert len(asyncio.run(sweep(endpoint.base_url + CHAT, 8))) > 1


def test_curl_can_talk_to_it():
    """Also with a body so large that curl asks first (Expect: 100-continue)."""
    curl = shutil.which("curl")
    if curl is None:
        pytest.skip("curl is not installed")
    with start("stable") as endpoint:
        for size in (10, 2_000_000):
            sent = json.dumps(body("x" * size)).encode()
            command = f"{curl} -sS --max-time 10 --noproxy * --data-binary @- -o {os.devnull}"
            done = subprocess.run(
                [*command.split(), "-w", "%{http_code}", endpoint.base_url + CHAT],
                input=sent,
                capture_output=True,
                check=True,
            )
            assert done.stdout == b"200"


def exchange(endpoint, data, pieces=1):
    """Everything that comes back for raw bytes, sent in pieces."""
    host, port = endpoint.base_url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=5) as wire:
        step = -(-len(data) // pieces)
        for start_ in range(0, len(data), step):
            wire.sendall(data[start_ : start_ + step])
            time.sleep(0.002)
        received = b""
        while chunk := wire.recv(65536):
            received += chunk
    return received


def request(content, *extra):
    lines = [f"POST {CHAT} HTTP/1.1", "host: x", f"content-length: {len(content)}", *extra]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + content


def test_requests_in_one_packet_or_in_pieces_are_all_answered():
    content = json.dumps(body()).encode()
    two = request(content) + request(content, "connection: close")
    with start("stable") as endpoint:
        for pieces in (1, 7):
            assert exchange(endpoint, two, pieces).count(b"HTTP/1.1 200 OK") == 2


@pytest.mark.parametrize(
    ("data", "status"),
    [
        (b"hello\r\n\r\n", b"400"),
        (b"GET / HTTP/1.1\r\nno colon\r\n\r\n", b"400"),
        (f"POST {CHAT} HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n".encode(), b"411"),
        (f"POST {CHAT} HTTP/1.1\r\n\r\n".encode(), b"411"),
        (f"POST {CHAT} HTTP/1.1\r\ncontent-length: 99999999999\r\n\r\n".encode(), b"413"),
        (b"GET / HTTP/1.1\r\nx: " + b"y" * 70_000, b"431"),
    ],
)
def test_what_is_not_read_is_refused_and_closed(data, status):
    with start("stable") as endpoint:
        assert exchange(endpoint, data).startswith(b"HTTP/1.1 " + status)


def test_stopping_frees_the_port_and_may_be_repeated():
    endpoint = start("stable")
    port = int(endpoint.base_url.rpartition(":")[2])
    endpoint.stop()
    endpoint.stop()

    with start("stable", port=port) as again:
        assert again.base_url.endswith(str(port))


@pytest.mark.parametrize("process", [False, True])
def test_a_taken_port_is_told_in_one_line(process):
    with start("stable") as endpoint:
        port = int(endpoint.base_url.rpartition(":")[2])
        with pytest.raises(
            JudgeauditError, match=r"embedded:stable.*(in use|did not start)"
        ) as told:
            start("stable", port=port, process=process)
        assert "\n" not in str(told.value)


@pytest.mark.parametrize(
    ("name", "options", "words"),
    [
        ("stabel", {}, "no scenario 'stabel'"),
        ("stable", {"slots": 8}, "option 'slots'"),
        ("stable", {"port": "80"}, "port = '80'"),
        ("local", {"slot": 8}, "no option 'slot'; one of slots"),
        ("local", {"slots": 0}, "slots: 0; a whole number from 1"),
        ("local", {"kv_unified": 1}, "kv_unified: 1; true or false"),
    ],
)
def test_wrong_names_and_options_are_told_in_one_line(name, options, words):
    with pytest.raises(InputError) as caught:
        start(name, **options)

    assert words in str(caught.value)


def test_a_process_ends_when_its_parent_is_killed():
    """Nothing is left behind by `kill -9` of a runner."""
    script = (
        "import time\n"
        "from judgeaudit.endpoint.server import start_embedded\n"
        "e = start_embedded('embedded:stable', clock=None, options={'process': True})\n"
        "print(e.base_url, flush=True)\n"
        "time.sleep(60)\n"
    )
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE) as parent:
        port = int(parent.stdout.readline().decode().strip().rpartition(":")[2])
        socket.create_connection(("127.0.0.1", port), timeout=5).close()
        parent.send_signal(signal.SIGKILL)
        parent.wait()
    for _ in range(100):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)):
                return
        time.sleep(0.05)
    pytest.fail("the endpoint outlived its parent by 5 s")


def test_the_identity_names_scenario_and_seed():
    with start("label-bias:0.5") as endpoint:
        assert endpoint.identity == {"simulated": "label-bias:0.5", "seed": 1}
