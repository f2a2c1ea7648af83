"""`gate TABLE`: rows are held against the frozen plan and read by the registered readout."""

import json

import pandas as pd
import pytest

from judgeaudit.design.lock import Facts
from judgeaudit.evidence.lock.files import freeze

FORMATS = ("csv", "semicolon.csv", "utf16.csv", "jsonl", "json", "parquet", "feather", "xlsx")

PAIRWISE = """
name = "verdict"
version = "1"
readout = "verdict"
[options]
categories = ["A", "B", "tie"]
names = []
[prompt]
user = "Which is better? {pair}\\nAnswer with exactly one of: A, B, tie"
[decoding]
max_tokens = 8
"""

SCALE = """
name = "score"
version = "1"
readout = "score"
[options]
scale = { low = 1, high = 5 }
[prompt]
user = "How good is it, 1 to 5? {pair}"
[decoding]
max_tokens = 8
"""

RANKED = """
name = "ranking"
version = "1"
readout = "ranking"
[prompt]
user = "Rank these as JSON: {candidates}"
[decoding]
max_tokens = 64
"""


def registration(gate, claim, schedule="repeats = 2"):
    return f"""
[study]
id = "small"
title = "A small study"
authors = ["N. N."]
claim = "{claim}"
[[endpoints]]
id = "judge"
api = "openai.chat"
base_url = "embedded:stable"
model = "judge-1"
[schedule]
seed = 1
cap = 100000
{schedule}
[[gates]]
id = "g"
{gate}
"""


FLIPS = 'statistic = "flip_rate"\nover = "same_window"\nat_most = 0.05'
LOOSE = FLIPS.replace("0.05", "0.20")
NOISE = 'statistic = "noise"\nover = "same_window"\nat_most = 1'
EXACT = 'statistic = "number_exact"\nover = "same_window"\nat_least = 0.5'
SAME = 'statistic = "ranking_exact"\nover = "same_window"\nat_least = 0.5'


@pytest.fixture
def study(tmp_path):
    """Freeze a study: `study(protocol, gate, ids, claim)` returns its folder."""

    def make(protocol=PAIRWISE, gate=FLIPS, ids=(), claim="verdict", more=None, **options):
        root = tmp_path / "study"
        root.mkdir()
        (root / "registration.toml").write_text(registration(gate, claim, **options))
        (root / "protocol.toml").write_text(protocol)
        rows = [
            {"id": i, "group": i, "task": i, "fields": {"pair": f"about {i}"}, **(more or {})}
            for i in ids
        ]
        (root / "items.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        freeze(root, Facts("2026-01-01T00:00:00Z", "0", {}))
        return root

    return make


def x(count):
    return [f"x{n}" for n in range(1, count + 1)]


def verdicts(ids, second=lambda n, first: first):
    """Two repeats an item, A and B in turn; the second as told."""
    rows = []
    for n, name in enumerate(ids):
        first = "AB"[n % 2]
        rows += [
            {"item": name, "repeat": 0, "verdict": first},
            {"item": name, "repeat": 1, "verdict": second(n, first)},
        ]
    return rows


def exact(document):
    """Return the gate's estimate as the fraction that it is."""
    return document["gates"][0]["held"][0]["estimate"]["exact"]


def gate(tables, path, root, *options, code):
    return tables.told("gate", path, "--registration", root, *options, code=code)


NAMED = ("--item", "item", "--repeat", "repeat", "--value", "verdict")


@pytest.mark.parametrize("form", FORMATS)
def test_a_label_that_is_no_registered_category_is_no_reading(study, tables, tmp_path, form):
    """case T1: x1 is A, A; all 149 others are ERROR twice: 298 of 300 readings are invalid."""
    root = study(ids=x(150))
    rows = [
        {"item": name, "repeat": k, "verdict": "A" if name == "x1" else "ERROR"}
        for name in x(150)
        for k in range(2)
    ]

    document = gate(tables, tables.write(tmp_path, form, rows), root, *NAMED, code=3)

    assert document["gates"][0]["outcome"] == "inconclusive"
    assert document["findings"][-1].startswith("298 answers are no reading by the registered")
    assert "'ERROR' (unparsed: no category: ERROR), 298 times" in document["findings"][-1]


@pytest.mark.parametrize("form", FORMATS)
def test_items_that_the_plan_does_not_hold_are_refused_by_name(study, tables, tmp_path, form):
    """case T2: 200 rows of 100 items other1..other100 against a plan of x1..x150."""
    root = study(ids=x(150))
    path = tables.write(tmp_path, form, verdicts([f"other{n}" for n in range(1, 101)]))

    line = tables.refused("gate", path, "--registration", root, *NAMED)

    assert line == (
        f"{path.name}: column 'item': 100 items that the plan does not hold: 'other1', 'other2', "
        "'other3', 'other4' and 96 more (200 of 200 rows); the plan has 'x1', 'x2', 'x3', 'x4' "
        "and 146 more; leave such rows out, or register them"
    )


@pytest.mark.parametrize(
    ("column", "value", "told"),
    [
        ("repeat", 2, "1 repeats that the plan does not hold: '2'"),
        ("window", "d2w1", "1 windows that the plan does not hold: 'd2w1'"),
        ("condition", "loaded", "1 conditions that the plan does not hold: 'loaded'"),
        ("endpoint", "other", "1 endpoints that the plan does not hold: 'other'"),
        ("arm", "swapped", "1 arms that the plan does not hold: 'swapped'"),
        ("draw", 1, "1 draws that the plan does not hold: '1'"),
        ("stage", 2, "1 stages that the plan does not hold: '2'"),
    ],
)
def test_any_other_key_beside_the_plan_is_refused_by_name(
    study, tables, tmp_path, column, value, told
):
    """case T2, its neighbours: one row of four says something that was not planned."""
    there = {"repeat": 0, "window": "d1w1", "condition": "default", "endpoint": "judge",
             "arm": "-", "draw": 0, "stage": 1}  # fmt: skip
    root = study(ids=x(2))
    rows = [row | {column: row.get(column, there[column])} for row in verdicts(x(2))]
    rows[-1][column] = value

    line = tables.refused("gate", tables.write(tmp_path, "csv", rows), "--registration", root)

    assert told in line


def test_repeats_numbered_from_one_are_told_what_the_plan_has(study, tables, tmp_path):
    root = study(ids=x(2))
    rows = [row | {"repeat": row["repeat"] + 1} for row in verdicts(x(2))]

    line = tables.refused("gate", tables.write(tmp_path, "csv", rows), "--registration", root)

    assert "1 repeats that the plan does not hold: '2' (2 of 4 rows); the plan has '0', '1'" in line


@pytest.mark.parametrize("form", FORMATS)
def test_a_row_that_stands_twice_names_both(study, tables, tmp_path, form):
    root = study(ids=x(2))
    rows = verdicts(x(2))
    path = tables.write(tmp_path, form, [*rows, rows[1]])

    line = tables.refused("gate", path, "--registration", root)

    first = 1 if form in ("jsonl", "json", "parquet", "feather") else 2
    assert f"row {4 + first}: item 'x1', repeat '1' stands already in row {1 + first}" in line


@pytest.mark.parametrize("form", FORMATS)
def test_absent_planned_readings_stand_in_every_denominator(study, tables, tmp_path, form):
    """case G6: 40 of 60 items, no flip: the 20 absent could all have flipped, .333 > .20."""
    root = study(ids=x(60), gate=LOOSE)
    path = tables.write(tmp_path, form, verdicts(x(40)))

    document = gate(tables, path, root, code=3)

    assert document["gates"][0]["outcome"] == "inconclusive"
    assert document["asked"]["calls"] == 80
    assert document["asked"]["planned"] == 120
    assert document["findings"][-1] == (
        "40 of 120 planned readings are not in the table and count as invalid; 20 of 60 items are "
        "not there at all: 'x41', 'x42', 'x43', 'x44' and 16 more"
    )


@pytest.mark.parametrize("form", FORMATS)
def test_the_whole_plan_passes_in_every_format(study, tables, tmp_path, form):
    """The control of the cases above: 60 of 60 items, 2 of 60 flip, 90 % bound .101 below .20."""
    root = study(ids=x(60), gate=LOOSE)
    rows = verdicts(x(60), lambda n, first: "tie" if n < 2 else first)

    document = gate(tables, tables.write(tmp_path, form, rows), root, code=0)

    assert exact(document) == "1/30"
    assert document["findings"] == (["columns are separated by ';'"] if "semi" in form else [])


T3 = [
    ("a", 0, "3"), ("a", 1, "1e300"), ("b", 0, "inf"), ("b", 1, "2"),
    ("c", 0, "4"), ("c", 1, "4"), ("d", 0, "NA"), ("d", 1, "2"),
]  # fmt: skip


@pytest.mark.parametrize("given", [NOISE, EXACT], ids=["noise", "number_exact"])
@pytest.mark.parametrize("form", FORMATS)
def test_numbers_off_the_scale_are_no_readings(study, tables, tmp_path, form, given):
    """case T3: 1e300 and inf are out of scale, NA is empty: one item of four has both repeats."""
    root = study(SCALE, given, ["a", "b", "c", "d"], "score")
    rows = [{"item": i, "repeat": k, "score": s} for i, k, s in T3]

    document = gate(tables, tables.write(tmp_path, form, rows), root, "--value", "score", code=3)

    told = document["findings"][-1]
    assert told.startswith("2 answers are no reading by the registered readout")
    assert "'1e300' (out_of_scale" in told
    assert "'inf' (out_of_scale" in told
    excluded = document["gates"][0]["held"][0]["estimate"]["excluded"]
    assert (excluded["out_of_scale"], excluded["empty"]) == (2, 1)


def test_numbers_of_typed_columns_are_held_against_the_scale_too(study, tables, tmp_path):
    """case T3 as doubles: Parquet's 1e300 and inf, and a null for NA."""
    root = study(SCALE, NOISE, ["a", "b", "c", "d"], "score")
    values = [3.0, 1e300, float("inf"), 2.0, 4.0, 4.0, None, 2.0]
    rows = [{"item": i, "repeat": k, "score": v} for (i, k, _), v in zip(T3, values, strict=True)]

    document = gate(tables, tables.write(tmp_path, "parquet", rows), root, code=3)

    assert "'1e+300' (out_of_scale" in document["findings"][-1]
    assert "'inf' (out_of_scale" in document["findings"][-1]


def test_a_step_off_the_scale_and_words_are_told_with_their_reason(study, tables, tmp_path):
    """case T9 in the gate: 1_0 and a full-width 5 are no numbers, 4.5 no whole one."""
    root = study(SCALE, EXACT, ["a", "b", "c"], "score")
    cells = ["1_0", "4", "５", "4", "4.5", "4.0"]
    rows = [{"item": "abc"[n // 2], "repeat": n % 2, "score": cells[n]} for n in range(6)]

    document = gate(tables, tables.write(tmp_path, "csv", rows), root, code=3)

    assert document["findings"][-1].startswith("3 answers are no reading")


def test_decimal_commas_are_read_where_nothing_else_is_possible(study, tables, tmp_path):
    """case T11 in the gate: 2,5 twice for each of thirty items is one number repeated exactly."""
    protocol = SCALE.replace("high = 5 }", 'high = 5, step = 0.5 }\ntype = "float"')
    root = study(protocol, EXACT, x(30), "score")
    path = tmp_path / "t.csv"
    rows = [f"x{n};{k};{2 + n % 2},5" for n in range(1, 31) for k in range(2)]
    path.write_text("item;repeat;score\n" + "\n".join(rows) + "\n")

    document = gate(tables, path, root, code=0)

    assert exact(document) == "1/1"


def test_a_registered_category_is_one_even_if_it_reads_like_no_answer(study, tables, tmp_path):
    """case T5 in the gate: the registration declares None; what it does not name is empty."""
    root = study(PAIRWISE.replace('"tie"]', '"None"]'), ids=x(30))
    rows = verdicts(x(30), lambda n, first: first)
    for row in rows[:10]:
        row["verdict"] = "None"
    rows[-1]["verdict"] = "NA"

    document = gate(tables, tables.write(tmp_path, "csv", rows), root, code=3)

    assert document["findings"] == []
    assert document["gates"][0]["outcome"] == "inconclusive"


CANDIDATES = {"candidates": [{"id": i, "text": f"text {i}"} for i in "abc"]}


@pytest.mark.parametrize("cell", ["b > a > c", "b,a,c", '["b", "a", "c"]', "b|a|c"])
def test_rankings_are_read_in_each_documented_form(study, tables, tmp_path, cell):
    root = study(RANKED, SAME, x(20), "ranking", CANDIDATES)
    rows = [
        {"item": name, "repeat": k, "ranking": cell if n % 2 else "a > b > c"}
        for n, name in enumerate(x(20))
        for k in range(2)
    ]

    document = gate(tables, tables.write(tmp_path, "csv", rows), root, code=0)

    assert exact(document) == "1/1"


@pytest.mark.parametrize("cell", ["1. b\n2. a\n3. c", "b a c", "b > a", "b > a > x", "b = a > c"])
def test_a_ranking_of_anything_else_is_no_reading(study, tables, tmp_path, cell):
    """case T6 in the gate: what is no permutation of the item's candidates is counted."""
    root = study(RANKED, SAME, x(20), "ranking", CANDIDATES)
    rows = [{"item": name, "repeat": k, "ranking": cell} for name in x(20) for k in range(2)]

    document = gate(tables, tables.write(tmp_path, "csv", rows), root, code=3)

    assert "40 answers are no reading" in document["findings"][-1]
    assert document["bars"][0]["kind"] == "no_reading"


def test_a_column_that_tells_planned_calls_apart_is_asked_for(study, tables, tmp_path):
    """Two windows are planned; rows without a window could belong to either."""
    root = study(ids=x(2), schedule='repeats = 2\nwindows_per_day = 2\nmin_gap = "1h"')

    line = tables.refused(
        "gate", tables.write(tmp_path, "csv", verdicts(x(2))), "--registration", root
    )

    assert "row 2: item 'x1', repeat '0' is planned 2 times, and no column says which" in line
    assert "add a column 'window' ('d1w1', 'd1w2')" in line


def test_identifiers_of_the_plan_are_text(study, tables, tmp_path):
    """case T7 in the gate: 007 is planned, 7 is not; as a number a workbook cannot mean 007."""
    root = study(ids=["007", "008"])
    text = tables.write(tmp_path, "csv", verdicts(["007", "008"]))
    typed = tables.write(tmp_path, "parquet", verdicts([7, 8]))

    document = tables.told("gate", text, "--registration", root, code=3)

    assert document["asked"]["calls"] == 4
    assert "2 items that the plan does not hold: '7', '8'" in tables.refused(
        "gate", typed, "--registration", root
    )


def test_a_registration_that_is_not_frozen_has_the_plan_that_it_would_freeze(
    study, tables, tmp_path
):
    root = study(ids=x(60), gate=LOOSE)
    for name in ("lock.json", "plan.parquet", "bodies.parquet", "registration.toml",
                 "protocol.toml", "items.jsonl"):  # fmt: skip
        (root / "frozen" / name).chmod(0o644)
        (root / "frozen" / name).unlink()
    (root / "frozen").rmdir()

    told = gate(tables, tables.write(tmp_path, "csv", verdicts(x(60))), root, code=0)
    line = tables.refused(
        "gate", tables.write(tmp_path, "csv", verdicts(["y"]), "u"), "--registration", root
    )

    assert told["asked"]["planned"] == 120
    assert "1 items that the plan does not hold: 'y'" in line


def test_a_status_of_another_meaning_is_refused_by_its_row(study, tables, tmp_path):
    root = study(ids=x(2))
    rows = [row | {"status": 200} for row in verdicts(x(2))]

    line = tables.refused("gate", tables.write(tmp_path, "csv", rows), "--registration", root)

    assert 'row 2: status \'200\'; give "ok" or "invalid", or leave the column out' in line


def test_a_row_that_is_ok_by_its_status_is_read_all_the_same(study, tables, tmp_path):
    """case T1, its neighbour: a column `status` does not make ERROR a category."""
    root = study(ids=x(20))
    rows = [row | {"verdict": "ERROR", "status": "ok"} for row in verdicts(x(20))]

    document = gate(tables, tables.write(tmp_path, "csv", rows), root, code=3)

    assert document["bars"][0]["kind"] == "no_reading"
    assert "unparsed 40" in document["bars"][0]["says"]


def test_a_frames_index_is_no_row_of_the_plan(study, tables, tmp_path):
    """pandas writes its index as a column without a name: nobody asked for it."""
    path = tmp_path / "t.csv"
    pd.DataFrame(verdicts(x(60))).to_csv(path)

    assert gate(tables, path, study(ids=x(60), gate=LOOSE), code=0)["outcome"] == "pass"


def test_a_table_without_any_column_of_the_plan_is_one_line(tmp_path):
    """Columns question, rep, mark: none is the item, and none was named."""
    from typer.testing import CliRunner

    from judgeaudit.cli import app, commands

    commands.register(app)
    invoke = CliRunner().invoke
    study, table = tmp_path / "study", tmp_path / "answers.csv"
    invoke(app, ["init", str(study), "--protocol", "verdict", "--n", "8"])
    table.write_text("question,rep,mark\na,1,3\na,2,4\n")
    done = invoke(app, ["gate", str(table), "--registration", str(study)])

    assert done.exit_code == 2
    assert len(done.stderr.splitlines()) == 1
    assert "answers.csv" in done.stderr
