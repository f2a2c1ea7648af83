"""Nothing vanishes between estimate and reader, and conventions of published coefficients."""

from __future__ import annotations

import csv
import json

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from judgeaudit.analysis.frame import estimates_frame
from judgeaudit.analysis.items import items_frame
from judgeaudit.cli import app, commands
from judgeaudit.design.document import Registration
from judgeaudit.design.draft import read_toml
from judgeaudit.readings.table import checked
from judgeaudit.report.study_text import study_lines
from judgeaudit.verdict import evaluate
from judgeaudit.verdict.gate_report import GateReport

commands.register(app)

HEAD = """analyses = [{analyses}]

[study]
id = "s"
title = "s"
authors = ["a"]
claim = "{claim}"

[[endpoints]]
id = "good"
api = "openai.chat"
base_url = "embedded:stable"
model = "m"

[[endpoints]]
id = "mute"
api = "openai.chat"
base_url = "embedded:stable"
model = "m"

[schedule]
seed = 1
repeats = 2
cap = 100

[[schedule.conditions]]
name = "quiet"
in_flight = 1

[[schedule.conditions]]
name = "loaded"
in_flight = 8
"""


def registered(analyses: str, claim: str = "ranking") -> Registration:
    text = HEAD.format(analyses=analyses, claim=claim)
    return Registration.model_validate(read_toml("registration.toml", text.encode()))


def readings(mute: bool = True) -> pd.DataFrame:
    """Two endpoints, two conditions, six items twice; "mute" never answers, "good" always alike."""
    rows = [
        {"endpoint": endpoint, "condition": condition, "item": f"i{item}", "repeat": repeat}
        | (
            {"status": "invalid", "reason": "unparsed"}
            if mute and endpoint == "mute"
            else {"status": "ok", "ranking": ("a", "b", "c")}
        )
        for endpoint in ("good", "mute")
        for condition in ("quiet", "loaded")
        for item in range(6)
        for repeat in (0, 1)
    ]
    return checked(pd.DataFrame(rows))


COMPARISONS = (
    {"over=same_window", "condition=quiet"},
    {"over=same_window", "condition=loaded"},
    {"over=conditions"},
)
"""What two repeats in two conditions hold; each is told of both endpoints, so six lines."""


def scopes(findings, endpoint):
    told = [set(e.scope.split(", ")) for e in findings.analyses if e.endpoint == endpoint]
    return sorted(told, key=sorted)


def test_an_undefined_endpoint_stands_beside_a_defined_one():
    """Case S12: three lines an endpoint, those of the second undefined with their reason."""
    found = evaluate(registered('"ranking_exact"'), readings())

    for endpoint in ("good", "mute"):
        assert scopes(found, endpoint) == sorted(COMPARISONS, key=sorted)
    why = [e.undefined for e in found.analyses if e.endpoint == "mute"]
    assert why == ["no pair has two valid readings"] * 3


def test_a_loaded_condition_that_equals_the_quiet_one_is_no_duplicate():
    """Case S13: two conditions of one judge with the same numbers are two lines."""
    found = evaluate(registered('"ranking_exact"'), readings(mute=False))

    for endpoint in ("good", "mute"):
        assert scopes(found, endpoint) == sorted(COMPARISONS, key=sorted)
    assert {e.value for e in found.analyses} == {1.0}


def test_every_estimate_stands_once_in_text_table_and_json():
    """Cases S12, S13: what is found is counted in every door: 6 + 4 lines of two analyses."""
    registration = registered('"ranking_exact", {statistic = "ranking_top1", over = "all"}')
    found = evaluate(registration, readings())
    execution = {"sealed_windows": [], "waiting_windows": [], "by_status": {}, "planned": 0}
    report = GateReport("s", found.verdicts, found.bars)
    text = [
        line
        for line in study_lines(registration, execution | {"ledger": {}}, found, report)
        if line.startswith(("  ranking_exact", "  ranking_top1"))
    ]
    frame = estimates_frame(found.estimates)

    assert len(found.analyses) == len(text) == len(set(text)) == 10
    assert len(frame) == 10
    assert not frame.duplicated(["asked_by", "analysis", "endpoint", "scope", "over"]).any()
    assert set(frame["asked_by"]) == {"analyses.0", "analyses.1"}
    assert (frame["value"].notna() | frame["undefined"].notna()).all()


def test_an_analysis_takes_params_as_a_gate_does():
    """`params.form` of an ICC is the analysis's own, and its scope says so."""
    rng = np.random.default_rng(3)
    rows = [
        {"item": f"i{i}", "repeat": k, "status": "ok", "number": float(i + k * 2 + rng.normal())}
        for i in range(20)
        for k in range(2)
    ]
    asked = '{statistic = "icc", params = {form = "agreement"}}, {statistic = "icc"}'
    found = evaluate(registered(asked, "score"), checked(pd.DataFrame(rows)))

    agreement, one_way = (e for e in found.analyses)
    assert agreement.scope == "form=agreement"
    assert agreement.params == {"form": "agreement"}
    assert agreement.value != one_way.value


CODERS = ("123321412...", "1233224125.3", ".3332342251.", "12332441251.")
"""Four observers of twelve units (Krippendorff 2011, computing alpha); . is missing."""


def analysed(tmp_path, rows, *options):
    path = tmp_path / "t.csv"
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([["item", "run", "value"], *rows])
    arguments = ["analyze", str(path), "--item", "item", "--repeat", "run", *options, "--json"]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    (part,) = json.loads(result.stdout)["parts"]
    return {e["analysis"]: e for e in part["estimates"]}


def test_alpha_of_a_table_follows_krippendorffs_convention_on_missing_data(tmp_path):
    """Case T8: his published values are .743 nominal and .815 ordinal."""
    rows = [
        (unit, coder, "" if code == "." else code)
        for coder, codes in enumerate(CODERS)
        for unit, code in enumerate(codes)
    ]

    nominal = analysed(tmp_path, rows, "--verdict", "value")["alpha"]
    ordinal = analysed(tmp_path, rows, "--score", "value")["ordinal_alpha"]

    assert nominal["value"] == pytest.approx(0.743, abs=5e-4)
    assert ordinal["value"] == pytest.approx(0.815, abs=5e-4)
    assert nominal["n"]["items"] == 11  # one unit has a single code


def test_one_score_written_in_two_ways_is_one_score_to_every_statistic(tmp_path):
    """Case S9: .3 and .1 + .2 of an item: no noise, order and alpha perfect."""
    rows = [(i, r, repr(0.1 * i + 0.2)) for i in range(12) for r in range(2)]
    rows = [(i, r, repr(0.1 + 0.2) if (i, r) == (0, 1) else v) for i, r, v in rows]
    rows = [(i, r, "0.3" if (i, r) == (0, 0) else v) for i, r, v in rows]

    found = analysed(tmp_path, rows, "--score", "value", "--also", "number_exact")

    assert found["noise"]["value"] == 0
    assert found["spearman"]["value"] == 1
    assert found["ordinal_alpha"]["value"] == 1
    assert found["number_exact"]["value"] == 1


def test_changes_of_items_are_told_from_what_to_what_and_how_often():
    """A A B: pairs AA, AB, AB, so two of three change; A A: none of one."""
    rows = [
        {"item": item, "repeat": k, "status": "ok", "category": answer}
        for item, answers in {"q1": "AAB", "q2": "AA"}.items()
        for k, answer in enumerate(answers)
    ]

    found = items_frame(checked(pd.DataFrame(rows)))

    told = found[["item", "readings", "pairs", "times"]].to_numpy().tolist()
    assert told == [["q1", 3, 3, 2], ["q2", 2, 1, 0]]
    assert found.loc[0, ["from", "to"]].tolist() == ["A", "B"]
    assert found.loc[1, ["from", "to"]].isna().all()


@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_analyze_writes_the_items_of_a_table(tmp_path, form):
    path, out = tmp_path / "t.csv", tmp_path / f"items.{form}"
    path.write_text("item,run,v\na,1,x\na,2,y\nb,1,x\nb,2,x\n")
    arguments = ["analyze", path, "--item", "item", "--repeat", "run", "--verdict", "v"]
    result = CliRunner().invoke(app, [*map(str, arguments), "--items", str(out)])

    frame = pd.read_parquet(out) if form == "parquet" else pd.read_csv(out)
    assert result.exit_code == 0, result.output
    assert frame["times"].tolist() == [1, 0]
