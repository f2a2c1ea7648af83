"""The columns of the sealed parts and the page made from them."""

import dataclasses
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from judgeaudit import __version__
from judgeaudit.evidence.formats.catalogue import TODAY
from judgeaudit.evidence.log.schema import PARTS, VERSION, columns_markdown, schema
from judgeaudit.model import Attempt, PlannedCall, Value

PAGE = Path(__file__).parents[3] / "docs" / "log-schema.md"


def test_the_page_is_the_schema():
    """Made again with `python -m judgeaudit.evidence.log.schema > docs/log-schema.md`."""
    assert PAGE.read_text(encoding="utf-8") == columns_markdown()


@pytest.mark.parametrize("part", PARTS)
def test_every_column_has_a_sentence_of_its_own(part):
    sentences = [column.sentence for column in PARTS[part]]

    assert all(sentence.endswith(".") for sentence in sentences)
    assert len(set(sentences)) == len(sentences)


def names(cls):
    return {field.name for field in dataclasses.fields(cls)}


def test_attempts_have_all_that_an_attempt_says():
    columns = {column.name for column in PARTS["attempts.parquet"]}

    assert columns == names(Attempt) | {"previous_digest", "row_digest"}


def test_readings_have_the_calls_keys_and_the_values_fields():
    columns = {column.name for column in PARTS["readings.parquet"]}
    keys = names(PlannedCall) - {"derivation_sha256"}

    added = {"status", "reason", "detail", "attempt", "previous_digest", "row_digest"}
    assert columns == keys | names(Value) | added


def test_a_file_says_where_it_comes_from(kit, tmp_path):
    kit.collect(tmp_path, "d1w1", kit.plan())

    found = pq.read_schema(tmp_path / "sealed" / "d1w1" / "readings.parquet")
    assert found.metadata[b"judgeaudit.schema"].decode() == f"log/{VERSION}"
    assert found.metadata[b"judgeaudit.registration"].decode() == kit.LOCK
    assert found.metadata[b"judgeaudit.writer"].decode() == __version__
    assert found.metadata[b"judgeaudit.run"] == b"d1w1"
    sentence = found.field("mass").metadata[b"description"]
    assert sentence == b"Summed probability of the registered labels."


def test_a_schema_names_its_part_and_run():
    made = schema("readings.parquet", run="r", lock_digest="l", writer="w", log=TODAY)

    assert made.metadata[b"judgeaudit.part"] == b"readings.parquet"
