"""`judgeaudit init` and `battery`: from somebody's items to a study that passes `check`."""

import json
import tomllib

import pytest
import typer
from typer.testing import CliRunner

from judgeaudit.cli import commands
from judgeaudit.design.builtin_protocols import names

ROWS = [
    {"key": f"r{n}", "ask": f"Say {n}.", "one": f"{n}!", "two": f"{n}?", "best": 1 + n % 2}
    for n in range(4)
]
PROMPT = "Task: {ask}\n\nA: {one}\n\nB: {two}\n\nWrite {{A}} or B.\n"


@pytest.fixture(scope="module")
def app():
    built = typer.Typer()
    commands.register(built)
    return built


@pytest.fixture
def run(app, tmp_path, monkeypatch):
    """Run a command in an empty folder."""
    monkeypatch.chdir(tmp_path)

    def _run(*arguments):
        return CliRunner().invoke(app, [str(argument) for argument in arguments])

    return _run


@pytest.fixture
def own(tmp_path):
    """Somebody's files: items in three forms, and a prompt."""
    (tmp_path / "rows.json").write_text(json.dumps(ROWS, indent=1))
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    header = ",".join(ROWS[0])
    lines = [",".join(map(str, row.values())) for row in ROWS]
    (tmp_path / "rows.csv").write_text("\n".join([header, *lines]) + "\n")
    (tmp_path / "prompt.txt").write_text(PROMPT)
    return tmp_path


def verdicts(file="rows.json", *more):
    return (
        *("init", "s", "--protocol", "verdict", "--items", file, "--candidates", "one,two"),
        *("--prompt", "prompt.txt", *more),
    )


@pytest.mark.parametrize("name", names())
def test_every_protocol_gives_a_study_that_passes_check(run, name):
    assert run("init", "s", "--protocol", name).exit_code == 0

    result = run("prereg", "check", "s")

    assert result.exit_code == 0, result.output


@pytest.mark.parametrize("file", ["rows.json", "rows.jsonl", "rows.csv"])
def test_own_items_in_any_form_give_a_study_that_passes_check(run, own, file):
    result = run(*verdicts(file, "--id", "key", "--gold", "best", "--orders", "both"))

    assert result.exit_code == 0, result.output
    assert run("prereg", "check", "s").exit_code == 0
    first = json.loads((own / "s" / "items.jsonl").read_text().splitlines()[0])
    assert (first["id"], first["gold"]) == ("r0", "one")
    registration = tomllib.loads((own / "s" / "registration.toml").read_text())
    assert registration["analyses"] == [
        "category_exact",
        "flip_rate",
        "order_flip",
        "gold_agreement",
    ]


def test_the_own_prompt_is_the_only_message_and_keeps_its_braces(run, own):
    run(*verdicts())
    protocol = tomllib.loads((own / "s" / "protocol.toml").read_text())

    assert protocol["prompt"] == {"user": PROMPT}


@pytest.mark.parametrize(
    ("last_line", "told"),
    [("Reply with A or B only.", True), ("Answer with exactly one of: {categories}", False)],
)
def test_a_prompt_that_the_simulated_judge_takes_for_free_text_is_told(run, own, last_line, told):
    """Its replies would be prose, every reading unparsed, and nothing would say why."""
    (own / "prompt.txt").write_text(f"{{one}} or {{two}}? {last_line}")

    shown = run(*verdicts())
    at_a_server = run(*("init", "t", *verdicts()[2:]), *("--base-url", "http://127.0.0.1:9"))

    assert ("reads no closed question in this prompt" in shown.stderr) is told
    assert "closed question" not in at_a_server.stderr


def test_an_id_column_that_nobody_named_is_told(run, own):
    (own / "ids.jsonl").write_text('{"id": "a", "one": "x", "two": "y"}\n')
    (own / "prompt.txt").write_text("Answer with exactly one of: {categories}: {one}, {two}")

    assert "column 'id' is not named with --id" in run(*verdicts("ids.jsonl")).stderr


def test_one_order_and_a_limit(run, own):
    run(*verdicts("rows.csv", "--orders", "as_given", "--limit", "2"))
    found = json.loads(run("prereg", "check", "s", "--json").stdout)

    assert len((own / "s" / "items.jsonl").read_text().splitlines()) == 2
    assert found["numbers"]["calls"] == 2 * 2 + 2  # two repeats, and two controls


def test_a_hosted_endpoint_names_its_variable_and_holds_no_key(run, own):
    run(*verdicts("rows.csv", "--model", "some-model"))
    (endpoint,) = tomllib.loads((own / "s" / "registration.toml").read_text())["endpoints"]

    assert endpoint["base_url"] == "https://api.openai.com/v1"
    assert endpoint["key_env"] == "OPENAI_API_KEY"


def test_an_anthropic_endpoint_freezes_its_version(run, own):
    result = run(*verdicts("rows.csv", "--api", "anthropic.messages", "--model", "m"))
    (endpoint,) = tomllib.loads((own / "s" / "registration.toml").read_text())["endpoints"]

    assert result.exit_code == 0, result.output
    assert endpoint["api_version"] == "2023-06-01"
    assert endpoint["key_env"] == "ANTHROPIC_API_KEY"


def nothing_was_written(folder):
    return not (folder / "s").exists() and not list(folder.glob(".init-*"))


def test_a_missing_field_is_named_with_both_lines_and_nothing_is_written(run, own):
    """The third row lacks `ask`; the array's rows begin on lines 2, 9, 16, 23."""
    rows = [{k: v for k, v in row.items() if n != 2 or k != "ask"} for n, row in enumerate(ROWS)]
    (own / "rows.json").write_text(json.dumps(rows, indent=1))

    result = run(*verdicts())

    assert result.exit_code == 2
    assert result.stderr.startswith("error: prompt.txt: line 1: placeholder {ask} has no field in ")
    assert "rows.json, line 16 (item 'row-3')" in result.stderr
    assert nothing_was_written(own)


def test_a_placeholder_that_nothing_fills_is_named_with_its_line(run, own):
    (own / "prompt.txt").write_text(PROMPT + "{hint}\n")

    result = run(*verdicts())

    assert result.exit_code == 2
    assert "prompt.txt: line 8: placeholder {hint} has no field" in result.stderr
    assert nothing_was_written(own)


def test_an_unpaired_brace_is_named_with_its_line(run, own):
    (own / "prompt.txt").write_text("Task: {ask}\n{")

    result = run(*verdicts())

    assert result.exit_code == 2
    assert "prompt.txt: line 2: unpaired '{'" in result.stderr


def test_a_duplicate_id_is_named_with_both_lines(run, own):
    (own / "rows.csv").write_text((own / "rows.csv").read_text().replace("r3,", "r1,"))

    result = run(*verdicts("rows.csv", "--id", "key"))

    assert result.exit_code == 2
    assert "rows.csv: line 5: id 'r1' is taken by line 3" in result.stderr
    assert nothing_was_written(own)


def test_a_missing_candidate_column_is_named(run, own):
    result = run(
        *("init", "s", "--protocol", "verdict", "--items", "rows.csv"),
        *("--candidates", "one,three", "--prompt", "prompt.txt"),
    )

    assert result.exit_code == 2
    assert "no field 'three'" in result.stderr


def test_a_readout_that_the_api_cannot_give_is_refused(run, own):
    result = run(
        *("init", "s", "--protocol", "label-pair", "--api", "anthropic.messages", "--model", "m")
    )

    assert result.exit_code == 2
    assert "gives no log-probabilities" in result.stderr
    assert nothing_was_written(own)


def test_a_folder_that_holds_something_is_never_touched(run, own):
    (own / "s").mkdir()
    (own / "s" / "mine.txt").write_text("mine")

    result = run(*verdicts())

    assert result.exit_code == 2
    assert [path.name for path in (own / "s").iterdir()] == ["mine.txt"]


def test_an_empty_folder_may_be_used(run, own):
    (own / "s").mkdir()

    assert run(*verdicts()).exit_code == 0


def test_an_unknown_protocol_names_those_there_are(run):
    result = run("init", "s", "--protocol", "vibes")

    assert result.exit_code == 2
    assert "one of choice, label-logprob, label-pair" in result.stderr


def test_a_protocol_file_of_ones_own_may_be_used(run, own):
    run("init", "first", "--protocol", "score")

    result = run("init", "s", "--protocol", "first/protocol.toml")

    assert result.exit_code == 0, result.output


def test_init_as_json_is_one_document(run, own):
    found = json.loads(run(*verdicts("rows.csv", "--json")).stdout)

    assert found["items"] == 4
    assert found["files"] == [
        "controls.jsonl",
        "items.jsonl",
        "protocol.toml",
        "registration.toml",
    ]


def test_a_battery_is_the_same_bytes_from_the_same_seed_and_never_over_a_file(run, own):
    one = run("battery", "pairs", "--n", "4", "--seed", "9", "--out", "one.jsonl")
    two = run("battery", "pairs", "--n", "4", "--seed", "9", "--out", "two.jsonl")
    again = run("battery", "pairs", "--n", "4", "--seed", "9", "--out", "two.jsonl")

    assert (one.exit_code, two.exit_code, again.exit_code) == (0, 0, 2)
    assert (own / "one.jsonl").read_bytes() == (own / "two.jsonl").read_bytes()
    assert "exists already" in again.stderr


def test_an_unknown_battery_names_those_there_are(run):
    result = run("battery", "riddles", "--out", "x.jsonl")

    assert result.exit_code == 2
    assert "one of traces, rankings" in result.stderr


def test_a_batterys_option_is_checked(run, own):
    good = run("battery", "rankings", "--n", "2", "--option", "candidates=4", "--out", "x.jsonl")
    bad = run("battery", "rankings", "--n", "2", "--option", "colour=1", "--out", "y.jsonl")

    assert good.exit_code == 0, good.output
    assert bad.exit_code == 2
    assert not (own / "y.jsonl").exists()


def test_an_answer_by_schema_is_asked_for_where_nothing_else_keeps_its_form(run, own):
    """At embedded:local by default; elsewhere with --structured."""
    run(*verdicts("rows.csv", "--base-url", "embedded:local"))
    local = tomllib.loads((own / "s" / "protocol.toml").read_text())["options"]
    run("init", "plain", "--protocol", "verdict")
    plain = tomllib.loads((own / "plain" / "protocol.toml").read_text())["options"]

    assert (local["pattern"], local["structured"]) == ("json", True)
    assert (plain["pattern"], plain.get("structured")) == ("whole", None)
