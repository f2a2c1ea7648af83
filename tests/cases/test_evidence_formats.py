"""Evidence outlives the code: another version is never called tampering (case R8)."""

import dataclasses
import json
import shutil
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from judgeaudit.canonical import canonical_bytes, digest_of
from judgeaudit.cli import app, commands
from judgeaudit.evidence.formats import catalogue
from judgeaudit.evidence.formats.spec import Column
from judgeaudit.evidence.log import records
from judgeaudit.model import Attempt

commands.register(app)
OLD = Path(__file__).parents[1] / "evidence" / "0.1"


def call(*arguments, code=0):
    found = CliRunner().invoke(app, [*map(str, arguments)])
    assert found.exit_code == code, found.output
    return found


def made(root):
    call("init", root, "--protocol", "verdict", "--n", "3")
    call("prereg", "freeze", root)
    call("run", root, "--all")
    return root


@pytest.fixture(scope="module")
def sealed(tmp_path_factory):
    """A small study that today's version froze, ran and analysed."""
    root = made(tmp_path_factory.mktemp("formats") / "study")
    call("analyze", root)
    return root


@pytest.fixture
def copy(sealed, tmp_path):
    return shutil.copytree(sealed, tmp_path / "study", copy_function=shutil.copyfile)


@dataclasses.dataclass(frozen=True)
class Later(Attempt):
    """An attempt with one more optional field, as a later version may have."""

    carrier: str | None = "pigeon"


@pytest.fixture
def later(monkeypatch):
    """A program whose log has one more optional column, and a number of its own: 9."""
    *columns, previous, row = catalogue.TODAY.attempts
    column = Column("carrier", pa.string(), "How the bytes went.")
    grown = dataclasses.replace(
        catalogue.TODAY,
        number=9,
        attempt=(*catalogue.TODAY.attempt, "carrier"),
        attempts=(*columns, column, previous, row),
    )
    monkeypatch.setattr(catalogue, "TODAY", grown)
    monkeypatch.setattr(Attempt, "carrier", "pigeon", raising=False)
    monkeypatch.setattr(records, "Attempt", Later)


@pytest.mark.parametrize("name", sorted(path.name for path in OLD.iterdir() if path.is_dir()))
def test_a_reader_with_one_more_column_verifies_what_0_1_sealed(name, later):
    """Each study of 0.1 is read by 0.1's lists; today's have grown and moved on to number 9."""
    locks = sorted((OLD / name).glob("**/frozen/lock.json"))
    roots = [path.parents[1] for path in locks if "amendments" not in path.parts]

    assert roots
    for root in roots:
        call("verify", root)


def test_a_new_study_is_written_with_the_column_and_verifies(later, tmp_path):
    root = made(tmp_path / "new")

    call("verify", root)
    table = pq.read_table(root / "log" / "sealed" / "d1w1" / "attempts.parquet")
    assert set(table["carrier"].to_pylist()) == {"pigeon"}
    assert table.schema.metadata[b"judgeaudit.schema"] == b"log/9"


def test_what_a_later_version_sealed_is_another_version_and_not_altered(
    later, tmp_path, monkeypatch
):
    """The same study read by the program that does not know number 9: exit 3, who wrote it."""
    root = made(tmp_path / "new")
    monkeypatch.undo()

    found = call("verify", root, code=3)

    assert "format judgeaudit-run/9, written by judgeaudit 0." in found.stdout
    assert "this is not what it was" not in found.stderr


def test_a_lock_of_a_later_version_is_told_by_both_verifies(copy):
    """Frozen by a program that numbers lock and tables 7, each file as that program wrote it."""
    folder = copy / "frozen"
    for name in ("plan", "bodies"):
        path = folder / f"{name}.parquet"
        table = pq.read_table(path).replace_schema_metadata({"schema": f"judgeaudit/{name}/7"})
        pq.write_table(table, path)
    path = folder / "lock.json"
    lock = {**json.loads(path.read_bytes()), "schema": "judgeaudit/lock/7"}
    path.write_bytes(canonical_bytes(lock))

    for command in (["verify"], ["prereg", "verify"], ["status"]):
        found = call(*command, copy, code=3)
        assert "format judgeaudit/lock/7, written by judgeaudit 0." in found.output


def test_a_lock_whose_number_alone_was_changed_was_edited(copy):
    """The tables beside it still say the number that was frozen."""
    path = copy / "frozen" / "lock.json"
    path.write_bytes(path.read_bytes().replace(b"judgeaudit/lock/2", b"judgeaudit/lock/7"))

    assert "the lock was edited" in call("verify", copy, code=1).stdout


def test_a_manifest_whose_number_alone_was_changed_was_edited(copy):
    path = copy / "log" / "sealed" / "d1w1" / "manifest.json"
    path.write_bytes(path.read_bytes().replace(b"judgeaudit-run/2", b"judgeaudit-run/7"))

    assert "its format is not that of attempts.parquet" in call("verify", copy, code=1).stdout


def test_results_of_another_format_are_told(copy):
    path = copy / "results" / "manifest.json"
    document = {**json.loads(path.read_bytes()), "format": "judgeaudit-files/5"}
    document.pop("content_sha256")
    document["content_sha256"] = str(digest_of(document))
    path.write_bytes(canonical_bytes(document) + b"\n")

    assert "judgeaudit-files/5" in call("verify", copy, code=3).stdout


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b'{"format":"judgeaudit-run/2","number":' + b"1" * 30 + b"}\n", "beyond 2^53"),
        (b'{"number":NaN}\n', "NaN is no JSON number"),
        (b'{"number":1,"number":2}\n', "key 'number' occurs twice"),
        (b"[" * 100_000, "nested too deep"),
        (b"\xff\xfe", "not UTF-8 at byte 0"),
    ],
)
@pytest.mark.parametrize(
    "name", ["log/sealed/d1w1/manifest.json", "frozen/lock.json", "results/manifest.json"]
)
def test_a_file_that_is_no_plain_json_is_named_in_one_line(copy, name, data, said):
    """case H11: verify names it and exits 1; a command that reads it exits 2, in one line."""
    (copy / name).write_bytes(data)

    found = call("verify", copy, code=1)
    line = next(line for line in found.stdout.splitlines() if said in line)
    assert str(copy / name) in line

    if not name.startswith("results"):
        refused = call("status", copy, code=2).stderr
        assert str(copy / name) in refused
        assert "Traceback" not in refused


def test_a_released_format_is_not_replaced_by_todays():
    """Format 1 is 0.1's: 33 fields of an attempt, by hand from its list; today's is number 2."""
    assert catalogue.log_formats()[1] is catalogue.RELEASED[0]
    assert len(catalogue.log_formats()[1].attempt) == len(Attempt.__slots__) == 33
    assert catalogue.TODAY.number == 2
