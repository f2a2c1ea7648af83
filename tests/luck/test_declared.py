"""Factors, cells and contrasts as a protocol declares them: numbers, refusals, own designs.

The shipped protocols declare what 0.1 read off the names of cells; both must give the same numbers.
"""

import tomllib
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from judgeaudit.analysis.catalogue import compute
from judgeaudit.analysis.luck.declared import CellSpec, Contrast, Design, faults, signed
from judgeaudit.analysis.question import Question
from judgeaudit.design.builtin_protocols import protocol_source
from judgeaudit.design.draft import parse_document
from judgeaudit.design.protocol import ProtocolDocument
from judgeaudit.errors import InputError
from judgeaudit.readings.table import checked
from judgeaudit.study.demo_whole import TEMPLATES
from judgeaudit.verdict.declared import design_of

STATISTICS = [
    "luck_carry", "luck_lesson_effect", "luck_outcome_effect", "luck_total", "luck_harm",
    "luck_protection", "luck_mitigation", "luck_p", "luck_again", "luck_comprehension",
]  # fmt: skip


def document(name):
    source = protocol_source(name)
    found, problems = parse_document(ProtocolDocument, source)
    assert not problems
    return found


def answered(cells, worlds=40, endpoints=("a", "b"), seed=1, p=0.2):
    """A table of every cell, each choice drawn; nothing is lost."""
    rng = np.random.default_rng(seed)
    rows = [
        {
            "endpoint": endpoint, "item": f"w{w}", "arm": cell, "stage": 2, "status": "ok",
            "category": "worse" if rng.random() < p else "better", "reason": None,
        }
        for endpoint in endpoints for w in range(worlds) for cell in cells
    ]  # fmt: skip
    return checked(pd.DataFrame(rows))


def numbers(found):
    return {
        (e.analysis, e.endpoint, e.scope): (e.value, e.low, e.high, e.missing, *(e.worst or ()))
        for e in found
    }


@pytest.mark.parametrize("name", ["memory-luck", "memory-luck-writing"])
@pytest.mark.parametrize("statistic", STATISTICS)
def test_a_shipped_protocol_declares_what_its_names_said(name, statistic):
    """Every estimate that the names gave is there, with the same numbers to 1e-9."""
    protocol = document(name)
    table = answered([cell.name for cell in protocol.stages[-1].cells])
    named = numbers(compute(statistic, table, Question(over="all")))
    declared = numbers(compute(statistic, table, Question(over="all", design=design_of(protocol))))

    assert named.keys() - declared.keys() == set()
    for key, values in named.items():
        assert declared[key] == pytest.approx(values, abs=1e-9), key


def test_the_demo_declares_what_its_names_said():
    text = (TEMPLATES / "luck-protocol.toml").read_bytes()
    protocol = ProtocolDocument.model_validate(tomllib.loads(text.decode()))
    table = answered([cell.name for cell in protocol.stages[-1].cells])
    named = numbers(compute("luck_carry", table, Question(over="all")))
    found = numbers(compute("luck_carry", table, Question(over="all", design=design_of(protocol))))

    for key, values in named.items():
        assert found[key] == pytest.approx(values, abs=1e-9), key


OWN = Design(
    cells={
        "low-plain": CellSpec({"dose": "low", "tone": "plain"}),
        "high-plain": CellSpec({"dose": "high", "tone": "plain"}),
        "low-loud": CellSpec({"dose": "low", "tone": "loud"}),
        "high-loud": CellSpec({"dose": "high", "tone": "loud"}),
        "again": CellSpec({"dose": "low", "tone": "plain"}, again="low-plain"),
    },
    contrasts=(
        Contrast("dose", "plain", signed(("high-plain", 1), ("low-plain", -1)), margin=0.2),
        Contrast(
            "dose", "both",
            (
                ("high-plain", Fraction(1, 2)), ("high-loud", Fraction(1, 2)),
                ("low-plain", Fraction(-1, 2)), ("low-loud", Fraction(-1, 2)),
            ),
        ),
    ),
    factors={"dose": {"low": "one", "high": "three"}, "tone": {"plain": "", "loud": ""}},
)  # fmt: skip
CELLS = {"low-plain": "bbbb", "high-plain": "wwbb", "low-loud": "wbbb", "high-loud": "wwwb"}


def test_a_contrast_of_ones_own_cells_is_the_hand_count(luck):
    """High-plain w in 1 2, low-plain nowhere: 2/4. Means of both tones: D = 1/2 1 1/2 0."""
    found = compute("luck_contrast", luck.table(a=CELLS), Question(over="all", design=OWN))
    heads = [e for e in found if e.analysis == "luck_contrast"]

    assert [(e.scope, e.value) for e in heads] == [("dose, plain", 0.5), ("dose, both", 0.5)]
    assert heads[0].details["is"] == "p(high-plain) - p(low-plain)"
    assert heads[0].details["claims"]["margin"] == 0.2
    assert heads[0].method == "Tango score"
    assert heads[1].method.startswith("t over worlds")
    assert heads[1].exact is None


def test_a_contrast_that_is_not_declared_is_named_with_those_that_are(luck):
    question = Question(over="all", design=OWN, params={"contrast": "tone"})
    with pytest.raises(InputError, match="declared: dose"):
        compute("luck_contrast", luck.table(a=CELLS), question)
    question = Question(over="all", design=OWN, params={"contrast": "dose", "stratum": "loud"})
    with pytest.raises(InputError, match="declared: plain, both"):
        compute("luck_contrast", luck.table(a=CELLS), question)


def test_cells_pair_each_with_the_next_of_the_other_sign():
    """+a -b -c +d pairs (a, b) and (d, c); weights other than 1 have no pairs."""
    one = Contrast("x", "all", signed(("a", 1), ("b", -1), ("c", -1), ("d", 1)))

    assert one.halves() == [(0, 1), (3, 2)]
    assert OWN.contrasts[1].halves() is None


def weighed(*weights):
    return Contrast("x", "all", signed(*weights))


FF = '"unlucky.FF" = 1, "unlucky.SS" = -1'


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"contrasts": (weighed(("low-plain", 1), ("none", -1)),)}, "no cell 'none'"),
        ({"contrasts": (weighed(("low-plain", 1), ("low-loud", 1)),)}, "add up to 2"),
        ({"contrasts": (weighed(("low-plain", 0)),)}, "fewer than two"),
        ({"contrasts": OWN.contrasts[:1] * 2}, "a second contrast"),
        ({"cells": {**OWN.cells, "x": CellSpec({"dose": "huge"})}}, "no level 'huge'"),
        ({"cells": {**OWN.cells, "x": CellSpec({"taste": "sour"})}}, "no factor 'taste'"),
        ({"cells": {**OWN.cells, "x": CellSpec({"dose": "low", "tone": "loud"})}}, "'low-loud'"),
        ({"cells": {**OWN.cells, "x": CellSpec({}, again="none")}}, "again: no cell"),
        ({"cells": {**OWN.cells, "high-plain": CellSpec({}, probe=True)}}, "is a probe"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_declaration_is_said(change, said):
    whole = {"cells": OWN.cells, "contrasts": OWN.contrasts, "factors": OWN.factors} | change

    assert any(said in text for _, text in faults(Design(**whole)))
    assert list(faults(OWN)) == []


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (FF, '"unlucky.FF" = 1, "unlucky.XX" = -1', "'unlucky.XX'"),
        (FF, '"better.F" = 1, "unlucky.SS" = -1', "'better.F'"),
        (FF, '"unlucky.FF" = 2, "unlucky.SS" = -1', "add up to 1"),
        ('again = "unlucky.FF"', 'again = "unlucky.FS"', "does not ask the bytes"),
        ('lesson = "N", log', 'lesson = "X", log', "no level 'X'"),
    ],
)  # fmt: skip
def test_check_refuses_a_declaration_that_cannot_be_analysed(command, tmp_path, old, new, said):
    root = tmp_path / "study"
    command("init", root, "--protocol", "memory-luck", "--n", "1")
    path = root / "protocol.toml"
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))

    result = command("prereg", "check", root)

    assert result.exit_code == 1
    assert said in result.stdout
    assert command("prereg", "freeze", root).exit_code == 2


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('stratum = "unlucky"', 'stratum = "happy"', "no contrast 'carry' with stratum = 'happy'"),
        ('"luck_carry"', '"luck_contrast"', "the gate must name one"),
        ('params = { stratum = "unlucky"', 'params = { stratum = "lucky"', ""),
        ('params = { ', 'params = { cluster = "colour", ', "no column 'colour'"),
    ],
)  # fmt: skip
def test_check_puts_a_gates_question_to_the_code_that_will_analyse_it(
    command, tmp_path, old, new, said
):
    root = tmp_path / "study"
    command("init", root, "--protocol", "memory-luck", "--n", "4")
    path = root / "registration.toml"
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new, 1))

    result = command("prereg", "check", root)

    assert (result.exit_code, said in result.stdout) == (1 if said else 0, True)


def test_a_gate_on_a_declared_contrast_can_be_frozen(command, tmp_path):
    root = tmp_path / "study"
    command("init", root, "--protocol", "memory-luck", "--n", "4")
    path = root / "registration.toml"
    text = path.read_text().replace('"luck_carry"', '"luck_contrast"')
    path.write_text(text.replace("params = { ", 'params = { contrast = "again", '))

    assert command("prereg", "check", root).exit_code == 0, command("prereg", "check", root).stdout
    assert command("prereg", "freeze", root).exit_code == 0


def test_cells_without_a_declaration_are_refused_where_a_gate_asks_for_contrasts(command, tmp_path):
    """Cells of one's own without factors passed check, freeze and payment in 0.1."""
    root = tmp_path / "study"
    command("init", root, "--protocol", "memory-luck", "--n", "1")
    path = root / "protocol.toml"
    text = path.read_text()
    start, end = text.index("[factors]"), text.index("[[stages]]")
    kept = [
        line for line in text[end:].split("\n") if not line.startswith(("levels", "again", "probe"))
    ]
    path.write_text(
        text[:start] + "\n".join(kept).replace("unlucky.", "mine-").replace("lucky.", "my-")
    )

    result = command("prereg", "check", root)

    assert result.exit_code == 1
    assert "declare [factors] and [[contrasts]]" in result.stdout


def test_no_cell_name_stands_in_code_beside_the_reader_of_old_protocols():
    """Only `named.py`, which reads what 0.1 sealed, knows what a name of a cell says."""
    root = Path(__file__).parents[2] / "judgeaudit" / "analysis" / "luck"
    holders = [p.name for p in root.glob("*.py") if "unlucky.F" in p.read_text()]

    assert holders == ["named.py"]
