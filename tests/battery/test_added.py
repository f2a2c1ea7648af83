"""A battery kind added by one file and one catalogue line, through `battery`, `init` and `check`.

`RIDDLES` below is all that a new kind takes: nothing else in the package knows its name.
"""

import json
from dataclasses import MISSING, fields
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from judgeaudit.battery import KINDS, BatteryKind, Finding, build_battery, lint
from judgeaudit.battery.controls import controls_for
from judgeaudit.battery.items import Battery
from judgeaudit.battery.kind import control_item
from judgeaudit.cli import commands
from judgeaudit.model import Candidate, Item


def riddle_items(n: int, seed: int, *, hint: bool = False) -> Battery:
    """Return `n` riddles; only one of five candidates is right, so accuracy is .2."""
    items = [
        Item(
            id=f"r{k}",
            group=f"r{k}",
            task=f"r{k}",
            fields={"question": f"What am I? {k + seed}{' Think.' if hint else ''}"},
            candidates=tuple(Candidate(f"c{j}", f"Answer {j}", j == 0) for j in range(5)),
            gold="c0",
            meta={"battery": "riddles"},
        )
        for k in range(n)
    ]
    return Battery(tuple(items), {"riddles": n})


def too_few(items):
    """Refuse fewer than three."""
    if len(items) < 3:
        yield Finding("error", "few-riddles", "", f"{len(items)} riddles, at least 3")


def tools_of(item):
    return (control_item(item, "identical", "control-riddle", "indifferent"),)


RIDDLES = BatteryKind(
    name="riddles",
    build=riddle_items,
    counted="riddles",
    about="riddles with five answers",
    balanced=False,
    lint=too_few,
    controls=tools_of,
)


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(KINDS, RIDDLES.name, RIDDLES)
    app = typer.Typer()
    commands.register(app)

    def _run(*arguments):
        found = CliRunner().invoke(app, [str(argument) for argument in arguments])
        return found.exit_code, found.output

    return _run


def test_it_goes_through_battery_init_and_check(run):
    code, said = run("battery", "riddles", "--n", "4", "--option", "hint=true", "--out", "r.jsonl")
    assert code == 0, said
    assert "accuracy" not in said  # .2 is far from a half, and its record says that this is meant
    assert "Think." in Path("r.jsonl").read_text()

    code, said = run("init", "s", "--protocol", "ranking", "--items", "r.jsonl")
    assert code == 0, said
    assert 'kind = "riddles"' in Path("s/registration.toml").read_text()
    assert run("prereg", "check", "s")[0] == 0


def test_a_protocol_may_name_it(run):
    """Without `--items` a study's items are built from the protocol's own kind."""
    text = Path(__file__).parents[2].joinpath("protocols", "ranking.toml").read_text()
    head, _, _ = text.partition("[battery_defaults]")
    Path("p.toml").write_text(head + '[battery_defaults]\nkind = "riddles"\nn = 5\nhint = true\n')

    code, said = run("init", "s", "--protocol", "p.toml")

    assert code == 0, said
    assert len(Path("s/items.jsonl").read_text().splitlines()) == 5


def test_it_is_listed_with_what_its_number_counts(run):
    code, said = run("battery", "--json")

    assert code == 0
    assert json.loads(said)[-1] == {
        "name": "riddles",
        "about": "riddles with five answers",
        "counts": "riddles",
        "options": {"hint": False},
    }
    assert "riddles: riddles with five answers; --n counts riddles" in run("battery")[1]


def test_its_own_rules_and_controls_are_used(run):
    built = build_battery("riddles", 2, 1).items

    assert [finding.rule for finding in lint(built)] == ["few-riddles"]
    assert run("battery", "riddles", "--n", "2", "--out", "r.jsonl")[0] == 2
    assert [item.id for item in controls_for("tools", built)] == ["control-riddle"]


def test_a_balanced_kind_is_held_to_a_half(monkeypatch):
    """The same items under a record that says `balanced`: .2 is below .35."""
    changed = {f.name: getattr(RIDDLES, f.name) for f in fields(RIDDLES)} | {"balanced": True}
    monkeypatch.setitem(KINDS, "riddles", BatteryKind(**changed))

    assert [f.rule for f in lint(build_battery("riddles", 3, 1).items)] == ["accuracy"]


def test_a_record_leaves_nothing_to_a_default():
    assert all(f.default is MISSING and f.default_factory is MISSING for f in fields(BatteryKind))


@pytest.mark.parametrize("name", KINDS)
def test_a_kinds_items_carry_its_name_and_its_record_says_who_it_is(name):
    assert KINDS[name].name == name
    assert {item.meta["battery"] for item in build_battery(name, 2, 1).items} == {name}
    assert KINDS[name].about
