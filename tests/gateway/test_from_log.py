"""From a log to a study: the frozen bodies are the recorded ones, byte for byte."""

import asyncio

import pyarrow.parquet as pq
import pytest
from gateway_world import Answer, asks, chat, gateway, post, raw, upstream

from judgeaudit.canonical import digest
from judgeaudit.errors import InputError
from judgeaudit.gateway.reask import Settings
from judgeaudit.study.check import check
from judgeaudit.study.freeze import freeze
from judgeaudit.study.from_log import init_from_log

URL = "http://127.0.0.1:9/v1"
PROMPTS = [f"Answer {n}: is it right?" for n in range(6)]


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    """Six different requests of one kind, the first asked twice; answers 1, 2, 3 in turn."""
    folder = tmp_path_factory.mktemp("log")

    async def work():
        async with (
            upstream(lambda _, n: Answer(chat(str(n % 3 + 1)))) as up,
            gateway(folder, up.url, Settings(0.0)) as found,
        ):
            for prompt in [*PROMPTS, PROMPTS[0]]:
                await raw(found.url, post(asks(prompt, temperature=0.3)))

    asyncio.run(work())
    return folder


def test_the_frozen_bodies_are_those_that_were_recorded(log, tmp_path):
    made = init_from_log(tmp_path / "study", log, kind="is-it-right", base_url=URL)
    assert (made.items, check(tmp_path / "study").problems) == (6, ())

    freeze(tmp_path / "study")

    bodies = pq.read_table(tmp_path / "study" / "frozen" / "bodies.parquet").to_pylist()
    wanted = {asks(prompt, temperature=0.3) for prompt in PROMPTS}
    assert {row["body"] for row in bodies} == wanted
    assert {row["body_sha256"] for row in bodies} == {str(digest(body)) for body in wanted}


def test_n_draws_by_seed_and_says_what_is_missing(log, tmp_path):
    two = init_from_log(tmp_path / "two", log, kind="is-it-right", n=2, base_url=URL)
    more = init_from_log(tmp_path / "more", log, kind="is-it-right", n=9, base_url=URL)

    assert (two.items, more.items) == (2, 6)
    assert "9 were wanted, the log has 6 different requests of this kind" in more.notes


def test_an_unknown_kind_is_refused_before_anything_is_written(log, tmp_path):
    with pytest.raises(InputError):
        init_from_log(tmp_path / "study", log, kind="no such kind")
    assert not (tmp_path / "study").exists()


def test_a_log_that_does_not_say_where_the_judge_was_asks_for_it(log, tmp_path):
    with pytest.raises(InputError, match="--base-url"):
        init_from_log(tmp_path / "study", log, kind="is-it-right")
