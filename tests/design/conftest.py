"""A small study on disk, and ways of changing one thing in it."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from judgeaudit.design.builtin_protocols import protocol_source
from judgeaudit.design.lock import Facts

REGISTRATION = """\
analyses = []

[study]
id = "small"
title = "A small study"
authors = ["A. Person"]
claim = "score"

[[endpoints]]
id = "a"
api = "openai.chat"
base_url = "embedded:stable"
model = "judge-a"

[[endpoints]]
id = "b"
api = "openai.chat"
base_url = "http://127.0.0.1:9/v1"
model = "judge-b"

[schedule]
seed = 7
days = 1
windows_per_day = 2
repeats = 2
cap = 1000

[[schedule.conditions]]
name = "quiet"

[controls]
items = "controls.jsonl"
"""


def item(number: int, **changes: object) -> dict:
    """Item number `number`, two to a group and four to a task, with one candidate."""
    return {
        "id": f"i{number}",
        "group": f"g{number // 2}",
        "task": f"t{number // 4}",
        "fields": {"question": f"What is {number} + 1?"},
        "candidates": [{"id": "c1", "text": f"It is {number + 1}."}],
        **changes,
    }


CONTROL = item(0, id="control-gold", group="control", task="control", meta={"control": "gold"})


def json_lines(items: list[dict]) -> str:
    return "".join(json.dumps(one, ensure_ascii=True) + "\n" for one in items)


@pytest.fixture
def lines():
    """Items to the text of a battery file."""
    return json_lines


@pytest.fixture
def an_item():
    """Makes item number n as JSON, with changes."""
    return item


@pytest.fixture
def facts() -> Facts:
    """What was true at a freeze, the same in every test."""
    return Facts("2026-11-29T12:00:00+00:00", "0.1.0", {"python": "3.12"})


@pytest.fixture
def now() -> datetime:
    return datetime(2026, 11, 29, 12, tzinfo=UTC)


@pytest.fixture
def make(tmp_path):
    """Write a study: `make(protocol, items=, controls=, **{"old text": "new text"})`."""

    def _make(
        protocol: str = "score",
        items: list[dict] | None = None,
        controls: list[dict] | None = None,
        replace: dict[str, str] | None = None,
        toml: str | None = None,
    ) -> Path:
        root = tmp_path / "study"
        root.mkdir()
        text = REGISTRATION
        for old, new in (replace or {}).items():
            assert old in text, f"{old!r} is not in the registration"
            text = text.replace(old, new)
        known = [CONTROL] if controls is None else controls
        if known:
            (root / "controls.jsonl").write_text(json_lines(known))
        else:
            text = text.replace('[controls]\nitems = "controls.jsonl"\n', "")
        (root / "registration.toml").write_text(text)
        data = protocol_source(protocol).data if toml is None else toml.encode()
        (root / "protocol.toml").write_bytes(data)
        shown = [item(n) for n in range(8)] if items is None else items
        (root / "items.jsonl").write_text(json_lines(shown))
        return root

    return _make


@pytest.fixture
def edit():
    """Change a text in a file, which must hold it; read-only files are opened first."""

    def _edit(path: Path, old: str, new: str) -> None:
        text = path.read_text()
        assert old in text, f"{old!r} is not in {path}"
        path.chmod(0o644)
        path.write_text(text.replace(old, new))

    return _edit
