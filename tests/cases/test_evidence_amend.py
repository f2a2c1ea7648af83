"""An amendment holds what had been seen, and says which verdicts it changes (case R2)."""

import importlib.util
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from judgeaudit.cli import app, commands
from judgeaudit.design.amendments import Seen

_path = Path(__file__).parents[1] / "cli" / "conftest.py"
_spec = importlib.util.spec_from_file_location("judgeaudit_tests_cli_shared", _path)
_cli = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(_cli)
frozen, served, by_item, registration = (
    _cli.frozen,
    _cli.served,
    _cli.by_item,
    _cli.registration,
)

commands.register(app)
WORDS = ("--what", "name told", "--why", "a router's name", "--effect", "none")


def call(*arguments, code=0):
    found = CliRunner().invoke(app, [*map(str, arguments)])
    assert found.exit_code == code, found.output
    return found


def test_an_amendment_that_lifts_a_bar_says_that_it_changes_the_verdict(served, frozen, by_item):
    """The judge answers as another model: barred, 3. Registering that name afterwards: pass."""
    url = served(lambda data, n: (by_item(data, n), "other/judge-2"))
    root = frozen(registration(url))
    call("run", root, "--all")
    call("gate", root, "--read-only", code=3)
    head = json.loads(call("verify", root, "--json").stdout)["head"]
    path = root / "registration.toml"
    path.write_text(
        path.read_text().replace(
            'model = "judge-1"', 'model = "judge-1"\nidentity = { served = ["other/judge-2"] }'
        )
    )

    told = call("prereg", "amend", root, *WORDS, "--json")
    written = json.loads(told.stdout)["amendment"]

    assert written["effect"] == "none"
    assert [(one["verdict"], one["before"], one["after"]) for one in written["changes"]] == [
        ("flips", "undefined", "pass"),
        ("overall", "undefined", "pass"),
    ]
    assert written["seen"]["head"] == head
    assert written["seen"]["sealed_runs"] == ["d1w1"]
    assert written["seen"]["outcomes"]["overall"] == "undefined"
    assert "IT CHANGES VERDICTS: flips undefined -> pass" in call("analyze", root).output


def test_an_amendment_before_any_answer_has_seen_nothing(frozen):
    root = frozen(registration())
    path = root / "registration.toml"
    path.write_text(path.read_text().replace("A small study", "A smaller study"))

    written = json.loads(call("prereg", "amend", root, *WORDS, "--json").stdout)["amendment"]

    assert written["seen"] == {
        "answered_calls": 0,
        "sealed_runs": [],
        "head": None,
        "outcomes": None,
    }
    assert written["changes"] == []


@pytest.mark.parametrize(
    ("before", "after", "changes"),
    [
        ({"a": "pass"}, {"a": "pass"}, []),
        ({"a": "fail"}, {"a": "pass"}, [("a", "fail", "pass")]),
        ({"a": "fail"}, {"b": "pass"}, [("a", "fail", None), ("b", None, "pass")]),
        (None, None, []),
    ],
)
def test_changes_are_by_verdict(before, after, changes):
    found = Seen(before=before, after=after).changes()

    assert [(one["verdict"], one["before"], one["after"]) for one in found] == changes
