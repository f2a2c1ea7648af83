"""Pictures after `analyze`, and `prereg power` on what `init` writes."""

from xml.etree import ElementTree

import numpy as np
import pytest

from judgeaudit.analysis.catalogue import compute
from judgeaudit.analysis.luck.declared import CellSpec, Contrast, Design, signed
from judgeaudit.analysis.luck.power import luck_power
from judgeaudit.analysis.question import Question
from judgeaudit.design.builtin_protocols import protocol_source
from judgeaudit.report.luck_contrasts import contrast_figure, estimates_of


def text_of(path):
    return " ".join("".join(ElementTree.fromstring(path.read_text()).itertext()).split())


@pytest.fixture(scope="module")
def study(write, run_study, command, tmp_path_factory):
    """The shipped protocol on 8 worlds at two agents, analysed."""
    agents = {"bayes": "bayes-agent", "carries": "superstitious-agent:carry=0.352"}
    root = tmp_path_factory.mktemp("drawn") / "study"
    protocol = protocol_source("memory-luck").data
    write(root, agents, 8, protocol, ("luck_p", "luck_contrast"))
    run_study(root)
    assert command("analyze", root).exit_code == 0
    return root


def test_analyze_draws_cells_and_every_contrast(study):
    figures = study / "results" / "figures"
    names = {path.name for path in figures.iterdir()}

    assert {"arms-unlucky.svg", "arms-lucky.svg", "contrast-carry.svg"} <= names
    assert "contrast-again.svg" in names
    arms = text_of(figures / "arms-unlucky.svg")
    assert "failed; lesson of failure" in arms
    assert "the same bytes again" in arms
    assert "n=8" in arms
    carry = text_of(figures / "contrast-carry.svg")
    assert "p(unlucky.FF) - p(unlucky.FU) - p(unlucky.SS) + p(unlucky.SU)" in carry
    assert "these endpoints  (n=8)".replace("  ", " ") in carry
    assert "SIMULATED" in carry


def test_the_figures_stand_in_the_results_manifest(study, command):
    assert command("verify", study).exit_code == 0
    (study / "results" / "figures" / "contrast-carry.svg").write_text("<svg/>")
    found = command("verify", study)

    assert found.exit_code == 1
    assert "contrast-carry.svg" in found.stdout


DESIGN = Design(
    {"F": CellSpec({"x": "F"}), "U": CellSpec({"x": "U"})},
    (Contrast("harm", "all", signed(("F", 1), ("U", -1)), of="what it does"),),
    {"x": {"F": "", "U": ""}},
)


def test_a_panel_shows_each_endpoint_and_their_mean(luck):
    table = luck.table(a={"F": "wb", "U": "bb"}, b={"F": "bb", "U": "bb"})
    found = compute("luck_contrast", table, Question(over="all", design=DESIGN))
    rows = estimates_of(found, DESIGN.contrasts[0])

    assert [name for name, _ in rows] == ["a", "b", "these endpoints"]
    figure = contrast_figure(found, DESIGN, "harm")
    assert "95 % interval" in figure.get_supxlabel()
    assert contrast_figure([], DESIGN, "harm") is None


def test_a_figure_says_the_level_of_its_bars(luck):
    """A gate decides at 90 %, and its estimates are drawn with their own intervals."""
    table = luck.table(a={"F": "wbwb", "U": "bbbb"})
    found = compute("luck_contrast", table, Question(over="all", design=DESIGN, level=0.9))

    assert "90 % interval" in contrast_figure(found, DESIGN, "harm").get_supxlabel()


def test_gates_of_one_endpoint_are_not_drawn_as_their_mean(luck):
    """Each gate pools its own endpoint alone; that is no mean over both."""
    found = []
    for name in ("a", "b"):
        table = luck.table(**{name: {"F": "wb", "U": "bb"}})
        found += compute("luck_harm", table, Question(over="all", design=DESIGN))

    assert [name for name, _ in estimates_of(found, DESIGN.contrasts[0])] == ["a", "b"]


def test_power_works_on_what_init_writes(command, tmp_path):
    """40 worlds, .02 in each of four cells, margin .10: about 4 in 10; 49 worlds for 80 %.

    Normal approximation of the size: v = 4 * .02 * .98 = .0784; (2.4865/.1)² v = 48.5.
    """
    root = tmp_path / "study"
    command("init", root, "--protocol", "memory-luck", "--n", "40")
    found = command("prereg", "power", root)

    assert found.exit_code == 0
    assert "Assumed: P(worse tool) 0.02 in every cell" in found.stdout
    assert "49 worlds" in found.stdout


def test_power_takes_declared_contrasts_of_any_size():
    """Eight cells at 2 %: the claim `negligible` needs more worlds than CARRY of four."""
    four = Contrast("x", "all", signed(*((f"c{k}", (1, -1, -1, 1)[k]) for k in range(4))))
    eight = Contrast("x", "all", signed(*((f"c{k}", (1, -1)[k % 2]) for k in range(8))))
    chances = {f"c{k}": 0.02 for k in range(8)}
    told = [
        luck_power(
            256, 1, chances, 0.10, "negligible", np.random.default_rng(1), contrast=c, runs=300
        )
        for c in (four, eight)
    ]

    assert told[0].one_endpoint > told[1].one_endpoint
    assert told[0].worlds_needed * 2 == pytest.approx(told[1].worlds_needed, abs=2)
