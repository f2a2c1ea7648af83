"""No secret reaches a file, whatever form a server echoes it in."""

import base64
import gzip
import json
import urllib.parse
import zlib

import pytest

from judgeaudit.canonical import digest
from judgeaudit.evidence.log.redact import Redactor, allowed_headers, redact
from judgeaudit.instrument.provider.compressed import packed, readable

KEY = "sk-Test/0123+456=789_abcXYZ"


def forms():
    """Every form by its name, each as it could stand in a body."""
    yield "plain", KEY.encode()
    yield "json with escaped slash", KEY.replace("/", "\\/").encode()
    yield "json escapes", "".join(f"\\u{ord(c):04x}" for c in KEY).encode()
    yield "json escapes in capitals", "".join(f"\\u{ord(c):04X}" for c in KEY).encode()
    yield "one json escape", KEY.replace("k", "\\u006b", 1).encode()
    yield "json in json", json.dumps(json.dumps({"k": KEY.replace("/", "\\/")})).encode()
    yield "nested json escape", KEY.replace("k", "\\\\u006b", 1).encode()
    yield "percent", urllib.parse.quote(KEY, safe="").encode()
    yield "percent in small letters", KEY.replace("/", "%2f").replace("+", "%2b").encode()
    yield "percent twice", urllib.parse.quote(urllib.parse.quote(KEY, safe=""), safe="").encode()
    yield "percent all", "".join(f"%{ord(c):02X}" for c in KEY).encode()
    for shift in range(3):
        inside = b"u" * shift + KEY.encode() + b":tail"
        yield f"base64 at {shift}", base64.b64encode(inside)
        yield f"base64url at {shift}", base64.urlsafe_b64encode(inside)
    yield "capitals", KEY.upper().encode()
    yield "small letters", KEY.lower().encode()
    yield "swapped case", KEY.swapcase().encode()
    yield "c escapes", "".join(f"\\x{ord(c):02x}" for c in KEY).encode()
    yield "octal escapes", "".join(f"\\{ord(c):03o}" for c in KEY).encode()
    yield "html decimal", "".join(f"&#{ord(c)};" for c in KEY).encode()
    yield "html hexadecimal", "".join(f"&#x{ord(c):X};" for c in KEY).encode()
    yield "quoted printable", "".join(f"={ord(c):02X}" for c in KEY).encode()
    yield "hexadecimal", KEY.encode().hex().encode()
    yield "hexadecimal in capitals", KEY.encode().hex().upper().encode()
    for name, separator in {"colons": ":", "blanks": " ", "commas": ", ", "dashes": "-"}.items():
        yield f"hexadecimal with {name}", KEY.encode().hex(separator[0]).encode()
        yield f"decimal with {name}", separator.join(str(b) for b in KEY.encode()).encode()
    yield "0x list", ", ".join(f"0x{b:02x}" for b in KEY.encode()).encode()
    yield "base32", base64.b32encode(KEY.encode())
    yield "base64 without padding", base64.b64encode(KEY.encode()).rstrip(b"=")
    yield "base64 twice", base64.b64encode(base64.b64encode(KEY.encode()))
    yield "base64 of percent", base64.b64encode("".join(f"%{ord(c):02X}" for c in KEY).encode())
    yield "base64 of gzip", base64.b64encode(gzip.compress(KEY.encode()))
    yield "base64 in json", base64.b64encode(KEY.encode()).replace(b"=", b"\\u003d")
    yield "gzip", gzip.compress(b"..." + KEY.encode())
    yield "zlib", zlib.compress(b"..." + KEY.encode())
    yield "folded", (KEY[:12] + "\r\n " + KEY[12:]).encode()
    yield "folded in json", (KEY[:12] + "\\n" + KEY[12:]).encode()
    yield "utf-16", KEY.encode("utf-16-le")
    yield "cut at the end", KEY[:-1].encode()
    yield "cut to eight", KEY[:8].encode()
    yield "cut at the front", KEY[1:].encode()
    yield "two cuts", (KEY[:14] + '","' + KEY[14:]).encode()
    yield "cut and escaped", "".join(f"\\u{ord(c):04x}" for c in KEY[:-2]).encode()


@pytest.mark.parametrize("form", [pytest.param(form, id=name) for name, form in forms()])
def test_every_form_of_a_key_is_replaced(form):
    stored, redacted = redact(b'{"echo":"' + form + b'"}', [KEY])

    assert redacted
    assert b"[redacted]" in stored
    assert redact(stored.replace(b"[redacted]", b"\xff"), [KEY])[1] is False
    assert b"0123" not in urllib.parse.unquote_to_bytes(stored)
    assert base64.b64encode(KEY.encode())[4:20] not in stored


@pytest.mark.parametrize("coding", ["gzip", "deflate", "gzip, deflate"])
def test_a_compressed_reply_is_packed_again_without_the_secret(coding):
    headers = {"content-encoding": coding}
    body = packed(b'{"a": "' + KEY.encode() + b'"}', headers)

    stored, redacted = Redactor([KEY]).received(body, headers)

    assert redacted
    assert readable(stored, headers) == b'{"a": "[redacted]"}'


def test_a_raw_deflate_stream_is_looked_into():
    stream = zlib.compressobj(wbits=-15)
    body = stream.compress(KEY.encode()) + stream.flush()

    stored, redacted = Redactor([KEY]).received(body, {"content-encoding": "deflate"})

    assert redacted
    assert readable(stored, {"content-encoding": "deflate"}) == b"[redacted]"


def test_a_compressed_reply_without_the_secret_is_stored_as_it_came():
    body = gzip.compress(b"{}")

    assert Redactor([KEY]).received(body, {"content-encoding": "gzip"}) == (body, False)


def test_what_cannot_be_looked_into_is_not_kept_where_there_are_secrets():
    headers = {"content-encoding": "br"}

    assert Redactor([KEY]).received(b"\x8b\x00", headers) == (b"[redacted]", True)
    assert Redactor([]).received(b"\x8b\x00", headers) == (b"\x8b\x00", False)


@pytest.mark.parametrize("cut", range(8, len(KEY)))
def test_no_cut_through_a_key_hides_the_rest(cut):
    """8 characters in a row are a piece; the key has 27."""
    assert redact(b"y" * 173 + KEY[:cut].encode(), [KEY])[0] == b"y" * 173 + b"[redacted]"


def test_a_short_keys_piece_is_two_thirds_of_it():
    """`pass-word-9` has 11 characters: 8 are a piece, and the word alone is none."""
    assert redact(b"my password", ["pass-word-9"]) == (b"my password", False)
    assert redact(b"pass-wor", ["pass-word-9"]) == (b"[redacted]", True)


def test_what_cannot_be_unpacked_in_bounds_counts_as_holding_a_secret():
    """17 MB of blanks are packed into 17 kB; 16 MB are looked at."""
    bomb = b"x" + gzip.compress(b" " * (17 << 20))

    assert redact(bomb, [KEY]) == (b"x[redacted]", True)


def test_an_answer_in_any_language_is_left_alone():
    body = json.dumps({"text": "Grüße, 你好 \u2019 100% of = & <b>"}).encode()

    assert redact(body, [KEY]) == (body, False)


def test_a_body_without_secrets_is_kept_byte_for_byte():
    body = '{"text":"%41 \\u0041 ünï \\\\ sk-Test"}'.encode()

    assert redact(body, [KEY, "another-secret"]) == (body, False)


def test_json_stays_json_after_redaction():
    body = json.dumps({"a": [KEY, f"Bearer {KEY}"], "b": 1}).encode()

    assert json.loads(redact(body, [KEY])[0]) == {"a": ["[redacted]", "Bearer [redacted]"], "b": 1}


def test_the_longer_of_two_overlapping_secrets_goes_first():
    assert redact(b"key-12345678-long", ["key-12345678", "key-12345678-long"])[0] == b"[redacted]"


def test_a_placeholder_is_no_secret():
    """Local servers take keys such as EMPTY; replacing them would rewrite answers."""
    assert redact(b"EMPTY none", ["EMPTY", "none", ""]) == (b"EMPTY none", False)


def test_only_headers_on_the_list_are_kept():
    headers = {
        "X-Request-Id": "r1",
        "x-ratelimit-remaining-tokens": "9",
        "Retry-After": "1",
        "openai-processing-ms": "12",
        "Openai-Organization": "org-1",
        "Set-Cookie": "s=1",
        "Authorization": "Bearer x",
        "x-api-key": "x",
        "x-ratelimit-cookie": "x",
        "x-unknown": "x",
    }

    assert allowed_headers(headers) == {
        "x-request-id": "r1",
        "x-ratelimit-remaining-tokens": "9",
        "retry-after": "1",
        "openai-processing-ms": "12",
    }


def test_repeated_headers_are_joined():
    assert allowed_headers([("Via", "a"), ("Server", "a"), ("server", "b")]) == {"server": "a, b"}


def test_an_attempt_is_cleared_in_every_reported_field(kit):
    call = kit.plan()[0]
    echo = {name: f"x {KEY}" for name in ("error", "request_id", "model_returned", "fingerprint")}
    body = f'{{"key":"{KEY}"}}'.encode()
    headers = {"server": KEY, "set-cookie": KEY}

    stored = Redactor([KEY]).attempt(
        kit.attempt(call, response_body=body, response_headers=headers, **echo)
    )

    assert KEY not in repr(stored)
    assert stored.redacted
    assert stored.received_sha256 == digest(body)
    assert stored.stored_sha256 == digest(b'{"key":"[redacted]"}')
    assert stored.response_headers == {"server": "[redacted]"}


def test_both_digests_are_set_where_nothing_was_redacted(kit):
    stored = Redactor([KEY]).attempt(kit.attempt(kit.plan()[0], response_body=b"ok"))

    assert (stored.received_sha256, stored.stored_sha256) == (digest(b"ok"), digest(b"ok"))
    assert not stored.redacted


def test_an_attempt_without_a_body_has_no_digests(kit):
    stored = Redactor([KEY]).attempt(kit.attempt(kit.plan()[0], response_body=None))

    assert (stored.response_body, stored.received_sha256, stored.stored_sha256) == (None,) * 3
