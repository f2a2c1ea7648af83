"""A statistic added by one file and one catalogue line, from `init` to the methods page.

The function and the record below are all that a new statistic takes: nothing else in the package
knows its name. The judge is simulated.
"""

import importlib.util
import json
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from judgeaudit.analysis import catalogue
from judgeaudit.analysis.build import context
from judgeaudit.analysis.estimate import Estimate
from judgeaudit.cli import commands
from judgeaudit.statistic import Statistic
from judgeaudit.stats.proportions import wilson

ROOT = Path(__file__).parents[2]


def split_items(part, question) -> list[Estimate]:
    """Return the share of items that were given more than one verdict."""
    said = context("split_items", part, question)
    answers = part[part["status"].eq("ok")].groupby("item", observed=True)["category"]
    asked = int((answers.size() >= 2).sum())
    if not asked:
        return [said.none("no item was answered twice")]
    split = int((answers.nunique()[answers.size() >= 2] > 1).sum())
    return [said.bounded(split / asked, wilson(split, asked, question.level), n={"items": asked})]


SPLIT = Statistic(
    name="split_items",
    compute=split_items,
    reads=("category",),
    kind="share",
    bounds=(0.0, 1.0),
    least_units=2,
    claims=frozenset({"verdict", "choice"}),
    over=("all",),
    needs=frozenset({"repeats"}),
    better="low",
    label="items that were given more than one verdict",
    unit="share",
    covered=None,
    answers=(),
    subject="precision",
    defaults=frozenset({"verdict"}),
    told=frozenset({"verdict"}),
    example=None,
    params=(),
    per_pair=False,
    whole_table=False,
    floor=False,
    kappa=None,
    greatest=False,
    redesigns=frozenset(),
    why_no_gate="",
)

GATE = """
[[gates]]
id = "split"
statistic = "split_items"
over = "all"
at_most = 0.50
"""


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(catalogue.NAMES, SPLIT.name, SPLIT)
    app = typer.Typer()
    commands.register(app)

    def _run(*arguments):
        found = CliRunner().invoke(app, [str(argument) for argument in arguments])
        return found.exit_code, found.stdout or found.output

    return _run


def rows(split):
    """Return twelve items asked twice; the first `split` of them answered unlike, the rest alike.

    Half of the items are answered "yes" first, so that the answers are not constant.
    """
    said = {n: ("yes", "no") if n % 2 else ("no", "yes") for n in range(12)}
    cells = [(n, r, said[n][r] if n < split else said[n][0]) for n in range(12) for r in range(2)]
    return "item,repeat,verdict\n" + "".join(f"q{n},{r},{v}\n" for n, r, v in cells)


def test_a_table_is_told_of_it_by_hand_three_of_twelve(run):
    Path("t.csv").write_text(rows(3))

    code, said = run(
        "analyze", "t.csv", "--item", "item", "--repeat", "repeat", "--verdict", "verdict"
    )
    assert code == 0, said
    assert "items that were given more than one verdict: 0.250" in said

    code, said = run(
        *("analyze", "t.csv", "--item", "item", "--repeat", "repeat"),
        *("--verdict", "verdict", "--json"),
    )
    (part,) = json.loads(said)["parts"]
    (found,) = [e for e in part["estimates"] if e["analysis"] == "split_items"]
    assert (found["value"], found["n"]["items"]) == (0.25, 12)


def test_a_study_registers_freezes_runs_analyses_and_gates_it(run):
    assert run("init", "s", "--protocol", "verdict", "--n", "12")[0] == 0
    text = Path("s/registration.toml").read_text()
    assert '"split_items"' in text  # by its own `defaults`

    Path("s/registration.toml").write_text(text + GATE.replace("0.50", "1.50"))
    code, said = run("prereg", "check", "s")
    assert code == 1, said
    assert "split_items lies between 0 and 1" in said  # by its own `bounds`

    Path("s/registration.toml").write_text(text + GATE)
    for command in (["prereg", "check", "s"], ["prereg", "freeze", "s"], ["run", "s", "--all"]):
        code, said = run(*command)
        assert code == 0, said
    code, said = run("analyze", "s", "--json")
    assert code == 0, said
    document = json.loads(said)
    found = [e for e in document["estimates"] if e["analysis"] == "split_items"]
    assert found
    assert all(0 <= e["value"] <= 1 for e in found)
    (gate,) = [gate for gate in document["gates"] if gate["id"] == "split"]
    assert gate["outcome"] in ("pass", "undefined")


def test_the_methods_page_lists_it(monkeypatch):
    spec = importlib.util.spec_from_file_location(
        "judgeaudit_tests_added_methods", ROOT / "docs" / "make_methods.py"
    )
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    monkeypatch.setitem(made.NAMES, SPLIT.name, SPLIT)

    assert "the share of items that were given more than one verdict" in made.names()
