"""A linter for designs that ask again until they pass. Text in, findings out.

A gate of error alpha that may be asked k times passes a bad judge with a chance of up to k alpha.
What is looked for, in a CI workflow: a gate inside a retry or a loop, a second gate after the first
failed, an order drawn from chance, time or the attempt's number instead of the commit, a failure
that is ignored. In a registration: words that describe it, and gates that a laxer twin undoes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from judgeaudit.design.document import Registration
from judgeaudit.statistic import Catalogue

GATE = r"judgeaudit\s+gate\b"
_LINE = r"[^\n]*"
WORKFLOW = (
    (
        rf"(?:nick-fields/retry|wandalen/wretry|retry-action){_LINE}(?:\n{_LINE}){{0,12}}?{GATE}",
        "the gate runs inside a retry step: it is asked again until it passes",
    ),
    (
        rf"\b(?:until|while)\b{_LINE}{GATE}|\bfor\b{_LINE};\s*do(?:{_LINE}\n){{0,6}}?{_LINE}{GATE}",
        "the gate runs in a loop: it is asked again until it passes",
    ),
    (
        rf"{GATE}{_LINE}\|\|{_LINE}{GATE}",
        "a second gate runs where the first one failed: any pass of two passes",
    ),
    (
        rf"{GATE}{_LINE}--run-key{_LINE}(?:RANDOM|date|uuid|run_attempt|run_id|run_number)",
        "the run key changes with each attempt: take the commit, so that asking again goes on",
    ),
    (
        rf"{GATE}{_LINE}(?:\|\|\s*true\b|\|\|\s*:)",
        "the gate's exit code is thrown away",
    ),
    (
        rf"continue-on-error:\s*true(?:\n{_LINE}){{0,4}}?{GATE}"
        rf"|{GATE}(?:{_LINE}\n){{0,3}}?\s*continue-on-error:\s*true",
        "the step goes on whatever the gate says",
    ),
)
WORDS = (
    (r"\b(?:until|till)\s+(?:it|they|one|the\s+gate)\s+(?:passes|pass|agrees?)", "asks until"),
    (r"\bre-?(?:run|try|ask)\w*\s+(?:until|on\s+fail\w*)", "asks again on failure"),
    (
        r"\b(?:min|minimum|best|max|maximum)\s+(?:over|of)\s+\w*\s*(?:attempts|runs|tries)",
        "best of",
    ),
    (r"\bany\s+(?:of\s+the\s+)?(?:window|run|attempt)s?\s+pass", "any pass of several"),
)


def workflow_findings(name: str, text: str) -> Iterator[str]:
    """Yield what in a workflow (or script) asks until it passes, with its line."""
    uncommented = re.sub(r"(?m)^\s*#.*$", "", text)
    for pattern, says in WORKFLOW:
        if (match := re.search(pattern, uncommented)) is not None:
            inside = match.group(0)
            last = [m.start() for m in re.finditer(GATE, inside)]
            at = match.start() + (last[0] if last else 0)
            yield f"{name}, line {uncommented.count(chr(10), 0, at) + 1}: {says}"


def registration_findings(registration: Registration, statistics: Catalogue) -> Iterator[str]:
    """Yield what in a registration asks until it passes; its prohibitions are not read."""
    study = registration.study
    texts = [("study.notes", study.notes), *(("study.hypotheses", t) for t in study.hypotheses)]
    texts += [(f"gates {gate.id}", gate.source) for gate in registration.gates]
    for place, text in texts:
        for pattern, says in WORDS:
            if (match := re.search(pattern, text, re.IGNORECASE)) is not None:
                yield f"{place}: {match.group(0)!r} {says}: a gate is asked once"
    for gate in registration.gates:
        found = statistics.get(gate.statistic)
        if found is not None and found.greatest and gate.at_least is not None:
            yield f"gates {gate.id}: {gate.statistic} at least: the best of several decides"
        window = gate.where.get("window")
        if window is not None:
            yield f"gates {gate.id}: window {window!r} alone decides: the others were asked in vain"
