"""The loopback echo: what arrives is what was frozen, and nothing else."""

import asyncio

import pytest

from judgeaudit.canonical import digest
from judgeaudit.collect.preflight import SENT_HEADERS, Arrived, compare, echo
from judgeaudit.collect.transport import Transport
from judgeaudit.errors import GuardError
from judgeaudit.model import Composed, FrozenBody

BODY = b'{"model":"m"}'
FROZEN = FrozenBody(
    digest(BODY), digest(b"[]"), "judge", Composed("/x", (("accept", "application/json"),), BODY)
)
HEADERS = [(name, "value") for name in (*SENT_HEADERS, "accept")]


def test_the_echo_over_the_real_transport_is_sound():
    async def go():
        async with Transport() as transport:
            return await echo(transport, FROZEN)

    found = asyncio.run(go())

    assert found["body_sha256"] == digest(BODY)
    assert found["headers"] == sorted(name for name, _ in HEADERS)


def test_other_bytes_are_refused_with_both_digests():
    with pytest.raises(GuardError, match=f"{digest(b'{}')}.*{digest(BODY)}"):
        compare(Arrived(HEADERS, b"{}"), FROZEN)


@pytest.mark.parametrize("name", ["cookie", "authorization", "traceparent", "x-stainless-lang"])
def test_a_header_that_nobody_registered_is_refused_by_name(name):
    with pytest.raises(GuardError, match=name):
        compare(Arrived([*HEADERS, (name, "value")], BODY), FROZEN)


def test_a_header_that_did_not_arrive_is_refused_by_name():
    with pytest.raises(GuardError, match="accept"):
        compare(Arrived(HEADERS[:-1], BODY), FROZEN)
