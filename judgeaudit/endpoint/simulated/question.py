"""What a request asks, read from its wording alone: the simulated judge knows no battery.

Conventions, looked for in this order in the last user message and then in the system message
(where several lines match, the last one counts):

1. `response_format.json_schema` (Anthropic: `output_config.format` or `output_format`) whose
   schema has an array property with an enum of aliases: a **ranking**, answered as an object with
   that property. A string property with an enum: a **verdict**; a number property with `minimum`
   and `maximum`: a **score**; each answered as an object.
2. A line with `one of: A, B` (`Answer with exactly one of: A, B, tie`): a closed set of
   categories. With log-probabilities asked for and two categories it is a **label** question.
   A line such as `"A" means correct, "B" means incorrect` tells which label is the positive one;
   without it words such as yes or pass do, then the label first in the alphabet. Two quoted
   labels in such a line also serve without the `one of:` line. A category called tie, equal,
   same, draw, both or neither is the middle one. Categories that head shown candidates
   (`A: text`) are compared with each other; others are judged on the whole prompt.
3. `"ranking"` with candidates shown (see `blocks`), or a line with `exactly these: A, B, C`
   or `permutation of: A, B, C`: a **ranking**, answered as `{"ranking": [...]}`.
4. `a number from 1 to 5`, `score between 0 and 1`, `scale of 1 to 10`: a **score**; whole numbers
   unless a bound has a decimal point or the line speaks of decimals.
5. Anything else with text in it: **free text**.

The truth of a label, score or verdict question hangs on the user's messages without the lines of
rule 2, so that both arms of a reversed mapping are asked about the same point.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from judgeaudit.endpoint.simulated.blocks import blocks

_ONE_OF = re.compile(r"\bone of(?:[^:\n]{0,60})?:[ \t]*(\S.*)$", re.M | re.I)
_THESE = re.compile(
    r"\b(?:exactly these(?:[^:\n]{0,40})?|permutation of):[ \t]*(\S.*)$", re.M | re.I
)
_MEANS = (
    r"""["“'`]?[ \t]*(?:means|stands for|=|is for|if|when|for)[ \t]+"""
    r"""(.+?)(?=[,;.\n]|\b(?:and|or)\b|$)"""
)
_QUOTED = re.compile(r"""["“'`]([^"”'`\s]{1,40})["”'`][ \t]*(?:means|stands for|=|is for)\b""")
_SAY = r"(?:answer|reply|respond|write|say|output|choose|print)(?:[ \t]+with)?"
_NUMBER = r"(-?\d+(?:\.\d+)?)"
_SCALE = re.compile(
    rf"\b(?:number|score|integer|rating|grade|scale|value|probability|rate)\b[^.\n]{{0,60}}?"
    rf"(?:from|between|of|:|in)[ \t]*\[?{_NUMBER}[ \t]*(?:to|and|-|–|,)[ \t]*{_NUMBER}",
    re.I,
)
_NEGATIVE = re.compile(
    r"\b(?:incorrect|wrong|false|not|no|invalid|bad|fail\w*|error\w*|unsafe|reject\w*)\b", re.I
)
_POSITIVE = re.compile(r"\b(?:correct|right|true|yes|valid|good|pass\w*|ok|safe|accept\w*)\b", re.I)
TIES = frozenset({"tie", "equal", "same", "draw", "both", "neither"})
"""Categories that favour none of the shown candidates."""


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked. `kind` is label, ranking, verdict, score or text.

    `text` is what the truth hangs on; `shown` holds candidates by alias; `options` the closed set
    of answers; `positive` the label that means correct; `forward` whether that label comes first
    in the alphabet; `property_` the JSON property that a structured answer must fill.
    """

    kind: str
    text: str
    options: tuple[str, ...] = ()
    shown: Mapping[str, str] = field(default_factory=dict)
    positive: str | None = None
    low: float = 0.0
    high: float = 1.0
    decimals: bool = False
    property_: str | None = None

    @property
    def forward(self) -> bool:
        """Whether the positive label comes first in the alphabet: the forward mapping."""
        return self.positive == min(self.options)


LOOKED_FOR = (
    "looked for: a json_schema with an enum; a line `one of: A, B`; "
    '`{"ranking": [...]}` with candidates `[A] text`; `a number from 1 to 5`; or any text at all'
)


def understand(
    messages: list[tuple[str, str]], schema: Mapping[str, Any] | None, logprobs: bool
) -> Question | None:
    """Return what the conversation asks, or None where there is no text in it."""
    users = [text for role, text in messages if role == "user"]
    if not any(text.strip() for text in users):
        return None
    system = "\n".join(text for role, text in messages if role == "system")
    text = "\n".join(users).strip()
    sources = (users[-1], system)
    return (
        _from_schema(schema, users[-1], text)
        or _closed(sources, text, logprobs)
        or _ranking(sources, text)
        or _score(sources, text)
        or Question("text", text)
    )


def _from_schema(schema: Mapping[str, Any] | None, user: str, text: str) -> Question | None:
    for name, part in dict((schema or {}).get("properties") or {}).items():
        if not isinstance(part, Mapping):
            continue
        items = part.get("items")
        if isinstance(items, Mapping) and items.get("enum"):
            aliases = tuple(map(str, items["enum"]))
            shown = blocks(user, aliases) or {alias: f"{alias}\n{text}" for alias in aliases}
            return Question("ranking", text, aliases, shown, property_=name)
        if part.get("enum"):
            options = tuple(map(str, part["enum"]))
            return Question("verdict", text, options, _shown(user, options), property_=name)
        if "minimum" in part and "maximum" in part:
            low, high = float(part["minimum"]), float(part["maximum"])
            whole = part.get("type") == "integer"
            return Question("score", text, low=low, high=high, decimals=not whole, property_=name)
    return None


def _closed(sources: tuple[str, str], text: str, logprobs: bool) -> Question | None:
    options = _options(sources, _ONE_OF)
    if not options and logprobs:
        options = tuple(dict.fromkeys(_QUOTED.findall("\n".join(sources))))
        options = options if len(options) == 2 else ()
    if len(options) < 2:
        return None
    shown = _shown(sources[0], options)
    if logprobs and len(options) == 2:
        point = _point(text, options)
        return Question("label", point, options, shown, _positive(sources, options))
    return Question("verdict", _drop_one_of(text), options, shown)


def _drop_one_of(text: str) -> str:
    return "\n".join(line for line in text.splitlines() if not _ONE_OF.search(line)).strip()


def _shown(user: str, options: tuple[str, ...]) -> Mapping[str, str]:
    return blocks(user, [option for option in options if option.lower() not in TIES])


def _options(sources: tuple[str, str], pattern: re.Pattern[str]) -> tuple[str, ...]:
    for source in sources:
        found = pattern.findall(source)
        if found:
            parts = re.split(r"\s*(?:,|\||\bor\b|\band\b)\s*", found[-1].strip().rstrip("."))
            words = (part.strip(" \t\"“”'`") for part in parts)
            return tuple(dict.fromkeys(word for word in words if word))
    return ()


def _positive(sources: tuple[str, str], options: tuple[str, ...]) -> str:
    for source in sources:
        for line in _mapping_lines(source, options):
            signs = _signs(line, options)
            if 1 in signs:
                return options[signs.index(1)]
            return options[1 - signs.index(-1)]
    signs = [_polarity(option) for option in options]
    return options[signs.index(1)] if sorted(signs) == [-1, 1] else min(options)


def _mapping_lines(source: str, options: tuple[str, ...]) -> list[str]:
    """Return the lines that give both labels opposite meanings; else those that give one."""
    naming = [line for line in source.splitlines() if any(option in line for option in options)]
    found = [(line, _signs(line, options)) for line in naming]
    both = [line for line, signs in found if sorted(signs) == [-1, 1]]
    single = [line for line, signs in found if sorted(map(abs, signs)) == [0, 1]]
    return (both or single)[::-1]


def _signs(line: str, options: tuple[str, ...]) -> list[int]:
    return [_polarity(_meaning(option, line)) for option in options]


def _meaning(label: str, line: str) -> str:
    """Return what stands after `A means` or `A if`, or before `answer A`."""
    after, said = _label_patterns(label)
    if match := after.search(line):
        return match.group(1)
    parts = re.split(r"[.;,]", line)
    for number, part in enumerate(parts):
        if said.search(part):
            return f"{parts[number - 1] if number else ''} {part}"
    return ""


@lru_cache(maxsize=64)
def _label_patterns(label: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    word = rf"(?<!\w){re.escape(label)}(?!\w)"
    return re.compile(word + _MEANS), re.compile(rf"\b(?i:{_SAY})[ \t]+[\"“'`]?{word}")


def _polarity(phrase: str) -> int:
    if _NEGATIVE.search(phrase):
        return -1
    return 1 if _POSITIVE.search(phrase) else 0


def _point(text: str, options: tuple[str, ...]) -> str:
    """Drop the lines that name labels, so that a point is the same under either mapping."""
    mapping = set(_mapping_lines(text, options))
    kept = [line for line in text.splitlines() if line not in mapping and not _ONE_OF.search(line)]
    return "\n".join(kept).strip()


def _ranking(sources: tuple[str, str], text: str) -> Question | None:
    aliases = _options(sources, _THESE)
    if not aliases and not any('"ranking"' in source for source in sources):
        return None
    shown = blocks(sources[0], aliases or None)
    if not shown and aliases:
        shown = {alias: f"{alias}\n{text}" for alias in aliases}
    return Question("ranking", text, tuple(shown), shown) if shown else None


def _score(sources: tuple[str, str], text: str) -> Question | None:
    for source in sources:
        found = list(_SCALE.finditer(source))
        if found:
            low, high = found[-1].groups()
            start = source.rfind("\n", 0, found[-1].start()) + 1
            line = source[start:].split("\n", 1)[0]
            decimals = "." in low + high or "decimal" in line.lower()
            return Question("score", text, low=float(low), high=float(high), decimals=decimals)
    return None
