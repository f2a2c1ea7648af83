"""A gate's report as JUnit, Markdown and annotations: nothing undecided looks green."""

from xml.etree import ElementTree

import pytest

from judgeaudit.analysis.estimate import Estimate
from judgeaudit.report.github import command, workflow_commands
from judgeaudit.report.junit import junit
from judgeaudit.report.markdown import markdown
from judgeaudit.verdict.blockers import Bar
from judgeaudit.verdict.gate_report import Asked, GateReport
from judgeaudit.verdict.verdicts import Held, Outcome, Verdict


def verdict(outcome, says="found .1"):
    value = None if outcome is Outcome.UNDEFINED else 0.1
    undefined = "no pair" if value is None else None
    estimate = Estimate("flip_rate", value, "judge", undefined=undefined, n={"pairs": 20})
    held = (Held("judge", outcome, estimate, None),)
    return Verdict("flips", outcome, "flip_rate", "all", "at most 0.2", "bound", held, says=says)


def report(*outcomes, **more):
    return GateReport("study", tuple(verdict(o) for o in outcomes), **more)


@pytest.mark.parametrize(
    ("outcome", "tag"),
    [
        (Outcome.PASS, None),
        (Outcome.FAIL, "failure"),
        (Outcome.INCONCLUSIVE, "error"),
        (Outcome.UNDEFINED, "error"),
    ],
)
def test_whatever_is_no_pass_is_a_failure_or_an_error_and_never_skipped(outcome, tag):
    case = ElementTree.fromstring(junit(report(outcome)).encode()).find(".//testcase")

    assert [child.tag for child in case if child.tag != "system-out"] == ([tag] if tag else [])


def test_a_report_without_any_criterion_is_an_error():
    suite = ElementTree.fromstring(junit(GateReport("study")).encode()).find("testsuite")

    assert (suite.get("tests"), suite.get("errors")) == ("1", "1")


def test_control_characters_of_a_judge_do_not_break_the_document():
    found = junit(GateReport("study", (verdict(Outcome.FAIL, "said \x00\x1b[31m <&> ü"),)))

    failure = ElementTree.fromstring(found.encode()).find(".//failure")
    assert failure.text == "said \\x00\\x1b[31m <&> ü"


def test_a_message_cannot_end_its_workflow_command():
    """GitHub's escapes: % first, then line ends; in a property also colon and comma."""
    assert command("error", "a: b, c", "100 %\n::error::forged") == (
        "::error title=a%3A b%2C c::100 %25%0A\\::error::forged"
    )


def test_annotations_name_each_failure_bar_and_finding_and_no_pass():
    found = report(
        Outcome.PASS,
        Outcome.FAIL,
        Outcome.INCONCLUSIVE,
        bars=(Bar("one_answer", "one answer only", "judge"),),
        findings=("ci.yml, line 3: in a loop",),
    )

    levels = [line.split(" ")[0] for line in workflow_commands(found)]
    assert levels == ["::error", "::warning", "::error", "::warning"]


def test_markdown_keeps_foreign_text_in_its_cell():
    """A pipe would add a column, a tag would hide text, an at sign would call a person."""
    found = GateReport("a|b <script> @you", (verdict(Outcome.FAIL),), asked=Asked(3, 10))

    text = markdown(found)

    assert "a\\|b &lt;script> &#64;you" in text
    assert "| flips at judge | ❌ fail |" in text
    assert "asked 3 of 10 planned calls" in text


@pytest.mark.parametrize(
    ("outcomes", "bars", "expected"),
    [
        ((), (), "undefined"),
        ((Outcome.PASS,), (), "pass"),
        ((Outcome.PASS,), (Bar("paused", "x"),), "undefined"),
        ((Outcome.FAIL,), (Bar("paused", "x"),), "fail"),
        ((Outcome.PASS, Outcome.INCONCLUSIVE), (), "inconclusive"),
    ],
)
def test_the_outcome_is_the_worst_of_criteria_and_bars(outcomes, bars, expected):
    assert report(*outcomes, bars=bars).outcome == expected


@pytest.mark.parametrize(
    ("against", "expected"), [("pass", "pass"), ("fail", "fail"), ("undefined", "undefined")]
)
def test_a_comparison_can_spoil_a_pass_and_make_none(against, expected):
    compared = {"outcome": against, "says": "moved"}

    assert report(Outcome.PASS, compared=compared).outcome == expected
    assert GateReport("study", compared=compared).outcome in ("undefined", "fail")
