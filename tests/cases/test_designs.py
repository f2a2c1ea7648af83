"""Registrations, items and batteries: what `init` and `prereg check` say before money is spent."""

import json

import pyarrow.parquet as pq
import pytest

from judgeaudit.battery import KINDS, build_battery, items_to_bytes
from judgeaudit.endpoint.weights import SMOLLM2
from judgeaudit.errors import InputError
from judgeaudit.evidence.log.load import load_readings
from judgeaudit.study.check import check
from judgeaudit.study.init import init


@pytest.fixture
def study_of(tmp_path):
    """Make a study by `init` and add text to its registration; returns its folder."""

    def _study(extra="", protocol="choice", name="s", **options):
        root = tmp_path / name
        init(root, protocol, **options)
        path = root / "registration.toml"
        path.write_text(path.read_text() + extra)
        return root

    return _study


def said(root):
    return [str(problem) for problem in check(root).problems]


def gate(statistic, over="same_window", where=""):
    head = f'\n[[gates]]\nid = "g"\nstatistic = "{statistic}"\nover = "{over}"\n'
    return f"{head}at_most = 0.3\n{where}\n"


def test_a_where_that_never_occurs_names_the_values_there_are(study_of):
    """case R4: booleans in the items' meta; sorting True, False and gaps was a TypeError."""
    root = study_of(gate("flip_rate", where='where = { better_first = "maybe" }'), n=12)

    assert said(root) == ["gates[0].where.better_first: no item has 'maybe'; found: false, true"]


@pytest.mark.parametrize("value", ["false", "False"])
def test_a_boolean_is_named_as_json_or_as_python_writes_it(study_of, value):
    root = study_of(gate("flip_rate", where=f'where = {{ better_first = "{value}" }}'), n=24)

    assert said(root) == []


def test_a_where_of_an_unknown_column_names_the_columns(study_of):
    (problem,) = said(study_of(gate("flip_rate", where='where = { colour = "red" }'), n=12))

    assert problem.startswith("gates[0].where.colour: no such column or meta key; one of arm, ")


@pytest.mark.parametrize(
    ("statistic", "over", "needs"),
    [
        ("order_flip", "orders", "'order_flip' needs two ways of asking an item"),
        ("text_exact", "same_window", "'text_exact' reads text, the protocol gives category"),
    ],
)
def test_a_gate_that_the_plan_cannot_answer_is_refused(study_of, statistic, over, needs):
    """case R10."""
    found = said(study_of(gate(statistic, over), n=12))

    assert any(needs in problem for problem in found), found


def test_an_analysis_that_the_plan_cannot_answer_is_told(study_of):
    """case R10: `order_flip` in a score study was "undefined" after the money was spent."""
    root = study_of(protocol="score", n=4)
    path = root / "registration.toml"
    path.write_text(path.read_text().replace("analyses = [", 'analyses = ["order_flip", '))

    found = check(root)

    assert found.problems == ()
    notes = [note for note in found.notes if "order_flip" in note]
    assert any("needs two ways of asking an item" in note for note in notes), found.notes
    assert all(note.endswith("it will be undefined") for note in notes)


def test_what_the_plan_holds_is_not_told(study_of):
    """The defaults of every built-in protocol can be computed from its own battery."""
    for protocol in ("choice", "score", "verdict", "ranking", "label-pair", "memory-luck"):
        notes = check(study_of(protocol=protocol, name=protocol, n=4)).notes

        assert not [note for note in notes if "it will be undefined" in note], protocol


SUM = "Is this sum right, from 1 to 5? {question}"


def test_one_item_is_told_as_one_item(study_of, tmp_path):
    """case R5: two of "all 3 items" were the item's own controls."""
    (tmp_path / "one.jsonl").write_text('{"id": "a", "question": "1 + 1 = 2"}\n')
    (tmp_path / "p.txt").write_text(SUM)

    root = study_of(
        protocol="score", items=tmp_path / "one.jsonl", id="id", prompt=tmp_path / "p.txt"
    )

    assert said(root) == []
    assert "one item: no interval and no gate can rest on it" in check(root).notes


LLMBAR = [{"input": f"Say {n}", "output_1": f"{n}", "output_2": "no", "label": 1} for n in range(2)]


def test_items_of_other_fields_lead_to_a_prompt_of_ones_own(tmp_path):
    """case R6: LLMBar's rows have no `question`."""
    (tmp_path / "bar.json").write_text(json.dumps(LLMBAR))

    with pytest.raises(InputError) as error:
        init(
            tmp_path / "s",
            "verdict",
            items=tmp_path / "bar.json",
            candidates=("output_1", "output_2"),
        )

    assert "fields there: candidate_1, candidate_2, categories, input, label" in str(error.value)
    assert str(error.value).endswith("write a prompt that shows them: --prompt FILE")


def test_rows_without_named_candidates_lead_to_the_option(tmp_path):
    (tmp_path / "bar.json").write_text(json.dumps(LLMBAR))

    with pytest.raises(InputError, match="--candidates A,B; columns there: input, output_1"):
        init(tmp_path / "s", "ranking", items=tmp_path / "bar.json")


PROTOCOL_OF = {
    "traces": "label-pair",
    "rankings": "ranking",
    "slips": "ranking",
    "pairs": "verdict",
    "scores": "score",
    "worlds": "choice",
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_battery_file_is_read_by_init_with_all_it_holds(tmp_path, kind):
    """case S15: the study's items are the battery's bytes, also prefix and slips."""
    battery = build_battery(kind, 3, 7)
    (tmp_path / "b.jsonl").write_bytes(items_to_bytes(battery.items))

    init(tmp_path / "s", PROTOCOL_OF[kind], items=tmp_path / "b.jsonl")

    assert (tmp_path / "s" / "items.jsonl").read_bytes() == items_to_bytes(battery.items)
    assert f'kind = "{kind}"' in (tmp_path / "s" / "registration.toml").read_text()


@pytest.mark.parametrize(
    ("kind", "options"), [("rankings", {"prefix": 50}), ("slips", {"variants": 2})]
)
def test_a_batterys_options_come_along(tmp_path, kind, options):
    """case S15: `battery rankings --option prefix=50`, `battery slips --option variants=2`."""
    battery = build_battery(kind, 3, 7, **options)
    (tmp_path / "b.jsonl").write_bytes(items_to_bytes(battery.items))

    made = init(tmp_path / "s", "ranking", items=tmp_path / "b.jsonl", limit=2)

    assert made.items == 2
    assert (tmp_path / "s" / "items.jsonl").read_bytes() == items_to_bytes(battery.items[:2])


def test_rows_that_only_look_a_little_like_items_are_a_persons_own(tmp_path):
    """`id`, `group` and `task` are names that anybody may use."""
    row = {"id": "a", "group": "g", "task": "t", "question": "1+1", "answer": "2"}
    (tmp_path / "r.jsonl").write_text(json.dumps(row) + "\n")

    made = init(tmp_path / "s", "score", items=tmp_path / "r.jsonl", candidates=("answer",))

    item = json.loads((tmp_path / "s" / "items.jsonl").read_text())
    assert made.items == 1
    assert item["id"] == "row-1"


QUERY = "?api-version=2024-10-21&tier=b"


def test_a_registered_query_goes_with_every_request(study, run, recording, make_registration):
    """case R3, as Azure's addresses are: `run` refused what check, freeze and dry run took."""
    with recording.Recorder() as server:
        base = f"{server.base_url}/openai/deployments/d{QUERY}"
        frozen = study(make_registration(base), items=2)
        run(frozen, base=base)

        lines = {request.head.split(b"\r\n")[0] for request in server.requests}
    assert lines == {f"POST /openai/deployments/d/chat/completions{QUERY} HTTP/1.1".encode()}
    assert {row["status"] for row in load_readings(frozen.root / "log").to_pylist()} == {"ok"}
    url = pq.read_table(frozen.root / "frozen" / "bodies.parquet")["url"][0].as_py()
    assert url == f"{server.base_url}/openai/deployments/d/chat/completions{QUERY}"


@pytest.mark.parametrize(("extra", "refused"), [("", True), ("plain_http = true\n", False)])
def test_a_key_over_plain_http_is_refused_unless_registered(study_of, extra, refused):
    """case H8."""
    options = {"base_url": "http://example.invalid/v1", "model": "m", "n": 4}
    root = study_of(protocol="score", **options)
    path = root / "registration.toml"
    key = f'model = "m"\nkey_env = "SOME_KEY"\n{extra}'
    path.write_text(path.read_text().replace('model = "m"\n', key))

    told = [problem for problem in said(root) if "the key could be read on the way" in problem]

    assert bool(told) is refused


def test_the_local_judge_is_registered_by_the_name_that_its_replies_have(study_of):
    """case A12: the server was told another name, and the gate barred `other_model` after 52 calls.

    What the server itself answers is tested with it (tests/endpoint/test_local.py).
    """
    root = study_of(protocol="score", base_url="embedded:local", n=2)

    assert f'model = "{SMOLLM2.model}"' in (root / "registration.toml").read_text()
