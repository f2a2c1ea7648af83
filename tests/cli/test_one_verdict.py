"""analyze, gate, export and the API say the same of one study: they call one function."""

import json

import pandas as pd
import pytest
from typer.testing import CliRunner

import judgeaudit
from judgeaudit.cli import app, commands

commands.register(app)

BLOCKS = "repeats = 2\nblock = 10\nwindows_per_day = 5"


@pytest.fixture
def asked(frozen, served, text, scores):
    """A sealed score study whose judge answers as `answer(body, number)` does."""

    def ask(answer):
        gate = scores.gate
        root = frozen(text(served(answer), gates=gate, claim="score"), protocol=scores.protocol)
        judgeaudit.run(root, everything=True)
        return root

    return ask


@pytest.mark.parametrize(
    ("answer", "kinds"),
    [
        pytest.param(lambda body, n: "3", ["one_answer"], id="case A11"),
        pytest.param(
            lambda body, n: (str(len(body) % 7), f"judge-1-2026-01-0{1 + n % 2}"),
            ["several_models"],
            id="case A10",
        ),
    ],
)
def test_a_barred_gate_passes_by_no_door(asked, answer, kinds, tmp_path):
    """case A10, case A11: two models behind one name; every reply the same.

    Equal bytes get equal numbers, so the number alone (share of equal pairs at least .5) would pass
    with 1; the bar makes it undefined, and no evidence is exit 3.
    """
    root = asked(answer)
    gate = CliRunner().invoke(app, ["gate", str(root), "--read-only", "--json"])
    analyzed = CliRunner().invoke(app, ["analyze", str(root)])
    judgeaudit.export(root, out=tmp_path / "out")
    told = json.loads((root / "results" / "verdicts.json").read_text())
    rows = pd.read_parquet(tmp_path / "out" / "verdicts.parquet").set_index("kind")

    assert [one["outcome"] for one in told["gates"]] == ["undefined"]
    assert gate.exit_code == 3
    assert json.loads(gate.stdout)["outcome"] == told["overall"] == "undefined"
    assert [bar["kind"] for bar in told["bars"]] == kinds == [rows.loc["bar", "id"]]
    assert rows.loc["all gates", "outcome"] == "undefined"
    assert f"barred ({kinds[0]})" in analyzed.stdout
    assert f"together: {json.loads(gate.stdout)['says']}" in analyzed.stdout
    assert f"Barred ({kinds[0]})" in (tmp_path / "out" / "README.md").read_text()
    assert judgeaudit.analyze(root).report.outcome.value == "undefined"
    assert judgeaudit.gate(root, read_only=True).outcome.value == "undefined"


def test_a_sequential_gate_has_its_own_verdict_by_every_door(frozen, text, served, by_item):
    """The stop rule decides, not the interval of a fixed sample: analyze a run as the gate did."""
    gates = """
[sequential]
design = "flip_within"
[[gates]]
id = "flips"
statistic = "flip_rate"
over = "same_window"
at_most = 0.20
"""
    root = frozen(text(served(by_item), schedule=BLOCKS, gates=gates), items=50)
    gate = judgeaudit.gate(root, run_key="k1")
    (folder,) = (root / "gates").iterdir()
    analysed = judgeaudit.analyze(folder)

    assert [v.to_dict() for v in analysed.findings.verdicts] == [v.to_dict() for v in gate.verdicts]
    assert analysed.report.outcome is gate.outcome
