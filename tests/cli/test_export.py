"""`judgeaudit export`: what the files hold, who can open them, and what is never written."""

import json

import duckdb
import pandas as pd
import polars as pl
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from judgeaudit.canonical import file_digest
from judgeaudit.cli import app, commands

commands.register(app)

GATES = """
[[gates]]
id = "repeat"
statistic = "flip_rate"
over = "same_window"
at_most = 0.5
decide = "point"

[[rules]]
id = "named"
statistic = "gold_agreement"
over = "gold"
[[rules.bands]]
name = "above_chance"
above = 0.5
[[rules.bands]]
name = "at_or_below"
at_least = 0.0
"""
PARTS = ("attempts", "readings", "candidates", "estimates", "verdicts", "amendments")


def run(*arguments):
    return CliRunner().invoke(app, list(map(str, arguments)))


def rows_by_library(path):
    """Rows and columns of a file as pandas, polars and DuckDB see them."""
    pandas, polars = pd.read_parquet(path), pl.read_parquet(path)
    duck = duckdb.sql(f"select * from '{path}'")
    return {
        "pandas": (len(pandas), list(pandas.columns)),
        "polars": (polars.height, polars.columns),
        "duckdb": (len(duck.fetchall()), duck.columns),
    }


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """A small verdict study on a simulated judge, sealed, with a gate and a rule."""
    root = tmp_path_factory.mktemp("studies") / "small"
    made = run("init", root, "--protocol", "verdict", "--n", 12, "--base-url", "embedded:stable")
    assert made.exit_code == 0, made.output
    path = root / "registration.toml"
    path.write_text(path.read_text() + GATES)
    for command in (["prereg", "freeze", root], ["run", root, "--all"]):
        result = run(*command)
        assert result.exit_code == 0, result.output
    return root


@pytest.fixture(scope="module")
def supplement(study, tmp_path_factory):
    out = tmp_path_factory.mktemp("out") / "supplement"
    result = run("export", study, "--to", "parquet", "--out", out)
    assert result.exit_code == 0, result.output
    return out


@pytest.fixture
def scores(tmp_path):
    """Six items, three runs; one score is a word."""
    rows = [
        {"item": f"i{i}", "run": k, "score": i + (k == 2), "model": "m", "temperature": 0}
        for i in range(6)
        for k in range(3)
    ]
    rows[4]["score"] = "n/a!"
    path = tmp_path / "scores.csv"
    pd.DataFrame(rows).to_csv(path, index=False)
    return path


@pytest.mark.parametrize("part", PARTS[:-1])  # nothing was amended
def test_pandas_polars_and_duckdb_see_the_same_rows_and_columns(supplement, part):
    seen = rows_by_library(supplement / f"{part}.parquet")

    assert seen["pandas"] == seen["polars"] == seen["duckdb"]
    assert seen["pandas"][0] > 0


@pytest.mark.parametrize("part", PARTS)
def test_every_column_has_its_sentence_and_every_file_its_provenance(study, supplement, part):
    schema = pq.read_schema(supplement / f"{part}.parquet")
    manifests = sorted((study / "log" / "sealed").glob("*/manifest.json"))

    assert all(field.metadata[b"description"].decode().endswith(".") for field in schema)
    assert schema.metadata[b"judgeaudit.schema"] == b"supplement/2"
    assert schema.metadata[b"judgeaudit.part"] == part.encode()
    digests = json.loads(schema.metadata[b"judgeaudit.digests"])
    assert digests["frozen/lock.json"] == file_digest(study / "frozen" / "lock.json")
    for manifest in manifests:
        assert digests[manifest.relative_to(study).as_posix()] == file_digest(manifest)
    assert len(digests) == 1 + len(manifests)


def test_attempts_and_readings_are_those_that_were_sealed(study, supplement):
    """The exported columns equal the sealed ones, in the order of the runs."""
    for part in ("attempts", "readings"):
        folders = sorted((study / "log" / "sealed").iterdir(), key=_number)
        sealed = pd.concat([pd.read_parquet(f / f"{part}.parquet") for f in folders])
        exported = pd.read_parquet(supplement / f"{part}.parquet")
        assert exported["row_digest"].tolist() == sealed["row_digest"].tolist()


def _number(folder):
    return json.loads((folder / "manifest.json").read_text())["number"]


def test_readings_carry_gold_and_controls(supplement):
    readings = pl.read_parquet(supplement / "readings.parquet")
    probes = readings.filter(pl.col("control").is_null() & (pl.col("stage") == 1))
    agreeing = (probes["category"] == probes["gold"]).sum()

    estimates = pl.read_parquet(supplement / "estimates.parquet")
    found = estimates.filter(pl.col("analysis") == "gold_agreement").row(0, named=True)
    assert readings["control"].null_count() < readings.height
    assert probes["gold"].null_count() == 0
    assert json.loads(found["n"])["alike"] == agreeing


def test_readings_join_attempts_in_sql(supplement):
    joined = duckdb.sql(f"""
        select count(*) from '{supplement}/readings.parquet' r
        join '{supplement}/attempts.parquet' a using (call_id, attempt) where r.status = 'ok'
    """).fetchall()[0][0]

    readings = pl.read_parquet(supplement / "readings.parquet")
    assert joined == (readings["status"] == "ok").sum() > 0


def test_verdicts_have_one_row_a_criterion_and_endpoint(study, supplement):
    run("analyze", study)
    document = json.loads((study / "results" / "verdicts.json").read_text())
    frame = pd.read_parquet(supplement / "verdicts.parquet").set_index("id")

    assert list(frame["kind"]) == ["gate", "rule", "all gates"]
    assert frame["outcome"].iloc[-1] == document["overall"]
    assert frame.loc["repeat", "outcome"] == document["gates"][0]["outcome"]
    assert frame.loc["repeat", "value"] == document["gates"][0]["held"][0]["estimate"]["value"]
    assert frame.loc["named", "outcome"] == document["rules"][0]["outcome"]["judge"]
    assert list(frame.loc["repeat", "does_not_say"]) == document["gates"][0]["does_not_say"]


def test_the_readme_says_what_each_file_row_and_column_is(supplement):
    text = (supplement / "README.md").read_text()

    for part in PARTS:
        rows = pq.read_metadata(supplement / f"{part}.parquet").num_rows
        assert f"| `{part}.parquet` | {rows} |" in text
        for name in pq.read_schema(supplement / f"{part}.parquet").names:
            assert f"| `{name}` |" in text
    assert "Simulated endpoints" in text


def test_a_key_that_the_environment_holds_is_not_written_out(study, tmp_path, monkeypatch):
    """The echoed text of a reply is made the key: the guard must find it and leave no folder."""
    monkeypatch.setenv("JUDGE_KEY", "chat.completion")
    from judgeaudit.evidence.lock.files import load_frozen
    from judgeaudit.study import export_study

    frozen = load_frozen(study)
    spec = frozen.registration.endpoints[0].model_copy(update={"key_env": "JUDGE_KEY"})
    changed = frozen.registration.model_copy(update={"endpoints": (spec,)})
    object.__setattr__(frozen, "registration", changed)
    monkeypatch.setattr(export_study, "load_frozen", lambda root: frozen)

    result = run("export", study, "--out", tmp_path / "out")

    assert result.exit_code == 2
    assert f"{export_study.ATTEMPTS}: column 'response_body' holds the value of JUDGE_KEY" in (
        result.stderr
    )
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_overwritten(study, tmp_path):
    (tmp_path / "mine.txt").write_text("keep")

    result = run("export", study, "--out", tmp_path)

    assert result.exit_code == 2
    assert "nothing is overwritten" in result.stderr
    assert len(result.stderr.splitlines()) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_an_empty_folder_may_be_the_target(scores, tmp_path):
    out = tmp_path / "empty"
    out.mkdir()

    result = run("export", scores, "--repeat", "run", "--score", "score", "--out", out)

    assert result.exit_code == 0
    assert sorted(p.name for p in out.iterdir()) == [
        "README.md", "estimates.parquet", "items.parquet", "manifest.json", "readings.parquet",
    ]  # fmt: skip


def test_a_format_that_is_not_there_names_those_that_are(study):
    result = run("export", study, "--to", "osf")

    assert result.exit_code == 2
    assert result.stderr.splitlines() == ["error: --to: 'osf'; formats: parquet"]


def test_a_study_takes_no_column_options(study):
    result = run("export", study, "--score", "score")

    assert result.exit_code == 2
    assert "a study takes no options" in result.stderr


def test_a_table_is_exported_with_reasons_and_declared_columns(scores):
    result = run("export", scores, "--item", "item", "--repeat", "run", "--score", "score")

    folder = scores.with_name("scores-supplement")
    readings = pd.read_parquet(folder / "readings.parquet")
    meta = pq.read_schema(folder / "readings.parquet").metadata
    assert result.exit_code == 0
    assert readings.loc[4, ["status", "reason"]].tolist() == ["invalid", "unparsed"]
    assert pd.isna(readings.loc[4, "number"])
    assert readings["number"].count() == 17
    assert set(readings["declared.temperature"]) == {"0"}
    assert meta[b"judgeaudit.exploratory"] == b"true"
    assert json.loads(meta[b"judgeaudit.digests"]) == {"scores.csv": file_digest(scores)}
    for part in ("readings", "estimates"):
        seen = rows_by_library(folder / f"{part}.parquet")
        assert seen["pandas"] == seen["polars"] == seen["duckdb"]


def test_the_exported_estimates_are_those_of_analyze(scores, tmp_path):
    common = ("--item", "item", "--repeat", "run", "--score", "score")
    run("analyze", scores, *common, "--out", tmp_path / "e.parquet")
    run("export", scores, *common, "--out", tmp_path / "s")

    analysed = pd.read_parquet(tmp_path / "e.parquet").set_index("analysis")["value"]
    exported = pd.read_parquet(tmp_path / "s" / "estimates.parquet").set_index("analysis")["value"]
    pd.testing.assert_series_equal(analysed, exported)


def test_rankings_are_exported_as_lists(tmp_path):
    path = tmp_path / "r.csv"
    rows = [("i0", 0, "a>b"), ("i0", 1, "b>a"), ("i1", 0, "a>b"), ("i1", 1, "a>a")]
    pd.DataFrame(rows, columns=["item", "run", "ranking"]).to_csv(path, index=False)

    result = run("export", path, "--item", "item", "--repeat", "run", "--ranking", "ranking")

    table = pl.read_parquet(tmp_path / "r-supplement" / "readings.parquet")
    assert result.exit_code == 0, result.output
    assert table["ranking"].to_list() == [["a", "b"], ["b", "a"], ["a", "b"], None]


def test_json_names_the_files_and_their_rows(scores, tmp_path):
    result = run("export", scores, "--score", "score", "--out", tmp_path / "s", "--json")

    document = json.loads(result.stdout)
    assert document["files"]["readings.parquet"]["rows"] == 18
    assert document["exploratory"] is True
