"""A key that is echoed in forty ways is in no file, no stream and no export."""

import base64
import gzip
import json
import os
import subprocess
import sys
import urllib.parse

import pyarrow.parquet as pq
import pytest

from judgeaudit.errors import RunPaused
from judgeaudit.evidence.log.load import load_attempts, load_readings
from judgeaudit.study.export_study import export_study

URL = "http://judge.example"
KEY = "sk-proj-Zq83hJkLm92bXvTtYyUuPpOo"
BARE = "".join(KEY.split("-"))


def forms():
    """The ways in which a server may write the key, by name."""
    raw = KEY.encode()
    yield from {
        "plain": KEY,
        "bearer": f"Bearer {KEY}",
        "capitals": KEY.upper(),
        "small letters": KEY.lower(),
        "swapped case": KEY.swapcase(),
        "cut at the end": KEY[:-1],
        "cut in half": KEY[:16],
        "cut to eight": KEY[:8],
        "without its front": KEY[5:],
        "folded": f"{KEY[:10]}\n{KEY[10:]}",
        "blanks between": " ".join(KEY),
        "percent": "".join(f"%{byte:02X}" for byte in raw),
        "percent twice": urllib.parse.quote("".join(f"%{byte:02x}" for byte in raw)),
        "json escapes": "".join(f"\\u{byte:04x}" for byte in raw),
        "c escapes": "".join(f"\\x{byte:02x}" for byte in raw),
        "octal": "".join(f"\\{byte:03o}" for byte in raw),
        "html decimal": "".join(f"&#{byte};" for byte in raw),
        "html hexadecimal": "".join(f"&#x{byte:x};" for byte in raw),
        "quoted printable": "".join(f"={byte:02X}" for byte in raw),
        "base64": base64.b64encode(raw).decode(),
        "base64 shifted by one": base64.b64encode(b"u" + raw).decode(),
        "base64 shifted by two": base64.b64encode(b"u:" + raw).decode(),
        "base64url": base64.urlsafe_b64encode(raw + b"??>>").decode(),
        "base64 twice": base64.b64encode(base64.b64encode(raw)).decode(),
        "base32": base64.b32encode(raw).decode(),
        "hexadecimal": raw.hex(),
        "hexadecimal in capitals": raw.hex().upper(),
        "hexadecimal with colons": raw.hex(":"),
        "decimal list": str(list(raw)),
        "gzip in base64": base64.b64encode(gzip.compress(raw)).decode(),
        "url": f"https://user:{KEY}@example.com/?key={KEY}",
    }.items()


def bodies(ok):
    """Every reply by its name: where in a reply the key may stand, then how it is written."""

    def error(**words):
        return json.dumps({"error": words}).encode()

    reply = json.loads(ok)
    for name, form in forms():
        yield (
            f"answer, {name}",
            200,
            {},
            json.dumps(
                reply | {"choices": [{**reply["choices"][0], "message": {"content": form}}]}
            ).encode(),
        )
    for cut in (1, 9, 17):
        text = "y" * (200 - len(KEY) - 5 + cut) + KEY
        yield f"message cut {cut} short (H2)", 200, {}, error(message=text)
    yield "code (H3)", 400, {}, error(code=f"bad {KEY}")
    yield "type", 422, {}, error(type=KEY, message=KEY)
    yield "model", 200, {}, json.dumps(reply | {"model": KEY}).encode()
    yield "fingerprint", 200, {}, json.dumps(reply | {"system_fingerprint": KEY}).encode()
    yield "tier", 200, {}, json.dumps(reply | {"service_tier": f"x-{KEY}"}).encode()
    finish = [{**reply["choices"][0], "finish_reason": KEY}]
    yield "finish", 200, {}, json.dumps(reply | {"choices": finish}).encode()
    yield "name of a field", 200, {}, json.dumps(reply | {KEY: 1}).encode()
    yield "request id", 200, {"x-request-id": KEY}, ok
    yield "limit header", 200, {"x-ratelimit-reset": f"in {KEY}"}, ok
    yield "name of a header", 200, {f"x-ratelimit-{KEY}": "1"}, ok
    yield "cookie", 200, {"set-cookie": f"k={KEY}"}, ok
    yield (
        "gzip",
        200,
        {"content-encoding": "gzip"},
        gzip.compress(json.dumps(reply | {"note": KEY}).encode()),
    )
    yield "unreadable coding", 200, {"content-encoding": "br"}, KEY.encode()
    yield "utf-16", 200, {}, KEY.encode("utf-16")
    yield "no json", 200, {}, f"<html>{KEY}".encode()


def pieces():
    return {KEY.lower()[at : at + 8] for at in range(len(KEY) - 7)}


def leaks(text):
    """Return the pieces of the key that stand in a text, in any case or undone once."""
    plain = urllib.parse.unquote(text).lower()
    encoded = base64.b64encode(KEY.encode()).decode()[4:16].lower()
    return sorted(
        piece for piece in {*pieces(), encoded, KEY.encode().hex()[:16]} if piece in plain
    )


def everything_in(folder):
    """Yield each file's name and content: Parquet as rows, bodies as the text they are."""
    for path in sorted(folder.rglob("*")):
        if path.suffix == ".parquet":
            for row in pq.read_table(path).to_pylist():
                yield path.name, repr(row)
        elif path.is_file():
            text = path.read_bytes().decode("utf-8", "replace")
            yield path.name, text
            for line in text.splitlines() if path.parent.name == "journal" else ():
                body = json.loads(line)["record"].get("response_body")
                yield path.name, base64.b64decode(body or "").decode("utf-8", "replace")


def test_a_key_echoed_in_every_way_is_in_no_file_no_stream_and_no_export(
    study, run, recording, make_registration, tmp_path, monkeypatch
):
    """case H2, H3: more than forty echoes in one study; a piece is eight characters in a row."""
    replies = list(bodies(recording.OK))
    assert len(replies) >= 40
    text = make_registration(
        URL,
        endpoint='key_env = "HOSTILE_KEY"',
        schedule="least_answered = 0",
        extra="attempts = 2\noutage = 500\nbreaker = 500",
    )
    frozen, told = study(text, items=len(replies)), []

    def answer(_, number):
        if not 1 <= number <= len(replies):
            return recording.Answer()
        _, status, headers, body = replies[number - 1]
        return recording.Answer(status, headers, body)

    with recording.Recorder(answer) as server:
        run(frozen, base=server.base_url, keys={"judge": KEY}, teller=told.append)
    monkeypatch.setenv("HOSTILE_KEY", KEY)
    export_study(frozen.root, tmp_path / "supplement")

    assert leaks(KEY[:9])  # the check itself sees a piece
    found = [(n, leaks(t)) for folder in (frozen.root, tmp_path) for n, t in everything_in(folder)]
    assert [(name, pieces) for name, pieces in found if pieces] == []
    assert leaks("\n".join(told)) == []
    assert sum(row["redacted"] for row in load_attempts(frozen.root / "log").to_pylist()) >= 40
    assert len(load_readings(frozen.root / "log")) == len(replies)


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (401, {"message": "y" * 170 + KEY}),
        (400, {"code": f"bad {KEY}"}),
        (403, {"message": f"\\u001b[31m{KEY}"}),
    ],
)
def test_what_pauses_a_run_is_told_without_the_key(
    study, run, recording, make_registration, status, error
):
    """case H3: the reason goes to stderr and into the journal."""
    frozen = study(make_registration(URL, extra="breaker = 1"), items=4)
    body = json.dumps({"error": error}).encode()
    with (
        recording.Recorder(lambda *_: recording.Answer(status, {}, body)) as server,
        pytest.raises(RunPaused) as paused,
    ):
        run(frozen, base=server.base_url, keys={"judge": KEY})

    assert leaks(str(paused.value)) == []
    assert "[redacted]" in str(paused.value)
    assert [name for name, text in everything_in(frozen.root) if leaks(text)] == []


def test_a_broken_header_that_holds_the_key_is_told_without_it(
    study, run, recording, make_registration
):
    """The client's own message quotes the header that it could not read."""
    frozen = study(make_registration(URL, extra="attempts = 1"), items=3)
    broken = recording.Answer(headers={f"x {KEY}\x01": KEY})
    with recording.Recorder(lambda _, n: broken if n == 1 else recording.Answer()) as server:
        run(frozen, base=server.base_url, keys={"judge": KEY})

    assert [name for name, text in everything_in(frozen.root) if leaks(text)] == []


def test_the_secrets_of_tls_are_not_written_where_the_environment_says(tmp_path):
    """`SSLKEYLOGFILE` makes a default context write each connection's keys."""
    code = (
        "from judgeaudit.collect.transport import tls_context; import os; c = tls_context();"
        "print(c.keylog_filename, os.environ['SSLKEYLOGFILE'] != '')"
    )
    environment = os.environ | {"SSLKEYLOGFILE": str(tmp_path / "keys")}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True
    )

    assert done.stdout.strip() == "None True", done.stderr
