"""What people met who used the commands for the first time: each message names the way on."""

import json

import pandas as pd
import pytest
from typer.testing import CliRunner

import judgeaudit
from judgeaudit.cli import app, commands
from judgeaudit.design.salvage import salvaged
from judgeaudit.errors import InputError
from judgeaudit.study.progress import CallsDone, Counts, Steps

commands.register(app)


def run(*arguments):
    return CliRunner().invoke(app, list(map(str, arguments)))


@pytest.fixture
def study(tmp_path):
    root = tmp_path / "study"
    judgeaudit.init(root, "verdict", n=6)
    return root


def gate(root, **changes):
    keys = {"id": "g", "statistic": "flip_rate", "over": "same_window", "at_most": 0.5, **changes}
    lines = [f"{key} = {json.dumps(value)}" for key, value in keys.items()]
    with (root / "registration.toml").open("a") as file:
        file.write("\n[[gates]]\n" + "\n".join(lines) + "\n")


def test_a_frozen_study_is_not_ready_to_freeze(study):
    run("prereg", "freeze", study)

    found = run("prereg", "check", study)

    assert found.exit_code == 0
    assert "frozen already, and unchanged; next: judgeaudit run" in found.stderr


def test_check_and_freeze_of_an_edited_frozen_study_name_both_ways_on(study):
    run("prereg", "freeze", study)
    with (study / "registration.toml").open("a") as file:
        file.write("# a thought\n")

    checked, frozen = run("prereg", "check", study), run("prereg", "freeze", study)

    assert checked.exit_code == 1
    assert "problem: registration.toml: changed after the freeze" in checked.stdout
    assert frozen.exit_code == 2
    for told in (checked.stdout, frozen.stderr):
        assert "prereg restore" in told
        assert "prereg amend" in told


def test_an_input_file_that_is_gone_is_a_problem_too(study):
    run("prereg", "freeze", study)
    (study / "controls.jsonl").unlink()

    found = run("prereg", "check", study)

    assert "controls.jsonl" in found.stdout
    assert found.exit_code == 1


def test_a_misspelt_key_hides_no_other_problem(study):
    """A wrong key, a missing seed, a wrong statistic, and an item without its group: all four."""
    path = study / "registration.toml"
    path.write_text(path.read_text().replace("seed = 1                  #", "sead = 1 #"))
    gate(study, statistic="flip_rat")
    items = study / "items.jsonl"
    items.write_text('{"id": "x"}\n' + items.read_text())

    found = run("prereg", "check", study).stdout

    assert "problem: schedule.seed: missing" in found
    assert "problem: schedule.sead: unknown key" in found
    assert "problem: gates[0].statistic: unknown statistic 'flip_rat'" in found
    assert "problem: items.jsonl, line 1: group" in found


def test_a_salvaged_registration_keeps_its_places(study):
    """The second of three gates lacks its id: it and the third are left out, the first stays."""
    from judgeaudit.design.base import read_toml
    from judgeaudit.design.document import Registration

    gate(study)
    gate(study, id="h")
    gate(study, id="i")
    document = read_toml("r", (study / "registration.toml").read_bytes())
    del document["gates"][1]["id"]

    found = salvaged(Registration, document)

    assert [one.id for one in found.gates] == ["g"]
    assert salvaged(Registration, {}) is None


def test_a_registration_with_faults_is_never_frozen(study):
    gate(study, ovr="x")

    assert run("prereg", "freeze", study).exit_code == 2
    assert not (study / "frozen").exists()


def test_check_and_freeze_count_the_same_bodies(study):
    """Two twins have one body: what check counts is what freeze writes."""
    checked = json.loads(run("prereg", "check", study, "--json").stdout)
    frozen = json.loads(run("prereg", "freeze", study, "--json").stdout)

    assert checked["numbers"]["bodies"] == frozen["lock"]["content"]["bodies"]["rows"]


def test_two_gates_with_one_id_are_named(study):
    gate(study)
    gate(study)

    assert "gates[0] and gates[1] share the id 'g'" in run("prereg", "check", study).stdout


def test_rows_of_an_array_on_one_line_are_named_by_their_number(tmp_path):
    rows = [{"a": "x", "b": "y", "label": 1}, {"a": "x", "b": "y", "label": 7}]
    path = tmp_path / "pairs.json"
    path.write_text(json.dumps(rows))
    options = ("--protocol", "verdict", "--items", path, "--candidates", "a,b")

    wrong = run("init", tmp_path / "s", *options, "--gold", "label")
    path.write_text(json.dumps([rows[0], {**rows[0], "a": "z"}]))
    judgeaudit.init(
        tmp_path / "t", "verdict", items=path, candidates=["a", "b"], gold="label",
        prompt=_prompt(tmp_path),
    )  # fmt: skip

    assert "pairs.json: row 2: gold '7' names no candidate" in wrong.stderr
    lines = (tmp_path / "t" / "items.jsonl").read_text().splitlines()
    items = [json.loads(line) for line in lines]
    assert [item["meta"] for item in items] == [{"row": 1}, {"row": 2}]


def _prompt(folder):
    path = folder / "prompt.txt"
    path.write_text("{a}\n{b}\nAnswer with exactly one of: {categories}")
    return path


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('[{"a": "x"}, 3]', "row 2"),
        ('[{"a": "x"}, {"a": nope}]', "row 2, which begins in line 1"),
        ('[{"a": "x"} {"a": "y"}]', "row 1, which begins in line 1"),
    ],
)
def test_a_fault_in_an_array_on_one_line_is_named_by_its_row(text, said, tmp_path):
    path = tmp_path / "pairs.json"
    path.write_text(text)

    found = run("init", tmp_path / "s", "--protocol", "verdict", "--items", path)

    assert said in found.stderr


def test_a_row_of_a_table_that_is_no_object_is_named_by_its_number(tmp_path):
    path = tmp_path / "t.json"
    path.write_text('[{"item": "a", "score": 1}, 3]')

    assert "t.json: row 2: no JSON object" in run("analyze", path, "--score", "score").stderr


@pytest.mark.parametrize(
    "arguments", [("analyze", "{}"), ("export", "{}"), ("analyze", "{}", "--score", "score")]
)
def test_a_file_that_is_not_there_is_told_before_its_columns(arguments, tmp_path):
    path = tmp_path / "nowhere.csv"

    found = run(*(str(path) if part == "{}" else part for part in arguments))

    assert found.exit_code == 2
    assert found.stderr == f"error: {path}: no such file\n"
    with pytest.raises(InputError, match="no such file"):
        judgeaudit.analyze_table(path)


def test_nothing_asked_twice_is_3_from_export_as_from_analyze(tmp_path):
    path = tmp_path / "once.csv"
    path.write_text("item,repeat,score\na,1,3\nb,1,4\n")

    codes = [run(name, path, "--score", "score").exit_code for name in ("analyze", "export")]

    assert codes == [3, 3]


@pytest.mark.parametrize(
    ("name", "text"),
    [("t.csv", ""), ("t.csv", "item,repeat,score\n"), ("t.jsonl", ""), ("t.json", "[]")],
)
def test_a_table_without_a_row_is_told_alike_by_every_command(name, text, tmp_path):
    path = tmp_path / name
    path.write_text(text)
    said = f"{name}: no rows; give one row a reading"

    assert [run(c, path, "--score", "score").stderr for c in ("analyze", "export")] == [
        f"error: {said}\n"
    ] * 2
    with pytest.raises(InputError, match="table: no rows; give one row a reading"):
        judgeaudit.analyze_table(pd.DataFrame({"item": [], "score": []}), score="score")


@pytest.mark.parametrize(("items", "told"), [(1, False), (4, False), (5, True)])
def test_few_items_that_never_differ_are_no_sign_of_a_cache(items, told, tmp_path):
    rows = [f"i{n},{k},{n}" for n in range(items) for k in range(2)]
    path = tmp_path / "t.csv"
    path.write_text("\n".join(["item,repeat,score", *rows]) + "\n")

    assert ("possible cache" in run("analyze", path, "--score", "score").stdout) is told


def scores(folder, *cells):
    rows = [f'i{n // 2},{n % 2},"{cell}"' for n, cell in enumerate(cells)]
    path = folder / "t.csv"
    path.write_text("\n".join(["item,repeat,score", *rows]) + "\n")
    return path


@pytest.mark.parametrize("cell", ["1.000,5", "1,000.5", "1 000,5", "1'000.5", "1.000.000"])
def test_separators_of_thousands_are_named(cell, tmp_path):
    path = scores(tmp_path, "1", "2", "3", cell)

    assert (
        f"{cell!r} has separators of thousands" in run("analyze", path, "--score", "score").stdout
    )


@pytest.mark.parametrize("cell", ["1.000", "1,5", "12345"])
def test_a_decimal_mark_is_no_separator_of_thousands(cell, tmp_path):
    path = scores(tmp_path, "1", "2", "3", cell)

    assert "thousands" not in run("analyze", path, "--score", "score").stdout


def test_a_decimal_comma_that_is_declared_reads_no_point(tmp_path):
    path = scores(tmp_path, "1.5", "2.5", "1.5", "3.5")

    found = run("analyze", path, "--score", "score", "--decimal", ",")

    assert found.exit_code == 2
    assert "'1.5' has a point; --decimal . reads a decimal point" in found.stderr
    mixed = scores(tmp_path, "1,5", "2,5", "1,5", "3.5")
    told = run("analyze", mixed, "--score", "score", "--decimal", ",").stdout
    assert "1 cells hold no number, e.g. '3.5'" in told


@pytest.mark.parametrize(("cells", "told"), [("12132", True), ("01010", False), ("aab12", False)])
def test_verdicts_that_are_all_numbers_may_be_scores(cells, told, tmp_path):
    path = scores(tmp_path, *cells)

    found = run("analyze", path, "--verdict", "score").stdout

    assert ("verdicts are numbers; if they are scores, say --score score" in found) is told


def test_a_column_that_no_table_has_is_named():
    frame = pd.DataFrame({"item": list("abab"), "repeat": [0, 0, 1, 1], "score": [1j] * 4})

    with pytest.raises(InputError, match="column 'score': holds values of type complex128"):
        judgeaudit.analyze_table(frame, score="score")


def test_shares_and_means_by_run_say_what_they_are(tmp_path):
    path = tmp_path / "t.csv"
    rows = [f"i{n},{k},{'yes' if n % 4 else 'no'},{n % 3}" for n in range(8) for k in range(2)]
    path.write_text("\n".join(["item,repeat,verdict,score", *rows]) + "\n")

    assert (
        "share of no/yes by run: 0: 25%/75%, 1: 25%/75%"
        in run("analyze", path, "--verdict", "verdict").stdout
    )
    assert "mean by run: 0: 0.875, 1: 0.875" in run("analyze", path, "--score", "score").stdout


def test_progress_tells_each_step_once():
    """Two calls, an attempt of the second failed: 0, 1, 1 with a failure, 2."""
    told = []
    counts = Counts(planned=2)
    steps = Steps("d1w1", lambda event: told.append(str(event)))

    steps(counts)
    counts.attempts, counts.outcomes["ok"] = 1, 1
    steps(counts)
    counts.done = 1
    steps(counts)
    counts.attempts = 2
    steps(counts)
    counts.attempts, counts.outcomes["ok"], counts.done = 3, 2, 2
    steps(counts)

    head = "window d1w1: "
    assert told == [
        f"{head}0/2 calls",
        f"{head}1/2 calls",
        f"{head}1/2 calls, 1 attempts without a reply",
        f"{head}2/2 calls, 1 attempts without a reply",
    ]
    assert isinstance(CallsDone("d1w1", counts), CallsDone)


def test_a_folder_is_enough_for_a_notebook(study):
    """`estimates`, `load_readings`, `verdicts` and `items` take the folder, and what they gave."""
    gate(study)
    judgeaudit.freeze(study)
    judgeaudit.run(study, everything=True)
    analysed = judgeaudit.analyze(study)

    found = judgeaudit.estimates(study)

    assert len(found) == len(judgeaudit.estimates(analysed)) > 0
    assert len(judgeaudit.load_readings(str(study))) == 28  # 6 items x 2 orders x 2, 4 controls
    assert judgeaudit.verdicts(study).verdicts[0].id == "g"
    pd.testing.assert_frame_equal(judgeaudit.items(study), judgeaudit.items(analysed))


@pytest.mark.parametrize("name", ["estimates", "load_readings", "verdicts", "items"])
@pytest.mark.parametrize("what", [3, None, ["a"]])
def test_anything_else_is_one_line(name, what):
    with pytest.raises(judgeaudit.JudgeauditError, match="give a study's folder"):
        getattr(judgeaudit, name)(what)


@pytest.mark.parametrize("named", [True, False])
def test_registered_analyses_say_whether_they_are_exploratory(study, named):
    if named:
        gate(study)
    judgeaudit.freeze(study)
    judgeaudit.run(study, everything=True)

    found = run("analyze", study).stdout

    assert ("Registered analyses (exploratory:" in found) is not named
    assert ("Registered analyses (registered beside its gates and rules" in found) is named
