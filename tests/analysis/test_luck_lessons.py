"""Coding of lessons by rule: whom they blame, whether they name chance, what they advise."""

import pandas as pd
import pytest

from judgeaudit.analysis.catalogue import NAMES, compute
from judgeaudit.analysis.luck.lessons import code_lesson
from judgeaudit.analysis.question import Question
from judgeaudit.readings.table import checked

TOOLS = ("Arvo", "Belt")


@pytest.mark.parametrize(
    ("text", "blames", "chance", "avoids"),
    [
        ("Arvo failed on this run.", {"Arvo"}, False, set()),
        ("Arvo is unreliable. Belt works.", {"Arvo"}, False, set()),
        ("Avoid Arvo because it failed.", {"Arvo"}, False, {"Arvo"}),
        ("Next time switch to Belt.", set(), False, {"Arvo"}),
        ("Use Belt instead.", set(), False, {"Arvo"}),
        ("Prefer Belt over Arvo.", set(), False, {"Arvo"}),
        ("Use Belt instead of Arvo when it matters.", set(), False, {"Arvo"}),
        ("The failure of Arvo was bad luck; keep using it.", set(), True, set()),
        ("A single failure says little about Arvo.", set(), True, set()),
        ("It was no chance: Arvo broke.", {"Arvo"}, False, set()),
        ("Do not switch to Belt.", set(), False, set()),
        ("There is no reason to avoid Arvo.", set(), False, set()),
        ("Use Arvo. Check the log first.", set(), False, set()),
        ("Arvo did not fail, Belt did fail.", {"Belt"}, False, set()),
        ("Arvonia failed.", set(), False, set()),
        ("", set(), False, set()),
    ],
)
def test_the_code_of_a_lesson(text, blames, chance, avoids):
    code = code_lesson(text, TOOLS)

    assert (code.blames, code.chance, code.avoids) == (blames, chance, avoids)


def test_the_order_of_the_tools_does_not_matter():
    text = "Arvo failed again; avoid Arvo and switch to Belt."

    assert code_lesson(text, TOOLS) == code_lesson(text, TOOLS[::-1])


def test_lessons_of_scripted_agents_are_coded_as_blame():
    """The superstitious agent's own words, with the memory item's headings around them."""
    text = (
        "# Memory Item 1\n## Title\nSIMULATED lesson: Arvo failed\n## Content\n"
        "The last run of Arvo failed. Next time avoid Arvo because it failed."
    )
    code = code_lesson(text, TOOLS)

    assert (code.blames, code.avoids) == ({"Arvo"}, {"Arvo"})


def lessons(*texts, arm="lesson-F"):
    rows = [
        {
            "item": f"w{k}", "arm": arm, "stage": 1, "status": "ok", "text": text,
            "meta.better": "Arvo", "meta.worse": "Belt",
        }
        for k, text in enumerate(texts)
    ]  # fmt: skip
    return checked(pd.DataFrame(rows))


def test_shares_are_by_cell_of_the_first_stage_and_exploratory():
    """Of four lessons two blame the better tool, one names chance, one advises to leave it."""
    table = lessons("Arvo failed.", "Arvo broke. Avoid Arvo.", "It was luck.", "Check the log.")
    found = {e.scope: e for e in compute("luck_lessons", table, Question(over="all"))}

    assert found["cell=lesson-F, blames_better"].value == 2 / 4
    assert found["cell=lesson-F, chance"].value == 1 / 4
    assert found["cell=lesson-F, away_from_better"].value == 1 / 4
    assert found["cell=lesson-F, blames_worse"].value == 0
    assert "exploratory" in found["cell=lesson-F, chance"].caveats[0]
    assert NAMES["luck_lessons"].gate is False


def test_without_lessons_or_tools_names_nothing_is_coded(build):
    (found,) = compute("luck_lessons", build.verdicts(q1="A"), Question(over="all"))

    assert found.value is None
