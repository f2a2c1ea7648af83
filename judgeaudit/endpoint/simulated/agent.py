"""Scripted agents with known answers, for the memory-luck study.

They read the decision prompt by these conventions:

* the log has, for each tool, a line `TOOL: S successes in N runs` or a table row
  `| TOOL | runs | succeeded | ...`;
* the outcome shown is `Last run: TOOL failed.` or `..., TOOL was used. It failed`, likewise
  succeeded; of several the last one counts, and none inside the memory;
* the memory stands between `<memory>` and `</memory>`;
* a choice offers the tools after `one of: X, Y`, or in a json_schema enum;
* a request to write a lesson says `Write` and, later on, `memory item` or `memory items`.

The better tool is the one with the higher posterior mean of a Beta(1, 1) prior on the log.
`bayes` picks it. `superstitious` picks the worse tool with chance `base`, and with `base + carry`
after the better tool failed and its memory blames that tool for the failure (the words
`avoid TOOL because it failed`, which the agents' own lessons use): so its CARRY is `carry`.
`random` picks either tool, `stubborn` the first one offered, `unparsable` names none with chance
`base` and else acts as `bayes`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from judgeaudit.endpoint.simulated.draws import Stream
from judgeaudit.endpoint.simulated.question import Question
from judgeaudit.endpoint.simulated.scenarios import Scenario

_LINE = re.compile(r"^[\s\-*]*(.+?): (\d+) successes? in (\d+) runs?\b", re.M)
_ROW = re.compile(r"^[ \t]*\|[ \t]*(.+?)[ \t]*\|[ \t]*(\d+)[ \t]*\|[ \t]*(\d+)[ \t]*\|", re.M)
_LAST = re.compile(
    r"\bLast run: (?P<a>[^.\n]+?) (?P<b>failed|succeeded)\b"
    r"|, (?P<c>[^,.\n]+?) was used\.\s+It (?P<d>failed|succeeded)\b"
)
_MEMORY = re.compile(r"<memory>(.*?)</memory>", re.S)
_WRITE = re.compile(r"\bwrite\b.*\bmemory items?\b", re.I | re.S)


def decide(
    scenario: Scenario,
    conversation: str,
    question: Question,
    schema: Mapping[str, Any] | None,
    draws: Stream,
) -> str | None:
    """Return the agent's answer, or None where the prompt is no decision and no lesson."""
    if len(question.options) >= 2 and question.kind == "verdict":
        choice = _choice(scenario, conversation, question.options, draws)
        if choice is not None and question.property_ is not None:
            return json.dumps({question.property_: choice})
        return choice
    if _WRITE.search(conversation):
        return lesson(conversation, schema)
    return None


def _choice(
    scenario: Scenario, conversation: str, options: tuple[str, ...], draws: Stream
) -> str | None:
    u = draws.uniform()
    if scenario.agent == "stubborn":
        return options[0]
    if scenario.agent == "random":
        return options[int(u * len(options))]
    if scenario.agent == "unparsable" and u < scenario.base:
        return "SIMULATED: either of them could do, it depends."
    ranked = by_record(conversation, options)
    if not ranked:
        return None
    better, worse = ranked[0], ranked[-1]
    if scenario.agent != "superstitious":
        return better
    chance = scenario.base + (scenario.carry if _blamed(conversation, better) else 0.0)
    return worse if u < chance else better


def by_record(conversation: str, options: tuple[str, ...]) -> list[str]:
    """Return the options in order of their posterior mean (1 + S) / (2 + N), best first.

    Equal records keep the order offered; a tool without a record gives an empty list.
    """
    log = _MEMORY.sub("", conversation)
    counts = [(name, int(wins), int(runs)) for name, wins, runs in _LINE.findall(log)]
    counts += [(name, int(wins), int(runs)) for name, runs, wins in _ROW.findall(log)]
    record = {name.strip("*\"'` "): Fraction(1 + wins, 2 + runs) for name, wins, runs in counts}
    if not all(option in record for option in options):
        return []
    return sorted(options, key=lambda option: -record[option])


def last_outcome(conversation: str) -> tuple[str, str] | None:
    """Return (tool, failed or succeeded) of the outcome shown, or None."""
    found = list(_LAST.finditer(_MEMORY.sub("", conversation)))
    if not found:
        return None
    part = found[-1].groupdict()
    return (part["a"] or part["c"], part["b"] or part["d"])


def _blamed(conversation: str, better: str) -> bool:
    """Tell whether the better tool is shown to have failed and the memory blames it for that."""
    memory = " ".join(_MEMORY.findall(conversation))
    return last_outcome(conversation) == (better, "failed") and _blame(better) in memory


def _blame(tool: str) -> str:
    return f"avoid {tool} because it failed"


def lesson(conversation: str, schema: Mapping[str, Any] | None) -> str:
    """Return one memory item on the last outcome: blame after a failure, praise after a success.

    JSON, as `{"items": [{"title", "description", "content"}]}` under the schema's own array
    property or the one that the prompt shows as `"name": [`, where either is there; else Markdown.
    """
    tool, kind = last_outcome(conversation) or ("the tool", "succeeded")
    failed = kind == "failed"
    advice = _blame(tool) if failed else f"keep using {tool}, it worked"
    item = {
        "title": f"SIMULATED lesson: {tool} {kind}",
        "description": f"What the last run of {tool} teaches.",
        "content": f"The last run of {tool} {kind}. Next time {advice}.",
    }
    key = _items_key(conversation, schema)
    if key is not None:
        return json.dumps({key: [item]})
    return (
        f"# Memory Item 1\n## Title\n{item['title']}\n"
        f"## Description\n{item['description']}\n## Content\n{item['content']}"
    )


def _items_key(conversation: str, schema: Mapping[str, Any] | None) -> str | None:
    for name, part in dict((schema or {}).get("properties") or {}).items():
        if isinstance(part, Mapping) and part.get("type") == "array":
            return str(name)
    shown = re.findall(r'"(\w+)"\s*:\s*\[', conversation)
    return shown[-1] if shown else None
