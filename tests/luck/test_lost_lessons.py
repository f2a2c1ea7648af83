"""`lost_lesson = "ask_without"`: a choice is asked for although no lesson was written."""

import pytest

from judgeaudit.design.builtin_protocols import protocol_source
from judgeaudit.model import Reason

OWN = 'take = [{ field = "memory", cell = "better.F" }]'
WITHOUT = (
    'take = [{ field = "memory", cell = "better.F", lost_lesson = "ask_without", '
    'without = { shown_memory = "" } }]'
)
AGENT = {"cut": "bayes-agent:truncated=0.5"}


@pytest.fixture(scope="module")
def study(write, run_study, sealed_of, tmp_path_factory):
    """6 worlds at an agent half of whose replies are cut; own lessons of failure ask without."""
    text = protocol_source("memory-luck").data.decode()
    assert text.count(OWN) > 1
    protocol = text.replace(OWN, WITHOUT).encode()
    root = write(tmp_path_factory.mktemp("lost") / "study", AGENT, 6, protocol)
    run_study(root)
    return sealed_of(root)


def test_where_the_lesson_was_lost_the_choice_is_asked_for_without_it(study):
    lost = 0
    for call in study.calls(2, "unlucky.FF"):
        lesson = study.lesson(call, "better.F")
        body = study.body(call)
        assert body is not None
        assert ("<memory>" in study.prompt(call)) == (lesson["status"] == "ok")
        lost += lesson["status"] != "ok"
    assert lost > 0


def test_cells_that_do_not_say_so_lose_their_worlds(study):
    reasons = {study.readings[c.call_id]["reason"] for c in study.calls(2, "unlucky.SS")}

    assert str(Reason.NO_MEMORY) in reasons


def test_what_was_asked_without_verifies(study, command):
    assert command("verify", study.root).exit_code == 0


@pytest.mark.parametrize(
    ("new", "said"),
    [
        (WITHOUT.replace('lost_lesson = "ask_without", ', ""), "without needs lost_lesson"),
        (WITHOUT.replace('shown_memory = ""', 'shown_memory = "{nowhere}"'), "{nowhere}"),
    ],
)
def test_check_refuses_texts_that_cannot_stand_in(command, tmp_path, new, said):
    root = tmp_path / "study"
    command("init", root, "--protocol", "memory-luck", "--n", "1")
    path = root / "protocol.toml"
    path.write_text(path.read_text().replace(OWN, new, 1))

    result = command("prereg", "check", root)

    assert result.exit_code == 1
    assert said in result.stdout
