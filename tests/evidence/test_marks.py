"""What gives away a reply that was told several times."""

import json

import pytest

from judgeaudit.evidence.log.caches import CACHE_HEADERS, cache_hit
from judgeaudit.evidence.log.redact import allowed_headers
from judgeaudit.evidence.marks import mark_of


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("x-cache", "HIT"),
        ("x-cache", "Hit from cloudfront"),
        ("x-cache", "RefreshHit from cloudfront"),
        ("x-cache", "MISS, HIT"),
        ("x-cache", "TCP_HIT"),
        ("cf-cache-status", "STALE"),
        ("x-litellm-cache-hit", "True"),
        ("x-cache-hits", "0, 3"),
        ("cache-status", "ExampleCache; hit; ttl=30"),
        ("cache-status", "a; fwd=miss, b; hit"),
        ("age", "17"),
        ("x-litellm-cache-key", "k1"),
    ],
)
def test_a_caches_word_is_a_hit_and_is_kept(name, value):
    assert cache_hit(allowed_headers({name: value}), {}) == f"{name}: {value}"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("x-cache", "MISS"),
        ("x-cache", "Miss from cloudfront"),
        ("cf-cache-status", "DYNAMIC"),
        ("x-litellm-cache-hit", "False"),
        ("cache-status", "ExampleCache; fwd=miss; stored"),
        ("cache-status", "ExampleCache; hit=?0"),
        ("age", "0"),
        ("x-cache-hits", "0"),
        ("content-type", "HIT"),
    ],
)
def test_a_miss_is_none(name, value):
    assert cache_hit({name: value}, {}) is None


def test_a_document_can_say_it_too():
    assert cache_hit({}, {"cached": True}) == '"cached": true'
    assert cache_hit({}, {"cached": "no"}) is None


def test_every_header_that_is_read_is_kept():
    assert set(allowed_headers(dict.fromkeys(CACHE_HEADERS, "x"))) == CACHE_HEADERS


@pytest.mark.parametrize(
    ("document", "id_", "created"),
    [
        ({"id": "chatcmpl-1", "created": 1767225600}, "chatcmpl-1", 1767225600),
        ({"id": 7, "created": 1e300}, None, None),
        ({"id": "", "created": -1}, None, None),
        ([], None, None),
    ],
)
def test_a_mark_holds_what_the_stored_bytes_say(document, id_, created):
    row = {
        "call_id": "c",
        "attempt": 1,
        "endpoint": "judge",
        "window": "d1w1",
        "repeat": 1,
        "body_sha256": "sha256:0",
        "request_id": "r",
        "response_headers": [("age", "2")],
        "response_body": json.dumps(document).encode(),
    }

    mark = mark_of(row)

    assert (mark.reply_id, mark.created) == (id_, created)
    assert (mark.request_id, mark.cache, mark.repeat) == ("r", "age: 2", 1)
