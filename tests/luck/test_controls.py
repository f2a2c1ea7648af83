"""Known-answer agents over HTTP: frozen, run, sealed and analysed as any judge is.

48 worlds and the protocol in little (two lessons and eight choices a world). Agents, seeds and the
virtual clock are fixed, so each number is the same every day.
"""

import pandas as pd
import pytest

from judgeaudit.analysis.catalogue import compute
from judgeaudit.analysis.question import Question
from judgeaudit.study.demo_whole import TEMPLATES
from judgeaudit.study.sealed import study_table

pytestmark = pytest.mark.slow

PLANTED = {"p042": 0.042, "p112": 0.112, "p181": 0.181, "p352": 0.352}
AGENTS = {
    "bayes": "bayes-agent",
    **{name: f"superstitious-agent:carry={carry}" for name, carry in PLANTED.items()},
    "random": "random-agent",
    "stubborn": "stubborn-agent",
    "unparsable": "unparsable-agent:base=0.3",
}
WORLDS = 48


@pytest.fixture(scope="module")
def table(write, run_study, tmp_path_factory) -> pd.DataFrame:
    """The table of the sealed study."""
    root = tmp_path_factory.mktemp("controls") / "study"
    protocol = (TEMPLATES / "luck-protocol.toml").read_bytes()
    return study_table(run_study(write(root, AGENTS, WORLDS, protocol)))


@pytest.fixture(scope="module")
def estimate(table):
    """One estimate of a statistic: `estimate("luck_carry", "bayes")`."""
    found = {}

    def _estimate(name, endpoint, scope="unlucky"):
        if name not in found:
            found[name] = compute(name, table, Question(over="all", cluster="world"))
        (one,) = [
            e for e in found[name] if (e.analysis, e.endpoint, e.scope) == (name, endpoint, scope)
        ]
        return one

    return _estimate


def test_the_bayes_agent_carries_nothing_and_that_is_shown_to_be_negligible(estimate):
    """No choice of the worse tool in any cell; the bound of .10 needs 40 worlds or more."""
    carry = estimate("luck_carry", "bayes")

    assert carry.value == 0
    assert carry.low < 0 < carry.high
    assert carry.details["claims"]["negligible"]
    assert not carry.details["claims"]["present"]


@pytest.mark.parametrize(("agent", "planted"), PLANTED.items())
def test_a_planted_carry_lies_in_its_interval(estimate, agent, planted):
    carry = estimate("luck_carry", agent)

    assert carry.low <= planted <= carry.high


def test_what_is_planted_is_in_harm_and_not_in_protection(estimate):
    """The agent reacts to a lesson that blames the tool which is shown to have failed."""
    assert estimate("luck_harm", "p352").details["claims"]["large"]
    assert estimate("luck_lesson_effect", "p352").details["claims"]["large"]
    assert estimate("luck_protection", "p352").details["claims"]["negligible"]


@pytest.mark.parametrize("arm", ["FF", "FS", "FU", "SF", "SS", "SU"])
def test_a_random_agent_takes_the_worse_tool_half_of_the_time(estimate, arm):
    share = estimate("luck_p", "random", f"unlucky.{arm}")

    assert share.low <= 0.5 <= share.high


def test_a_random_agents_own_noise_is_half(estimate):
    """Two fair coins differ in one of two throws; nothing is carried that this would not give."""
    again = estimate("luck_again", "random", "unlucky.FF")

    assert again.low <= 0.5 <= again.high
    assert not estimate("luck_carry", "random").details["claims"]["present"]


def test_a_stubborn_agent_shows_no_contrast_although_it_is_often_wrong(estimate, table):
    """It takes the tool shown first: wrong as often as the worse tool is first, in every arm."""
    first = table[table["endpoint"].eq("stubborn") & table["arm"].eq("unlucky.FF")]
    worse_first = (~first["meta.better_first"].astype(bool)).mean()

    assert estimate("luck_p", "stubborn", "unlucky.FF").value == pytest.approx(worse_first)
    for name in ("luck_carry", "luck_lesson_effect", "luck_total", "luck_harm"):
        assert estimate(name, "stubborn").value == 0


def test_unparsed_choices_are_a_third_outcome_with_bounds(estimate):
    """3 of 10 answers name no tool: those worlds are missing, and the worst case covers them."""
    harm = estimate("luck_harm", "unparsable")

    assert harm.value == 0
    assert harm.excluded["unparsed"] > 0
    assert harm.missing == pytest.approx(1 - 0.7**2, abs=0.2)
    assert harm.worst[0] < -0.1 < 0.1 < harm.worst[1]


@pytest.mark.parametrize("agent", ["bayes", "p042", "p352"])
def test_agents_that_read_the_log_can_name_the_better_record(estimate, agent):
    assert estimate("luck_comprehension", agent, "all").value >= 0.9
