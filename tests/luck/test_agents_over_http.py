"""Agents with planted faults behind a server: each is found, named, and sized in its interval.

48 worlds in 16 settings with the demo's table of cells, 48 with the arms of a referee. Nothing is
simulated inside the product: the agents (`agents.py`) answer over HTTP, and only the prompt tells
them where they are. What is planted stands in each test.
"""

import importlib.util
import json
from pathlib import Path

import pytest

from judgeaudit.battery import items_to_bytes
from judgeaudit.battery.catalogue import build_battery
from judgeaudit.design.builtin_protocols import protocol_source
from judgeaudit.study.analyze import analyze
from judgeaudit.study.demo_whole import TEMPLATES
from judgeaudit.study.freeze import freeze
from judgeaudit.study.run import run

pytestmark = pytest.mark.slow

WORLDS = 48
TRIM = 'options = { pattern = "whole", trim = ["**", "."], refusals = ["I can.t help"] }'
REFUSALS = 'options = { max_chars = 2000, refusals = ["I can.t help"] }'
REGISTRATION = """
analyses = ["luck_p", "luck_contrast", "luck_attrition", "luck_moderators", "luck_balance"]
[study]
id = "planted"
title = "Planted agents over HTTP"
authors = ["N. N."]
claim = "choice"
[schedule]
seed = 4
cap = 100000
conditions = [{ name = "eight", in_flight = 8 }]
[unit]
cluster = "world"
target = "these probes"
[[gates]]
id = "primary"
statistic = "luck_contrast"
over = "all"
at_most = 0.10
decide = "bound"
params = { contrast = "@CONTRAST@" }
"""
ENDPOINT = """
[[endpoints]]
id = "{id}"
api = "openai.chat"
base_url = "{url}/{id}"
model = "planted"
"""


@pytest.fixture(scope="module")
def server():
    path = Path(__file__).with_name("agents.py")
    spec = importlib.util.spec_from_file_location("planted_agents", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    running, url = module.serve()
    yield url
    running.shutdown()
    running.server_close()


def asked(root, url, agents, protocol, contrast, more=0):
    """A study of these agents, frozen, run and analysed; returns it."""
    root.mkdir()
    text = REGISTRATION.replace("@CONTRAST@", contrast)
    text += "".join(ENDPOINT.format(id=name, url=url) for name in agents)
    (root / "registration.toml").write_text(text)
    (root / "protocol.toml").write_bytes(protocol)
    items = build_battery("worlds", WORLDS, 3, more=more).items
    (root / "items.jsonl").write_bytes(items_to_bytes(items))
    freeze(root)
    run(root, everything=True)
    freeze(root)
    for _ in range(4):
        run(root, everything=True)
        freeze(root)
    return analyze(root)


def whole_word_demo():
    """The demo's protocol, whose choices are read as a whole word with declared marks."""
    text = (TEMPLATES / "luck-protocol.toml").read_text()
    text = text.replace('options = { pattern = "json", structured = true }', TRIM)
    text = text.replace("options = { max_chars = 2000 }", REFUSALS)
    text = text.replace(
        'Answer as JSON with the key "tool" and exactly one of', "Answer with one of"
    )
    assert TRIM in text
    assert REFUSALS in text
    return text.encode()


@pytest.fixture(scope="module")
def small(server, tmp_path_factory):
    """Eight agents with the demo's eight choices."""
    agents = [
        "worse-first", "one-setting", "win-stay", "other-words", "chinese", "refuses", "full-stop",
        "bold",
    ]  # fmt: skip
    root = tmp_path_factory.mktemp("planted") / "small"
    return asked(root, server, agents, whole_word_demo(), "carry")


def the(analysed, scope, endpoint, analysis="luck_contrast"):
    """The first estimate of a scope at an endpoint."""
    found = [
        e for e in analysed.findings.estimates
        if e.analysis == analysis and e.scope == scope and e.endpoint == endpoint
    ]  # fmt: skip
    assert found, sorted({e.scope for e in analysed.findings.estimates if e.analysis == analysis})
    return found[0]


def holds(estimate, planted):
    """Tell whether the interval, widened from 95 % to 99 % for fifty looks, holds a value."""
    low, high, wider = estimate.low, estimate.high, 2.576 / 1.960
    value = estimate.value
    return value - wider * (value - low) <= planted <= value + wider * (high - value)


@pytest.mark.parametrize(
    ("agent", "planted"),
    [("other-words", 0.5), ("chinese", 0.5), ("full-stop", 0.4), ("bold", 0.4)],
)
def test_luck_in_other_words_another_language_and_other_forms_is_sized(small, agent, planted):
    """Lessons are not read by the toolkit: what counts is what they do."""
    carry = the(small, "carry, unlucky", agent)

    assert holds(carry, planted)
    assert carry.details["claims"]["large"]
    assert carry.missing == 0


def test_luck_that_is_carried_only_where_the_worse_tool_is_first(small):
    """Planted .8 where it is shown first, 0 where it is not; in the mean about .4."""
    scope = "carry, unlucky, better_first"
    first = the(small, f"{scope}=False", "worse-first", "luck_moderators")
    second = the(small, f"{scope}=True", "worse-first", "luck_moderators")
    less = the(small, f"{scope}: True less False", "worse-first", "luck_moderators_difference")

    assert holds(first, 0.8)
    assert (second.value, holds(second, 0.0)) == (0, True)
    assert holds(less, -0.8)
    assert less.high < 0


def test_luck_that_is_carried_in_one_setting_only_is_named_with_it(small):
    """Planted 1 in one of 16 settings: three worlds."""
    told = {
        e.scope.partition("domain=")[2]: e
        for e in small.findings.estimates
        if e.analysis == "luck_moderators" and e.endpoint == "one-setting" and "domain=" in e.scope
    }
    carrying = [name for name, e in told.items() if e.value]

    assert len(told) == 16
    assert len(carrying) == 1
    assert told[carrying[0]].value == 1
    assert holds(told[carrying[0]], 1.0) or told[carrying[0]].high == pytest.approx(1.0, abs=0.2)


def test_win_stay_lose_shift_has_total_luck_of_one_beside_a_carry_of_nothing(small):
    carry, total = (the(small, f"{x}, unlucky", "win-stay") for x in ("carry", "total"))
    (held,) = [h for h in small.findings.verdicts[0].held if h.endpoint == "win-stay"]

    assert (carry.value, total.value) == (0, 1)
    assert carry.details["beside"] == {"total": 1.0}
    assert total.details["claims"]["large"]
    assert "total 1.000" in small.findings.verdicts[0].says
    assert held.outcome.value != "fail"


def test_refused_lessons_are_refusals_and_their_worlds_are_missing(small):
    """Two of five lessons on failures are refused in words; planted CARRY .5 where written."""
    carry = the(small, "carry, unlucky", "refuses")
    lost = the(small, "unlucky.FF", "refuses", "luck_attrition")
    by = the(small, "shown: S less F", "refuses", "luck_attrition_by_factor")
    (held,) = [h for h in small.findings.verdicts[0].held if h.endpoint == "refuses"]

    assert lost.low <= 0.4 <= lost.high
    assert lost.n["lessons"] == lost.n["lost"] > 0
    assert carry.missing == pytest.approx(lost.value)
    assert carry.details["bounds"]["worst"][0] < 0.5 * 0.6 < carry.details["bounds"]["worst"][1]
    assert by.details["p"] < 0.05
    refused = {r for r in small.table.loc[small.table["stage"].eq(1), "reason"].dropna()}
    assert refused == {"refused"}
    assert held.outcome.value in ("inconclusive", "fail")


def test_answers_in_json_are_read_where_json_is_registered(server, tmp_path):
    protocol = (TEMPLATES / "luck-protocol.toml").read_bytes()
    found = asked(tmp_path / "json", server, ["json"], protocol, "carry")

    assert holds(the(found, "carry, unlucky", "json"), 0.4)
    assert the(found, "carry, unlucky", "json").missing == 0


def arm(server, tmp_path, agent, name, contrast, more=3):
    protocol = protocol_source(f"memory-luck-{name}").data
    return asked(tmp_path / name, server, [agent], protocol, contrast, more)


def test_a_dose_is_sized_at_each_step_and_has_its_slope(server, tmp_path):
    """Planted .2 a failure: .2, .4, .6 and a slope of .2."""
    found = arm(server, tmp_path, "dosed", "dose", 'harm", stratum = "3')

    for k in (1, 2, 3):
        assert holds(the(found, f"harm, {k}", "dosed"), 0.2 * k)
    assert holds(the(found, "dose, slope", "dosed"), 0.2)
    assert the(found, "dose, 3 less 1", "dosed").details["claims"]["present"]


def test_luck_that_decays_with_a_half_life_of_one_episode(server, tmp_path):
    """Planted .8, .4, .2 after 0, 1, 2 further episodes, through four stages."""
    found = arm(server, tmp_path, "decays", "decay", 'total", stratum = "after 0', 2)

    for k, planted in ((0, 0.8), (1, 0.4), (2, 0.2)):
        assert holds(the(found, f"total, after {k}", "decays"), planted)
    assert holds(the(found, "decay, 0 to 1", "decays"), 0.4)
    assert holds(the(found, "decay, 0 to 2", "decays"), 0.6)


def test_an_agent_that_recovers_after_three_observations(server, tmp_path):
    """Planted .8 with none and with one later success, 0 with three; relevant, and harm reduced."""
    found = arm(server, tmp_path, "recovers", "recovery", 'harm", stratum = "after 3')

    for m, planted in ((0, 0.8), (1, 0.8), (3, 0.0)):
        assert holds(the(found, f"harm, after {m}", "recovers"), planted)
    assert holds(the(found, "recovery, 0 to 3", "recovers"), 0.8)
    assert not the(found, "recovery, 0 to 1", "recovers").details["claims"]["present"]
    scope = "mitigation, three later successes"
    met = the(found, scope, "all", "luck_contrast_met_relevant")
    assert (met.value, met.n["endpoints"]) == (1, 1)
    assert json.loads(json.dumps(met.details["met"])) == ["recovers"]


def test_blinded_lessons_several_memories_and_a_planted_retriever(server, tmp_path):
    """Harm .8 by the own lesson, 0 blinded; among two .8 first and .2 last; .6 x .8 retrieved."""
    found = arm(server, tmp_path, "first-memory", "lessons", 'harm", stratum = "own', 0)

    for scope, planted in (
        ("harm, own", 0.8), ("harm, blinded", 0.0), ("harm, counterfactual", 0.0),
        ("harm, two memories", 0.5), ("place, two memories", 0.6), ("retrieval, hit rate .6", 0.48),
        ("mitigation, blinded", 0.8), ("placebo, own", 0.0),
    ):  # fmt: skip
        assert holds(the(found, scope, "first-memory"), planted), scope
