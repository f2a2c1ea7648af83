"""The same bytes again: a seeded share, behind the harness's back and never in its way."""

import asyncio
import time

import numpy as np
import pytest
from gateway_world import Answer, asks, chat, gateway, post, raw, upstream

from judgeaudit.evidence.log.load import load_attempts, load_readings
from judgeaudit.gateway import reask as module
from judgeaudit.gateway.headers import again
from judgeaudit.gateway.reask import Settings
from judgeaudit.gateway.sampling import LAGS, draw, is_chosen, lags
from judgeaudit.study.verify import verify

BODIES = [f"sha256:{n:064x}" for n in range(2000)]


def test_the_share_that_is_drawn_is_the_share_that_is_asked_for():
    """2,000 bodies at .2: 400 expected, 4 standard errors are 4 sqrt(2000 * .2 * .8) = 72."""
    chosen = sum(is_chosen(7, 0.2, body, 1) for body in BODIES)

    assert abs(chosen - 400) < 72
    assert not any(is_chosen(7, 0.0, body, 1) for body in BODIES)
    assert all(is_chosen(7, 1.0, body, 1) for body in BODIES)


def test_a_draw_belongs_to_seed_body_and_occurrence_alone():
    """The number of one call by hand: the first 8 bytes of SHA-256 of "1 US reask US b US 1"."""
    import hashlib

    word = int.from_bytes(hashlib.sha256(b"1\x1freask\x1fb\x1f1").digest()[:8], "big")

    assert draw(1, "reask", "b", 1) == (word >> 11) / 2**53
    assert len({draw(s, "reask", b, o) for s in (1, 2) for b in ("b", "c") for o in (1, 2)}) == 8


def test_two_lags_a_call_within_their_bounds_and_log_uniform():
    """The median of log-uniform lags from 1 to 60 s is sqrt(60) = 7.75 s."""
    drawn = np.array([lags(3, body, 1) for body in BODIES])

    assert drawn.shape == (2000, 2)
    assert (drawn[:, 0] <= drawn[:, 1]).all()
    assert drawn.min() >= LAGS[0]
    assert drawn.max() <= LAGS[1]
    assert np.median(drawn) == pytest.approx(60**0.5, rel=0.1)


def test_what_would_tell_a_server_that_it_is_the_same_call_stays_away():
    sent = [
        ("Idempotency-Key", "1"),
        ("traceparent", "2"),
        ("X-B3-TraceId", "3"),
        ("x-stainless-retry-count", "0"),
        ("Authorization", "Bearer k"),
        ("x-stainless-lang", "python"),
    ]

    assert again(sent) == sent[4:]


def session(root, settings, answer=lambda *_: Answer(), calls=6, **more):
    """Send calls through a gateway, in rows of three, then let it ask again."""

    async def work():
        async with upstream(answer) as up, gateway(root, up.url, settings, **more) as found:
            for start in range(0, calls, 3):
                sent = (post(asks(f"q{n}")) for n in range(start, min(start + 3, calls)))
                await asyncio.gather(*(raw(found.url, one) for one in sent))
        return up, found

    return asyncio.run(work())


def test_each_chosen_call_is_asked_twice_with_the_same_bytes(tmp_path):
    up, found = session(tmp_path, Settings(1.0, 5))

    bodies = [body for _, body in up.requests]
    assert (found.reasker.chosen, sum(found.reasker.done.values())) == (6, 12)
    assert {bodies.count(body) for body in bodies} == {3}
    rows = load_readings(tmp_path / "log").to_pylist()
    again = [row for row in rows if row["condition"] == "reask"]
    assert sorted((row["item"], row["repeat"]) for row in again) == [
        (f"s001-{n:06d}", k) for n in range(1, 7) for k in (1, 2)
    ]
    assert verify(tmp_path).ok


def test_the_same_session_chooses_the_same_calls(tmp_path):
    def chosen(name):
        session(tmp_path / name, Settings(0.5, 11), calls=12)
        rows = load_readings(tmp_path / name / "log").to_pylist()
        return {row["body_sha256"] for row in rows if row["condition"] == "reask"}

    first = chosen("a")

    assert 0 < len(first) < 12
    assert chosen("b") == first


def test_failures_are_not_asked_again(tmp_path):
    up, found = session(tmp_path, Settings(1.0), lambda *_: Answer(b"{}", 400), calls=3)

    assert (len(up.requests), found.reasker.chosen) == (3, 0)


def test_only_what_is_wanted_is_asked_again(tmp_path):
    settings = Settings(1.0, wanted=lambda api, body: b"q1" in body and api == "openai.chat")

    assert session(tmp_path, settings)[1].reasker.chosen == 1


def test_never_more_at_once_than_allowed(tmp_path):
    """Twelve re-asks of 50 ms, two at once: the upstream never sees more than the harness's 3."""
    up, _ = session(tmp_path, Settings(1.0, in_flight=2), lambda *_: Answer(delay_s=0.05))

    assert up.peak == 3


def test_a_budget_ends_asking_and_what_is_left_is_counted(tmp_path):
    up, found = session(tmp_path, Settings(1.0, budget=5))

    assert len(up.requests) == 6 + 5
    assert found.reasker.left == 7
    assert "budget of 5" in found.reasker.stopped


def test_a_busy_upstream_pauses_them_and_is_asked_again(tmp_path, monkeypatch):
    """The first re-ask meets a 429 that asks for .3 s: no other leaves before that is over."""
    monkeypatch.setattr(module, "PAUSE_S", 0.1)
    busy = Answer(b"{}", 429, {"content-type": "application/json", "retry-after": "0.3"})

    up, found = session(
        tmp_path, Settings(1.0, in_flight=1), lambda _, n: busy if n == 3 else Answer(), calls=3
    )

    assert up.times[4] - up.times[3] >= 0.3
    assert found.reasker.done == {"ok": 6}
    tries = load_attempts(tmp_path / "log").to_pylist()
    assert sorted((t["attempt"], t["outcome"]) for t in tries if t["condition"] == "reask") == [
        *[(1, "http_error")],
        *[(1, "ok")] * 5,
        *[(2, "ok")],
    ]


def test_a_busy_answer_to_the_harness_pauses_them_too(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "PAUSE_S", 0.4)
    busy = Answer(b"{}", 503)

    up, _ = session(tmp_path, Settings(1.0), lambda _, n: busy if n == 2 else Answer(), calls=3)

    assert up.times[3] - up.times[2] >= 0.3


def test_a_dead_upstream_leaves_calls_without_a_reading(tmp_path):
    """The harness's answers stay; the re-asks are in the ledger as what they are."""
    session(tmp_path, Settings(1.0), lambda _, n: Answer(drop=n >= 3), calls=3)

    rows = load_readings(tmp_path / "log").to_pylist()
    assert sorted((row["condition"], row["reason"]) for row in rows) == [
        *[("harness", None)] * 3,
        *[("reask", "no_reply")] * 6,
    ]
    assert verify(tmp_path).ok


def test_they_wait_for_the_harness(tmp_path):
    """One call at a time: no re-ask leaves while the harness's own is under way."""

    async def work():
        slow = Answer(chat(), delay_s=0.2)
        async with (
            upstream(lambda *_: slow) as up,
            gateway(tmp_path, up.url, Settings(1.0)) as found,
        ):
            running = asyncio.ensure_future(found.reasker.run())
            await raw(found.url, post(asks("0")))
            for due in found.reasker._queue:
                due.at = time.monotonic()
            await raw(found.url, post(asks("1")))
            while_busy = up.peak
            running.cancel()
        return while_busy

    assert asyncio.run(work()) == 1
