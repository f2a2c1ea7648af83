"""prereg/memory-luck: what is committed gives the lock that is committed."""

import json
from pathlib import Path

import pytest

from judgeaudit.battery import items_to_bytes
from judgeaudit.battery.catalogue import build_battery
from judgeaudit.canonical import digest, digest_of
from judgeaudit.design.builtin_protocols import protocol_source
from judgeaudit.design.lock import render
from judgeaudit.design.tables import rows_digest
from judgeaudit.evidence.lock.files import load_study

HERE = Path(__file__).resolve().parents[2] / "prereg" / "memory-luck"
EXPECTED = json.loads((HERE / "expected-lock.json").read_text())


@pytest.fixture(scope="module")
def items():
    """The worlds' bytes, from the seed that registration and README name."""
    return items_to_bytes(build_battery("worlds", 256, 20260911).items)


def test_the_expected_content_has_its_own_digest():
    assert str(digest_of(EXPECTED["content"])) == EXPECTED["content_sha256"]


def test_registration_protocol_and_worlds_are_those_of_the_lock(items):
    names = ("registration.toml", "protocol.toml")
    found = {name: str(digest((HERE / name).read_bytes())) for name in names}
    found["items.jsonl"] = str(digest(items))

    assert found == EXPECTED["content"]["files"]


def test_it_runs_the_shipped_table_of_cells():
    assert (HERE / "protocol.toml").read_bytes() == protocol_source("memory-luck").data


@pytest.mark.slow
def test_plan_and_requests_made_again_are_those_of_the_lock(items, tmp_path):
    """90,112 calls of 256 worlds x 11 endpoints x 32, and 11,264 requests of stage 1."""
    for name in ("registration.toml", "protocol.toml"):
        (tmp_path / name).write_bytes((HERE / name).read_bytes())
    (tmp_path / "items.jsonl").write_bytes(items)

    rendered = render(load_study(tmp_path).whole())

    content = EXPECTED["content"]
    assert (content["plan"]["rows"], content["bodies"]["rows"]) == (90_112, 11_264)
    assert rows(rendered.plan_table) == content["plan"]
    assert rows(rendered.body_table) == content["bodies"]


def rows(table):
    return {"rows": table.num_rows, "sha256": str(rows_digest(table))}
