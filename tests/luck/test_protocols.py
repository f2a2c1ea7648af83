"""The shipped tables of cells: each cell does what its name says, in both protocols."""

import tomllib

import pytest

from judgeaudit.analysis.luck.named import parse_cell
from judgeaudit.design.builtin_protocols import protocol_source
from judgeaudit.design.protocol import ProtocolDocument

NAMES = ("memory-luck", "memory-luck-writing")
ROLES = {"unlucky": "better", "lucky": "worse"}
ENDINGS = {"F": "failed", "S": "succeeded"}


def protocol(name):
    return ProtocolDocument.model_validate(tomllib.loads(protocol_source(name).data.decode()))


def cells(stage):
    return [
        pytest.param(c, id=f"{n}:{c.name}") for n in NAMES for c in protocol(n).stages[stage].cells
    ]


@pytest.mark.parametrize(("name", "lessons", "choices"), [(NAMES[0], 4, 28), (NAMES[1], 5, 26)])
def test_the_table_has_its_size(name, lessons, choices):
    writing, choosing = protocol(name).stages

    assert (len(writing.cells), len(choosing.cells)) == (lessons, choices)


@pytest.mark.parametrize("lesson", cells(0))
def test_a_lesson_is_written_on_its_outcome_by_the_instruction_for_it(lesson):
    role, letter, *variant = lesson.name.split(".")

    assert lesson.fields == {"outcome": f"@outcome_{role}_{ENDINGS[letter]}"}
    assert lesson.texts["instruction"] == {"F": "{failure}", "S": "{success}"}[letter]
    note = lesson.texts.get("note", "")
    assert ("{quality}" in note) == bool(variant)
    assert ("{no_change}" in note) == (variant == ["both-w"])


@pytest.mark.parametrize("choice", cells(1))
def test_a_choice_shows_the_outcome_and_takes_the_memory_of_its_name(choice):
    cell = parse_cell(choice.name)
    role = ROLES[cell.stratum.case]

    assert cell.name == choice.name
    assert choice.fields == {"outcome": f"@outcome_{role}_{ENDINGS[cell.shown]}"}
    if cell.lesson in "DN":
        shown = {"D": "{directive}", "N": ""}[cell.lesson]
        assert (choice.take, choice.texts["shown_memory"]) == ([], shown)
        return
    (take,) = choice.take
    kind = cell.shown if cell.lesson == "U" else cell.lesson
    written = [v for v in cell.stratum.mitigations if v.endswith("-w")]
    assert take.cell == ".".join([role, kind, *written])
    assert (take.source == "unrelated") == (cell.lesson == "U")
    if cell.lesson == "U":
        assert take.avoid == ["tool_1", "tool_2"]
        assert take.count is not None


@pytest.mark.parametrize("choice", cells(1))
def test_variants_change_the_text_that_they_name(choice):
    cell = parse_cell(choice.name)
    texts = choice.texts

    assert (texts.get("independence") == "") == cell.stratum.dependent
    assert ("{quality}" in texts.get("note", "")) == any(
        v.endswith("-c") for v in cell.stratum.mitigations
    )
    assert ("{no_change}" in texts.get("note", "")) == ("both-c" in cell.stratum.mitigations)
    assert ("question" in texts) == cell.probe


def test_both_protocols_ask_in_the_same_words():
    """Only the tables differ: prompts, texts and decoding of both stages are the same."""
    short, writing = (protocol(name) for name in NAMES)

    for one, other in zip(short.stages, writing.stages, strict=True):
        assert one.model_dump(exclude={"cells"}) == other.model_dump(exclude={"cells"})


def test_the_note_has_three_sentences_and_is_the_same_for_writing_and_choosing():
    writing, choosing = protocol("memory-luck").stages

    assert writing.texts["quality"].strip() == choosing.texts["quality"].strip()
    assert writing.texts["quality"].count(". ") + 1 == 3


@pytest.mark.parametrize("name", NAMES)
def test_init_makes_a_study_of_it_that_can_be_frozen(command, tmp_path, name):
    root = tmp_path / "study"

    made = command("init", root, "--protocol", name, "--n", "4")

    assert made.exit_code == 0, made.output
    registration = tomllib.loads((root / "registration.toml").read_text())
    assert registration["schedule"]["repeats"] == 1
    assert registration["unit"]["cluster"] == "world"
    assert registration["gates"][0]["statistic"] == "luck_carry"
    assert command("prereg", "check", root).exit_code == 0


def test_a_persons_own_instruction_takes_the_place_of_ours(command, tmp_path):
    """Braces in it are braces; every lesson of a failure shows it, and no other."""
    own = tmp_path / "own.txt"
    own.write_text('It failed. Write {what} you "learned".\n')
    root = tmp_path / "study"

    words = ("--protocol", "memory-luck", "--n", "1", "--text", f"failure={own}")
    assert command("init", root, *words).exit_code == 0

    texts = tomllib.loads((root / "protocol.toml").read_text())["stages"][0]["texts"]
    assert texts["failure"] == 'It failed. Write {{what}} you "learned".'
    assert texts["success"] == protocol("memory-luck").stages[0].texts["success"]
    assert command("prereg", "freeze", root).exit_code == 0
    shown = command("show", root, "0").stdout + command("show", root, "1").stdout
    shown += command("show", root, "2").stdout + command("show", root, "3").stdout
    assert 'It failed. Write {what} you "learned".' in shown.replace('\\"', '"')


@pytest.mark.parametrize(
    ("given", "said"),
    [("failure", "write NAME=FILE"), ("quality=own.txt", "'quality' in 2 stages")],
)
def test_a_text_that_cannot_be_replaced_is_refused(command, tmp_path, monkeypatch, given, said):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own.txt").write_text("x")

    result = command("init", tmp_path / "study", "--protocol", "memory-luck", "--text", given)

    assert result.exit_code == 2
    assert said in result.stderr
    assert not (tmp_path / "study").exists()


def test_a_text_that_names_what_is_not_there_is_a_problem_of_check(command, tmp_path):
    root = tmp_path / "study"
    command("init", root, "--protocol", "memory-luck", "--n", "1")
    path = root / "protocol.toml"
    path.write_text(path.read_text().replace("{worse_tool}", "{wrose_tool}"))

    result = command("prereg", "check", root)

    assert result.exit_code == 1
    assert "text 'directive'" in result.stdout
    assert "placeholder {wrose_tool} has no field" in result.stdout
