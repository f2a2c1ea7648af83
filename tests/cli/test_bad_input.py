"""What `analyze` and `init` do with files that cannot be used: one line, exit 2, nothing lost.

Each case once ended in a traceback, in a number that was none, or in a line without its place.
"""

import shlex
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from judgeaudit.cli import app, commands

commands.register(app)

SCORE = ("--item", "item", "--repeat", "run", "--score", "score")
VERDICT = (*SCORE[:4], "--verdict", "score")
RANKING = (*SCORE[:4], "--ranking", "score")
HEAD = "item,run,score\n"


def analyze(path, *options):
    return CliRunner().invoke(app, ["analyze", str(path), *options])


def refused(result):
    """Return the one line that a refusal prints, without its "error: "."""
    assert result.exit_code == 2, result.output
    (line,) = result.stderr.splitlines()
    return line.removeprefix("error: ")


FILES = {
    "header alone": ("t.csv", HEAD, SCORE, "t.csv: no rows"),
    "empty JSON lines": ("t.jsonl", "", SCORE, "t.jsonl: no rows"),
    "a short row": ("t.csv", HEAD + "a,1,2\na,2\n", SCORE, "t.csv: row 3: Expected 3 columns"),
    "an open quote": ("t.csv", HEAD + '"a,1,2\n', SCORE, "t.csv: line 2: a quote is never closed"),
    "a date as score": ("t.csv", HEAD + "a,1,2020-01-01\n", SCORE, "holds no number"),
    "no verdict at all": ("t.csv", HEAD + "a,1,\na,2,\n", VERDICT, "holds no verdict"),
    "no ranking at all": ("t.csv", HEAD + "a,1,12\na,2,21\n", RANKING, "row 2: '12' is no ranking"),
    "scores that overflow": ("t.csv", HEAD + "a,1,1e300\n", SCORE, "holds no number"),
    "Latin-1 in the header": ("t.csv", b"it\xfcm,run\n", SCORE, "t.csv: line 1: byte 0xfc is not"),
    "Latin-1 in a row": (
        "t.csv", HEAD.encode() + b"a,1,2\n" * 99_999 + b"M\xfc,1,2\n", SCORE,
        "t.csv: line 100001: byte 0xfc is not UTF-8; save the file as UTF-8",
    ),
    "Latin-1 in JSON lines": ("t.jsonl", b'{}\n{"item":"\xfc"}\n', SCORE, "line 2: byte 0xfc"),
    "half of UTF-16": ("t.csv", HEAD.encode("utf-16")[:-1], SCORE, "0x0a is not UTF-16"),
    "an unclosed header": ("t.csv", '"' + "x" * 200_000, SCORE, "t.csv: row 1: no header"),
    "a torn last line": ("t.jsonl", '{"item":"a"}\n{"it', SCORE, "t.jsonl: line 2: not JSON"),
    "an error inside an array": ("t.json", '[{},\n{},\n{"a":}]', SCORE, "line 3: not JSON"),
    "JSON too deep": ("t.jsonl", "[" * 100_000, SCORE, "t.jsonl: line 1: not JSON"),
    "an integer of 5000 digits": ("t.jsonl", '{"score":' + "1" * 5000 + "}", SCORE, "line 1: not"),
    "half a character": ("t.jsonl", r'{"item":"\ud800"}', SCORE, "column 'item': holds half a"),
}  # fmt: skip


@pytest.mark.parametrize(("name", "content", "options", "told"), FILES.values(), ids=FILES)
def test_a_file_that_cannot_be_used_is_refused_in_one_line(tmp_path, name, content, options, told):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())

    assert told in refused(analyze(path, *options))


def parquet(path, **columns):
    pq.write_table(pa.table(columns), path)
    return path


@pytest.mark.parametrize("cut", [slice(None, 200), slice(30, None)], ids=["half", "no head"])
def test_a_damaged_parquet_file_is_named(tmp_path, cut):
    path = parquet(tmp_path / "t.parquet", item=["a", "b"], run=[1, 1], score=[1.0, 2.0])
    path.write_bytes(path.read_bytes()[cut])

    assert refused(analyze(path, *SCORE)).startswith("t.parquet: not Parquet, or damaged")


@pytest.mark.parametrize(
    "values",
    [[[1], [2]], [{"x": 1}, {"x": 2}], [b"\xff", b"a"]],
    ids=["lists", "objects", "bytes"],
)
def test_what_is_no_cell_is_refused_by_name(tmp_path, values, request):
    path = parquet(tmp_path / "t.parquet", item=values, run=[1, 1], score=[1.0, 2.0])
    other = parquet(tmp_path / "u.parquet", item=["a", "b"], run=[1, 1], score=values)
    told = f"holds {request.node.callspec.id}; write text or a number in each cell"

    assert refused(analyze(path, *SCORE)) == f"t.parquet: column 'item': {told}"
    assert refused(analyze(other, *SCORE)) == f"u.parquet: column 'score': {told}"


def test_text_of_any_type_may_name_items_and_is_no_score(tmp_path):
    values = pa.array(["x", "x"], pa.string_view())
    path = parquet(tmp_path / "t.parquet", item=values, run=[1, 2], score=[1.0, 2.0])
    other = parquet(tmp_path / "u.parquet", item=["a", "b"], run=[1, 1], score=values)

    assert analyze(path, *SCORE).exit_code == 0
    assert "column 'score': holds no number" in refused(analyze(other, *SCORE))


def test_integers_beyond_53_bits_are_scores(tmp_path):
    path = parquet(tmp_path / "t.parquet", item=["a", "a"], run=[1, 2], score=[2**60 + 1, 5])
    lines = tmp_path / "t.jsonl"
    lines.write_text(
        '{"item":"a","run":1,"score":1%s}\n{"item":"a","run":2,"score":3}\n' % ("0" * 30)
    )

    for table in (path, lines):
        result = analyze(table, *SCORE)
        assert result.exit_code == 0
        assert "complete: 2 readings" in result.stdout


def test_an_item_of_nan_is_no_item(tmp_path):
    path = parquet(tmp_path / "t.parquet", item=[1.0, float("nan")], run=[1, 1], score=[1.0, 2.0])

    assert refused(analyze(path, *SCORE)) == "t.parquet: row 2: no item; every reading needs one"


def test_a_line_separator_inside_a_json_string_ends_no_line(tmp_path):
    path = tmp_path / "t.jsonl"
    path.write_text(
        '{"item":"a\u2028b","run":1,"score":1}\n{"item":"a\u2028b","run":2,"score":1}\n'
    )

    assert "Read 2 rows of t.jsonl" in analyze(path, *SCORE).stdout


def test_runs_that_differ_as_wholes_have_an_agreement_of_zero(tmp_path):
    """Between items and in the residuals there is nothing: (0 - 0) / (0 + k MSC / n) = 0."""
    path = tmp_path / "t.csv"
    path.write_text(HEAD + "".join(f"i{i},{k},{k}\n" for i in range(12) for k in range(3)))

    result = analyze(path, *SCORE)

    assert result.exit_code == 0
    assert "absolute agreement of runs, ICC(A,1): 0  (12 items" in result.stdout


def test_scores_whose_squares_vanish_have_no_icc(tmp_path):
    """The least positive double is about 5e-324; its square is 0."""
    path = tmp_path / "t.csv"
    rows = (f"i{i},{k},{i + 1}e-310\n" for i in range(12) for k in range(3))
    path.write_text(HEAD + "".join(rows))

    text = analyze(path, *SCORE).stdout

    assert "ICC(1,1): undefined, neither items nor their readings differ" in text
    assert "nan" not in text


def test_a_kept_order_is_not_called_an_absence_of_disagreement(tmp_path):
    """Scores move by one in every second run, the order of items never does."""
    path = tmp_path / "t.csv"
    path.write_text(
        HEAD + "".join(f"i{i},{k},{3 * i + k % 2}\n" for i in range(12) for k in (1, 2))
    )

    text = analyze(path, *SCORE).stdout

    assert "same order of items (Spearman, two single readings): 1.000" in text
    assert "no disagreement was seen" not in text


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--gap", "nan"), "--gap: nan is no finite number; give one"),
        (("--gap", "-1"), "--gap: -1; give a number above 0"),
        (("--pass-at", "inf"), "--pass-at: inf is no finite number; give one"),
        (("--out", "nowhere/x.csv"), "--out: no folder nowhere; make it first"),
        (("--out", "x.txt"), "--out: 'x.txt'; end it in .parquet or .csv"),
    ],
)
def test_an_option_that_says_nothing_is_refused_before_the_work(tmp_path, options, told):
    path = tmp_path / "t.csv"
    path.write_text(HEAD + "a,1,1\na,2,1\n")

    assert refused(analyze(path, *SCORE, *options)) == told


def test_a_pass_mark_on_verdicts_is_refused(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(HEAD + "a,1,x\na,2,x\n")

    told = refused(analyze(path, *VERDICT, "--pass-at", "3"))

    assert told == "--pass-at: nothing to do with a verdict; drop it"


def test_the_table_itself_is_never_overwritten(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(HEAD + "a,1,1\na,2,1\n")
    before = path.read_bytes()

    told = refused(analyze(path, *SCORE, "--out", str(path)))

    assert told.endswith("t.csv is the table itself; name another file")
    assert path.read_bytes() == before


PAIR = '{"id": "q1", "a": "yes", "b": "no", "question": "?"}'


def init(folder, rows, prompt=None):
    """Run `init` on JSON lines in `folder`."""
    (folder / "rows.jsonl").write_text(rows)
    arguments = ["init", str(folder / "study"), "--protocol", "verdict", "--candidates", "a,b"]
    arguments += ["--items", str(folder / "rows.jsonl")]
    if prompt is not None:
        (folder / "prompt.txt").write_text(prompt)
        arguments += ["--prompt", str(folder / "prompt.txt")]
    return CliRunner().invoke(app, arguments)


@pytest.mark.parametrize("cell", ["null", '""', '"  "'])
def test_an_empty_candidate_is_no_item(tmp_path, cell):
    """A null was once sent to the judge as the word "null"."""
    told = refused(init(tmp_path, PAIR + "\n" + PAIR.replace('"yes"', cell)))

    assert "rows.jsonl: line 2: candidate 'a' is empty; leave the row out" in told
    assert not (tmp_path / "study").exists()


def test_half_a_character_is_named_with_its_line(tmp_path):
    told = refused(init(tmp_path, PAIR.replace("yes", r"\ud800")))

    assert "rows.jsonl: line 1: half a character" in told


@pytest.mark.parametrize("prompt", ["", "Which is better?\n", "{{question}} {question}"])
def test_a_prompt_that_shows_no_candidate_is_refused(tmp_path, prompt):
    told = refused(init(tmp_path, PAIR, prompt))

    assert "prompt.txt: arms" in told
    assert "placeholders that can be used: a, b, candidate_1, candidate_2" in told


def test_a_study_below_a_file_is_refused(tmp_path):
    (tmp_path / "study").write_text("kept")

    told = refused(
        CliRunner().invoke(app, ["init", str(tmp_path / "study/x"), "--protocol", "ranking"])
    )

    assert told.endswith("study is a file; name another folder")


def test_a_missing_file_is_named_without_the_systems_number(tmp_path):
    arguments = ["init", str(tmp_path / "s"), "--protocol", "verdict", "--items", "none.jsonl"]

    assert refused(CliRunner().invoke(app, arguments)) == "none.jsonl: No such file or directory"


@pytest.mark.parametrize(
    ("toml", "told"),
    [
        (b'name = "\xfc"', "p.toml, byte 8: not UTF-8"),
        (b"a = " + b"[" * 100_000, "not TOML 1.0: maximum recursion depth exceeded"),
        (b"a = 1e999999999999999999999", "not TOML 1.0: [<class 'decimal.InvalidOperation'>]"),
        (b"a = " + b"1" * 5000, "not TOML 1.0: Exceeds the limit (4300 digits)"),
    ],
)
def test_a_protocol_that_is_no_toml_is_refused(tmp_path, toml, told):
    path = tmp_path / "p.toml"
    path.write_bytes(toml)

    line = refused(CliRunner().invoke(app, ["init", str(tmp_path / "s"), "--protocol", str(path)]))

    assert told in line


@pytest.fixture
def study(tmp_path):
    """A drafted study of four items at a simulated judge."""
    folder = tmp_path / "study"
    arguments = ["init", str(folder), "--protocol", "ranking", "--n", "4"]
    assert CliRunner().invoke(app, arguments).exit_code == 0
    return folder


def edited(study, old, new):
    path = study / "registration.toml"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


def problems(study):
    """Return what `prereg check` lists; a freeze then refuses too, and writes nothing."""
    result = CliRunner().invoke(app, ["prereg", "check", str(study)])
    frozen = CliRunner().invoke(app, ["prereg", "freeze", str(study)])
    assert (result.exit_code, frozen.exit_code) == (1, 2), result.output + frozen.output
    assert not (study / "frozen").exists()
    return [line for line in result.stdout.splitlines() if line.startswith("problem: ")]


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("embedded:stable", "embedded:none", "endpoints[0].base_url: 'embedded:none': no scenario"),
        ("repeats = 2", "repeats = 1000000000", "schedule.repeats: found 1000000000"),
        ("repeats = 2", "repeats = 1e5000", "schedule.repeats: found 1E+5000"),
        ("days = 1", "days = 90000\nrepeats = 90000", "schedule: about 32400000000 calls"),
        ("days = 1", 'days = 1\nmin_gap = "99999999999999d"', "longer than a clock can count"),
        ('"items.jsonl"', '"a\\u0000b"', "battery.file: 'a\\x00b': embedded null byte"),
    ],
)
def test_a_registration_that_no_run_could_keep_is_refused(study, old, new, told):
    """Plans of a thousand million calls once filled the memory; the others passed, or crashed."""
    if "\nrepeats" in new:
        edited(study, "repeats = 2", "# ")
    edited(study, old, new)

    (problem,) = problems(study)

    assert told in problem


def test_init_refuses_an_embedded_judge_there_is_none_of(tmp_path):
    arguments = ["init", str(tmp_path / "s"), "--protocol", "ranking"]

    told = refused(CliRunner().invoke(app, [*arguments, "--base-url", "embedded:none"]))

    assert told.startswith("--base-url: embedded:none: no scenario 'none'; one of ")


def in_a_process(arguments, **streams):
    """Run the command line as a shell would; stdout is what `streams` says."""
    command = [sys.executable, "-m", "judgeaudit", *map(str, arguments)]
    return subprocess.run(command, stderr=subprocess.PIPE, text=True, timeout=120, **streams)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full on this system")
@pytest.mark.parametrize("form", [(), ("--json",)], ids=["lines", "json"])
def test_a_full_disk_under_stdout_is_one_line_and_no_answer(tmp_path, form):
    """With --json it was once a traceback and exit 1, which means "the answer is no"."""
    path = tmp_path / "t.csv"
    path.write_text(HEAD + "a,1,1\na,2,1\n")

    with open("/dev/full", "w") as full:
        found = in_a_process(["analyze", path, *SCORE, *form], stdout=full)

    assert found.returncode == 2
    assert found.stderr == "error: [Errno 28] No space left on device\n"


@pytest.mark.skipif(sys.platform == "win32", reason="needs a POSIX shell")
def test_a_closed_stdout_is_no_fault(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(HEAD + "a,1,1\na,2,1\n")
    line = shlex.join([sys.executable, "-m", "judgeaudit", "analyze", str(path), *SCORE])

    found = subprocess.run(["sh", "-c", f"{line} >&-"], capture_output=True, text=True)

    assert (found.returncode, found.stderr) == (0, "")


def test_a_part_without_a_valid_verdict_has_no_agreement(tmp_path):
    """Empty answers that equal each other once read as a flip rate of 0 and an AC1 of 1."""
    rows = [f"i{i},{k},{'' if i < 4 else 'A'},{i // 4}\n" for i in range(8) for k in (1, 2)]
    path = tmp_path / "t.csv"
    path.write_text("item,run,score,part\n" + "".join(rows))

    text = analyze(path, *VERDICT, "--by", "part").stdout
    empty, full = text.split("[part=1]")

    assert "verdict changes between two runs: undefined, no pair has two valid readings" in empty
    assert "Gwet's AC1: undefined" in empty
    assert "an answer of its own: undefined, no valid verdict" in empty
    assert "possible cache" not in empty
    assert "no disagreement" not in empty
    assert "verdict changes between two runs: 0  (0 of 4 items" in full


def test_a_majority_of_invalid_verdicts_is_warned_of(tmp_path):
    """46 of 48 readings are empty: the two that are left agree, and so do 23 empty pairs."""
    path = tmp_path / "t.csv"
    rows = (f"i{i},{k},{'' if i else 'A'}\n" for i in range(24) for k in (1, 2))
    path.write_text(HEAD + "".join(rows))

    text = analyze(path, *VERDICT).stdout

    assert "missing: 46 of 48 readings (empty 46)" in text
    assert "warning: most verdicts are invalid" in text
    assert "verdict changes between two runs: 0  (0 of 1 items" in text
