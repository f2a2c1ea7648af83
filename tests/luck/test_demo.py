"""`judgeaudit demo memory-luck --simulated`: the study in little, from its JSON and its files."""

import json
from xml.etree import ElementTree

import pytest

from judgeaudit.report.luck_text import CONTRASTS
from judgeaudit.study.demo_luck import AGENTS, registration_text

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def told(command, tmp_path_factory):
    """(folder, its JSON, its progress)."""
    root = tmp_path_factory.mktemp("demo") / "demo"
    result = command("demo", "memory-luck", "--simulated", "--dir", root, "--json")
    assert result.exit_code == 0, result.output
    return root, json.loads(result.stdout), result.stderr


def test_it_tells_every_contrast_of_every_agent(told):
    (study,) = told[1]["studies"]

    assert list(study["agents"]) == [agent.id for agent in AGENTS]
    for agent in study["agents"].values():
        assert list(agent["contrasts"]) == [name.strip() for _, _, name, _ in CONTRASTS]


def test_its_claims_are_those_that_were_planted(told):
    agents = told[1]["studies"][0]["agents"]

    def claims(agent):
        return agents[agent]["contrasts"]["CARRY"]["details"]["claims"]

    assert claims("reads-the-log")["negligible"]
    assert claims("carries-luck")["large"]
    assert claims("takes-the-first")["negligible"]
    for agent in ("reads-the-log", "tosses-a-coin", "takes-the-first", "rarely-answers"):
        assert not claims(agent)["present"]


def test_the_plot_has_a_panel_an_endpoint_and_says_that_they_are_simulated(told):
    root, document, _ = told
    figure = root / "controls" / "results" / "figures" / "arms.svg"
    text = "".join(ElementTree.fromstring(figure.read_text()).itertext())

    assert str(figure) in document["studies"][0]["figures"]
    assert figure.with_suffix(".png").read_bytes().startswith(b"\x89PNG")
    for agent in AGENTS:
        assert agent.id in text
    assert "failed; lesson of failure" in text
    assert "SIMULATED" in text


def test_it_ends_verified_and_goes_on_where_it_was(told, command):
    """A second call sends nothing and tells the same in words."""
    root, _, progress = told
    assert "verified" in progress

    again = command("demo", "memory-luck", "--simulated", "--dir", root)

    assert again.exit_code == 0
    assert "nothing is left to run" in again.stderr
    assert "carries-luck: carries luck into its next choice, by more than 0.10." in again.stdout
    assert "not shown to be safe" in again.stdout


def test_a_folder_with_something_else_is_refused(command, tmp_path):
    (tmp_path / "controls").mkdir()
    (tmp_path / "controls" / "mine.txt").write_text("x")

    result = command("demo", "memory-luck", "--simulated", "--dir", tmp_path)

    assert result.exit_code == 2
    assert "not empty" in result.stderr


def test_no_mark_of_the_template_is_left():
    assert "@" not in registration_text("controls", AGENTS)


def test_an_agent_that_cannot_name_the_better_record_is_marked(told, command):
    """A coin, and a tool taken for its place, say nothing of luck."""
    text = command("demo", "memory-luck", "--simulated", "--dir", told[0]).stdout
    means = {
        line.split(":")[0].strip(): line for line in text.split("What this means:")[1].split("\n")
    }

    for agent, marked in (
        ("takes-the-first", True),
        ("tosses-a-coin", True),
        ("carries-luck", False),
    ):
        assert ("names the better record" in means[agent]) == marked
