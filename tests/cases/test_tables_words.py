"""One definition of "no answer" for every format, and words that a person may declare."""

import pandas as pd
import pytest

import judgeaudit
from judgeaudit.errors import InputError

FORMATS = ("csv", "tsv", "semicolon.csv", "utf16.csv", "bom.csv", "jsonl", "json", "parquet",
           "feather", "xlsx")  # fmt: skip
COLUMNS = ("--item", "item", "--repeat", "run", "--verdict", "verdict")


def pairs(*verdicts):
    """Items a, b, c ... with two verdicts each."""
    return [
        {"item": "abcdefgh"[n // 2], "run": n % 2 + 1, "verdict": v} for n, v in enumerate(verdicts)
    ]


def flips(part):
    found = {e["analysis"]: e for e in part["estimates"]}
    rate = found["flip_rate"]
    return rate["value"], rate["n"].get("items_that_flipped"), rate["n"]["items"]


@pytest.mark.parametrize("blank", ["", " ", "\t", "\u00a0", None])
@pytest.mark.parametrize("form", FORMATS)
def test_nothing_and_blanks_are_no_answer_in_every_format(tables, tmp_path, form, blank):
    """case T4: 4 of 6 missing; among the valid 1 of 1 item flips."""
    path = tables.write(tmp_path, form, pairs(blank, blank, blank, blank, "A", "B"))

    (part,) = tables.told("analyze", path, *COLUMNS)["parts"]

    assert part["excluded"] == {"empty": 4}
    assert flips(part) == (1.0, 1, 1)


WORDS = pairs("None", "NA", "N/A", "A", "A", "A", "B", "A")


@pytest.mark.parametrize("form", FORMATS)
def test_words_for_no_answer_are_told_and_missing_in_every_format(tables, tmp_path, form):
    """case T5: None, NA and N/A are missing, each counted, and the way to say otherwise."""
    document = tables.told("analyze", tables.write(tmp_path, form, WORDS), *COLUMNS)

    assert document["parts"][0]["excluded"] == {"empty": 3}
    told = (
        "column 'verdict' holds 'None' 1, 'NA' 1, 'N/A' 1: taken for no answer; "
        "--label None,NA,N/A makes them labels"
    )
    assert told in document["notes"]
    assert "labels seen: A 4, B 1" in document["notes"]


@pytest.mark.parametrize("form", FORMATS)
def test_words_declared_labels_are_labels_in_every_format(tables, tmp_path, form):
    """case T5 the other way: only NA stays missing once None and N/A are labels."""
    path = tables.write(tmp_path, form, WORDS)

    document = tables.told("analyze", path, *COLUMNS, "--label", "None,N/A")

    assert document["parts"][0]["excluded"] == {"empty": 1}
    assert "labels seen: A 4, None 1, N/A 1, B 1" in document["notes"]
    assert any("holds 'NA' 1: taken for no answer" in note for note in document["notes"])


@pytest.mark.parametrize("form", FORMATS)
def test_words_declared_missing_are_no_answer_and_told_no_more(tables, tmp_path, form):
    rows = pairs("-", "A", "?", "B", "A", "A")

    document = tables.told(
        "analyze", tables.write(tmp_path, form, rows), *COLUMNS, "--missing", "-,?"
    )

    assert document["parts"][0]["excluded"] == {"empty": 2}
    assert not any("taken for" in note for note in document["notes"])


@pytest.mark.parametrize("form", FORMATS)
def test_a_label_of_a_failure_is_named_and_can_be_declared(tables, tmp_path, form):
    """case S6, its reading: 4 of 6 readings are "error"; declared so they are none."""
    path = tables.write(tmp_path, form, pairs("error", "error", "error", "error", "A", "B"))

    named = tables.told("analyze", path, *COLUMNS)
    declared = tables.told("analyze", path, *COLUMNS, "--invalid", "error")

    told = (
        "labels: 'error' (4 readings) may tell of a failure and not of a verdict; "
        "--invalid error counts it as no reading"
    )
    assert told in named["notes"]
    assert named["parts"][0]["excluded"] == {}
    assert declared["parts"][0]["excluded"] == {"unparsed": 4}
    assert flips(declared["parts"][0]) == (1.0, 1, 1)
    assert not any("failure" in note for note in declared["notes"])


@pytest.mark.parametrize("form", FORMATS)
def test_labels_that_differ_by_blanks_case_or_form_are_named(tables, tmp_path, form):
    """case T10, and its neighbours: a full-width A and a decomposed e with an accent."""
    rows = pairs("A", "A ", "B", "b", "tie", "Tie", "A", "Ａ", "é", "e\u0301")

    document = tables.told("analyze", tables.write(tmp_path, form, rows), *COLUMNS)

    alike = [note for note in document["notes"] if note.startswith("labels that look alike")]
    assert alike == [
        "labels that look alike and are kept apart: 'A', 'A ', 'Ａ'",
        "labels that look alike and are kept apart: 'B', 'b'",
        "labels that look alike and are kept apart: 'tie', 'Tie'",
    ]
    assert (
        "labels seen: A 2, 'A ' 1, B 1, b 1, tie 1, Tie 1, Ａ 1, é 1, e\u0301 1"
        in (document["notes"])
    )


def test_a_label_of_gold_that_looks_like_an_answers_is_named(tables, tmp_path):
    """Gold says a, the judge A: agreement with gold would be 0 without a word."""
    rows = [row | {"gold": "a"} for row in pairs("A", "A", "B", "A")]

    document = tables.told(
        "analyze", tables.write(tmp_path, "csv", rows), *COLUMNS, "--gold", "gold"
    )

    assert "labels that look alike and are kept apart: 'A', 'a'" in document["notes"]


def test_the_same_rules_hold_for_data_frames():
    """case T4, T5, S6: None, NaN, pd.NA and the words; declared by keywords."""
    rows = [None, float("nan"), pd.NA, "NA", "error", "A", "A", "B"]
    frame = pd.DataFrame(pairs(*rows))

    def excluded(**words):
        found = judgeaudit.analyze_table(
            frame, item="item", repeat="run", verdict="verdict", **words
        )
        return found.parts[0].excluded

    assert excluded() == {"empty": 4}
    assert excluded(label="NA") == {"empty": 3}
    assert excluded(invalid=["error"]) == {"empty": 4, "unparsed": 1}
    assert excluded(missing=["B", "error"]) == {"empty": 6}


def test_a_word_declared_both_ways_is_refused(tables, tmp_path):
    path = tables.write(tmp_path, "csv", WORDS)

    line = tables.refused("analyze", path, *COLUMNS, "--label", "NA", "--missing", "NA")

    assert line == "analyze: --label: 'NA' is declared both ways; choose one"
    with pytest.raises(InputError, match="'NA' is declared both ways"):
        judgeaudit.analyze_table(path, verdict="verdict", label=["NA"], invalid=["NA"])


def test_export_reads_by_the_same_words(tables, tmp_path):
    """case S6 in `export`: the readings carry the reason, and no label of a failure."""
    path = tables.write(tmp_path, "csv", pairs("error", "NA", "A", "B"))
    out = tmp_path / "out"

    result = tables.run("export", path, *COLUMNS, "--invalid", "error", "--out", out)

    frame = pd.read_parquet(out / "readings.parquet")
    assert result.exit_code == 0
    assert frame["reason"].fillna("-").tolist() == ["unparsed", "empty", "-", "-"]
    assert frame["category"].fillna("-").tolist() == ["-", "-", "A", "B"]
