"""The package's own API: few names, typed, documented, and nothing imported until one is used."""

import inspect
import subprocess
import sys

import pandas as pd
import pytest
from typer.testing import CliRunner

import judgeaudit
from judgeaudit import api
from judgeaudit.cli import app, commands
from judgeaudit.errors import InputError

commands.register(app)

NAMES = {
    "JudgeauditError", "amend", "analyze", "analyze_table", "check", "decide", "estimate",
    "estimates", "export", "freeze", "gate", "gate_table", "init", "items", "load_readings",
    "load_study", "monitor", "oc", "pilot", "power", "run", "show", "stamp", "status",
    "verdicts", "verify",
}  # fmt: skip


def run(*arguments):
    return CliRunner().invoke(app, list(map(str, arguments)))


def test_the_exported_names_are_exactly_these():
    assert set(api.__all__) == NAMES
    assert set(judgeaudit.__all__) == NAMES | {"__version__"}
    assert dir(judgeaudit) == sorted(judgeaudit.__all__)


@pytest.mark.parametrize("name", sorted(NAMES - {"JudgeauditError"}))
def test_each_is_documented_and_typed(name):
    function = getattr(judgeaudit, name)
    signature = inspect.signature(function)

    assert inspect.getdoc(function)
    assert signature.return_annotation is not inspect.Signature.empty
    assert all(p.annotation is not p.empty for p in signature.parameters.values())


def test_no_exported_name_is_hidden_by_a_module():
    """`judgeaudit.evidence.derive` is a module: a function of that name would be shadowed by it."""
    from importlib.util import find_spec

    assert [name for name in NAMES if find_spec(f"judgeaudit.{name}")] == []


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        judgeaudit.nothing  # noqa: B018


def test_importing_the_package_imports_no_library():
    code = "import sys, judgeaudit; print([m for m in sys.modules if m in %r])"
    heavy = ["numpy", "pandas", "pyarrow", "pydantic", "scipy", "typer"]
    done = subprocess.run([sys.executable, "-c", code % heavy], capture_output=True, text=True)

    assert done.stdout.strip() == "[]"


@pytest.fixture
def frame():
    return pd.DataFrame(
        [{"item": f"i{i}", "run": k, "score": i + (k == 1)} for i in range(12) for k in range(3)]
    )


def test_a_frame_and_its_file_give_the_same_estimates(frame, tmp_path):
    path = tmp_path / "scores.csv"
    frame.to_csv(path, index=False)
    columns = {"item": "item", "repeat": "run", "score": "score"}

    of_frame = judgeaudit.estimates(judgeaudit.analyze_table(frame, **columns))
    of_file = judgeaudit.estimates(judgeaudit.analyze_table(path, **columns))

    pd.testing.assert_frame_equal(of_frame, of_file)
    assert not of_frame["confirmatory"].any()


def test_a_table_needs_one_value_column(frame):
    with pytest.raises(InputError, match="give exactly one of --score"):
        judgeaudit.analyze_table(frame, item="item")


def test_a_statistic_of_any_readings():
    """Item a flips in 2 of 3 pairs, item b in none: (2/3 + 0)/2."""
    readings = pd.DataFrame(
        {
            "item": list("aaabbb"),
            "repeat": [0, 1, 2] * 2,
            "category": list("xxyyyy"),
            "status": "ok",
        }
    )

    (found,) = judgeaudit.estimate("flip_rate", readings, over="same_window")

    assert found.value == pytest.approx(1 / 3)
    assert not found.confirmatory


def test_a_study_gives_readings_and_the_verdicts_of_its_registration(tmp_path):
    root = tmp_path / "study"
    run("init", root, "--protocol", "verdict", "--n", 6, "--base-url", "embedded:stable")
    path = root / "registration.toml"
    path.write_text(
        path.read_text()
        + '\n[[gates]]\nid = "g"\nstatistic = "flip_rate"\nover = "same_window"\n'
        + 'at_most = 0.5\ndecide = "point"\n'
    )
    run("prereg", "freeze", root)
    run("run", root, "--all")

    study = judgeaudit.load_study(root)
    readings = judgeaudit.load_readings(study)
    findings = judgeaudit.verdicts(study)

    assert {"item", "gold", "category", "status", "reason"} <= set(readings.columns)
    assert [verdict.id for verdict in findings.verdicts] == ["g"]
    again = judgeaudit.decide(
        study.registration.gates[0], [held.estimate for held in findings.verdicts[0].held]
    )
    assert again.outcome == findings.verdicts[0].outcome
    assert len(judgeaudit.estimates(findings)) == len(findings.estimates)


@pytest.mark.parametrize("wish", [{"gap": float("nan")}, {"gap": -1.0}, {"pass_at": float("inf")}])
def test_a_gap_or_a_mark_that_says_nothing_is_refused_as_by_the_command(wish):
    frame = pd.DataFrame({"item": ["a", "a", "b", "b"], "run": [1, 2, 1, 2], "s": [1, 2, 3, 4]})
    with pytest.raises(InputError):
        judgeaudit.analyze_table(frame, item="item", repeat="run", score="s", **wish)


def test_no_table_at_all_is_refused():
    with pytest.raises(InputError, match="no table"):
        judgeaudit.analyze_table([], item="item", score="s")
