"""A gate's report as JUnit XML.

* One `testsuite`, one `testcase` a criterion and endpoint, one a bar, one for the comparison with a
  baseline.
* `fail` is a `failure`. `inconclusive` and `undefined` are an `error` and never `skipped`: CI
  servers draw a skipped case green, and no evidence is not green.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from xml.etree import ElementTree

from judgeaudit.printable import printable_lines
from judgeaudit.verdict.gate_report import GateReport, criteria
from judgeaudit.verdict.verdicts import Outcome, Verdict

_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit(report: GateReport, seconds: float = 0.0) -> str:
    """Return the XML document; `seconds` is how long the gate took."""
    name = f"judgeaudit gate: {report.study}"
    suite = ElementTree.Element("testsuite", {"name": _clean(name), "time": f"{seconds:.3f}"})
    counts = {Outcome.FAIL: 0, Outcome.UNDEFINED: 0, Outcome.INCONCLUSIVE: 0, Outcome.PASS: 0}
    for case, outcome, says in _cases(report):
        counts[outcome] += 1
        suite.append(_case(report.study, case, outcome, says))
    suite.set("tests", str(sum(counts.values())))
    suite.set("failures", str(counts[Outcome.FAIL]))
    suite.set("errors", str(counts[Outcome.UNDEFINED] + counts[Outcome.INCONCLUSIVE]))
    suite.set("skipped", "0")
    _text(suite, "system-out", "\n".join([report.headline, *_rest(report)]))
    whole = ElementTree.Element("testsuites", {k: v for k, v in suite.items() if k != "skipped"})
    whole.append(suite)
    ElementTree.indent(whole)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(
        whole, encoding="unicode"
    )


def _cases(report: GateReport) -> Iterator[tuple[str, Outcome, str]]:
    for verdict in criteria(report):
        yield from _of(verdict)
    for bar in report.bars:
        place = "" if bar.endpoint == "all" else f" at {bar.endpoint}"
        yield f"evidence: {bar.kind}{place}", bar.outcome, bar.says
    if report.compared is not None:
        said = report.compared
        yield "against the baseline", Outcome(said["outcome"]), str(said["says"])
    if not report.verdicts and not report.bars:
        yield "criteria", Outcome.UNDEFINED, "nothing was decided"


def _of(verdict: Verdict) -> Iterator[tuple[str, Outcome, str]]:
    if not verdict.held:
        yield verdict.id, verdict.outcome, verdict.says
    for held in verdict.held:
        place = "" if held.endpoint == "all" else f" at {held.endpoint}"
        says = verdict.says if len(verdict.held) == 1 else "; ".join(held.reasons) or verdict.says
        yield f"{verdict.id}{place}", held.outcome, says


def _case(study: str, name: str, outcome: Outcome, says: str) -> ElementTree.Element:
    about = {"classname": _clean(f"judgeaudit.{study}"), "name": _clean(name), "time": "0"}
    case = ElementTree.Element("testcase", about)
    if outcome is Outcome.PASS:
        _text(case, "system-out", says)
        return case
    tag = "failure" if outcome is Outcome.FAIL else "error"
    found = ElementTree.SubElement(
        case, tag, {"type": outcome.value, "message": _clean(f"{outcome.value}: {says}")}
    )
    found.text = _clean(says)
    return case


def _rest(report: GateReport) -> list[str]:
    cost = [] if report.asked is None else [report.asked.sentence()]
    changed = [amendment.sentence() for amendment in report.amendments]
    found = [f"finding: {text}" for text in report.findings]
    return [*cost, *changed, *found, *report.notes()]


def _text(parent: ElementTree.Element, tag: str, text: str) -> None:
    ElementTree.SubElement(parent, tag).text = _clean(text)


def _clean(text: str) -> str:
    """Return `text` safe to show, without what XML 1.0 cannot hold (its production 2, Char)."""
    return _NOT_XML.sub("\ufffd", printable_lines(text))
