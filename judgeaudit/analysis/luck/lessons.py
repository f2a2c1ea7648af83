"""What a lesson says, by rule: whom it blames and whether it advises a switch. Exploratory.

A sentence is coded for a tool when it names it. Words are matched whole and without case.

* `blames`: the sentence speaks of failure or of a defect (failed, unreliable, error ...) and not of
  chance.
* `chance`: any sentence speaks of luck, randomness, one run, or a small sample.
* `avoids`: the sentence advises against the tool (avoid X, instead of X, do not use X ...), or to
  use the other one (switch to Y, use Y instead, prefer Y ...).

The rules read wording, not meaning: they find what is said in these words and nothing else, and no
gate rests on them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

import pandas as pd

from judgeaudit.analysis.estimate import Estimate, undefined
from judgeaudit.analysis.question import Question
from judgeaudit.readings.table import META, probes
from judgeaudit.stats.proportions import clopper_pearson

NAME = "luck_lessons"
TRAITS = ("blames_better", "blames_worse", "chance", "away_from_better", "away_from_worse")

_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")
_FAULT = re.compile(
    r"\b(fail(s|ed|ure|ures|ing)?|unreliable|error-prone|errors?|broke|breaks|defects?|flaw(s|ed)?"
    r"|cannot be trusted|worse|poor(ly)?|inferior)\b",
    re.I,
)
_CHANCE = re.compile(
    r"\b(chance|luck(y|ily)?|unlucky|random(ly|ness)?|coinciden\w+|noise|variance|fluke"
    r"|one (run|outcome|failure|success|result)|(a )?single (run|outcome|failure|success|result)"
    r"|small sample|independent(ly)?)\b",
    re.I,
)
_NOT_CHANCE = re.compile(r"\b(not|no|never|hardly)\s+(by\s+|just\s+|mere\s+|bad\s+)*\Z", re.I)
_AGAINST = (
    r"(avoid|stop|drop|abandon|instead of|rather than|away from|switch from|do not|don't|never)"
    r"( (using|use|rely on|relying on|choose|choosing|pick|picking|trust|trusting))?"
)
_TOWARDS = (
    r"(switch(ing)? to|change to|move to|prefer|try|use|choose|pick|rely on|start with|default to)"
)
_NEGATED = re.compile(r"\b(not|never|no (reason|need) to|don't)\s+(yet\s+)?\Z", re.I)


@dataclass(frozen=True, slots=True)
class LessonCode:
    """What one lesson says: tools that it blames, whether it speaks of chance, tools to leave."""

    blames: frozenset[str]
    chance: bool
    avoids: frozenset[str]


def code_lesson(text: str, tools: tuple[str, str]) -> LessonCode:
    """Return the code of a lesson on two tools, named as in their world."""
    sentences = [part for part in _SENTENCE.split(text) if part.strip()]
    blames, avoids = set(), set()
    for sentence in sentences:
        for tool, other in (tools, tools[::-1]):
            if _names(sentence, tool):
                if _blamed(sentence, tool, other) and not _by_chance(sentence):
                    blames.add(tool)
                if _advised_against(sentence, tool):
                    avoids.add(tool)
            if _advised_towards(sentence, other, tool):
                avoids.add(tool)
    return LessonCode(frozenset(blames), any(map(_by_chance, sentences)), frozenset(avoids))


def _word(tool: str) -> str:
    return rf"(?<!\w){re.escape(tool)}(?!\w)"


def _names(sentence: str, tool: str) -> bool:
    return re.search(_word(tool), sentence, re.I) is not None


def _blamed(sentence: str, tool: str, other: str) -> bool:
    """Tell whether a word of fault stands nearer to this tool than to the other one."""
    return any(
        _distance(sentence, tool, fault.start()) <= _distance(sentence, other, fault.start())
        for fault in _FAULT.finditer(sentence)
        if _NEGATED.search(sentence[: fault.start()]) is None
    )


def _distance(sentence: str, tool: str, place: int) -> float:
    found = [abs(m.start() - place) for m in re.finditer(_word(tool), sentence, re.I)]
    return min(found, default=float("inf"))


def _by_chance(sentence: str) -> bool:
    return any(
        _NOT_CHANCE.search(sentence[: m.start()]) is None for m in _CHANCE.finditer(sentence)
    )


def _advised_against(sentence: str, tool: str) -> bool:
    advice = re.compile(rf"\b{_AGAINST}\s+(the\s+)?{_word(tool)}", re.I)
    return any(_NEGATED.search(sentence[: m.start()]) is None for m in advice.finditer(sentence))


def _advised_towards(sentence: str, to: str, leaving: str) -> bool:
    """Tell whether the sentence advises `to` in place of `leaving`."""
    advice = re.compile(rf"\b{_TOWARDS}\s+(the\s+)?{_word(to)}", re.I)
    for found in advice.finditer(sentence):
        if _NEGATED.search(sentence[: found.start()]) is not None:
            continue
        switch = found.group(1).lower().startswith(("switch", "change", "move"))
        instead = re.search(r"\binstead\b", sentence[found.end() :], re.I) is not None
        if switch or instead or _names(sentence[found.end() :], leaving):
            return True
    return False


def luck_lessons(table: pd.DataFrame, question: Question) -> list[Estimate]:
    """Return shares of lessons that blame a tool, name chance or advise a switch (exploratory)."""
    lessons = _lessons(probes(table))
    if not len(lessons):
        return [undefined(NAME, "no lesson's text beside the names of its world's tools")]
    tools = zip(lessons["text"], lessons[f"{META}better"], lessons[f"{META}worse"], strict=True)
    codes = [_traits(str(text), str(better), str(worse)) for text, better, worse in tools]
    coded = lessons.assign(**{t: [t in code for code in codes] for t in TRAITS})
    found = []
    for (endpoint, arm), part in coded.groupby(["endpoint", "arm"], sort=True):
        for trait in TRAITS:
            hits = int(part[trait].sum())
            scope = f"cell={arm}, {trait}"
            found.append(_share(str(endpoint), scope, hits, len(part), question.level))
    return found


def _lessons(table: pd.DataFrame) -> pd.DataFrame:
    named = [f"{META}better", f"{META}worse"]
    if any(name not in table for name in named):
        return table.iloc[:0]
    written = table["text"].notna() & table["status"].eq("ok")
    return table[written & table[named].notna().all(axis=1)]


def _traits(text: str, better: str, worse: str) -> frozenset[str]:
    code = code_lesson(text, (better, worse))
    told = {
        "blames_better": better in code.blames,
        "blames_worse": worse in code.blames,
        "chance": code.chance,
        "away_from_better": better in code.avoids,
        "away_from_worse": worse in code.avoids,
    }
    return frozenset(trait for trait, holds in told.items() if holds)


def _share(endpoint: str, scope: str, hits: int, total: int, level: float) -> Estimate:
    interval = clopper_pearson(hits, total, level)
    return Estimate(
        NAME,
        hits / total,
        endpoint=endpoint,
        scope=scope,
        exact=Fraction(hits, total),
        low=interval.low,
        high=interval.high,
        level=level,
        method=interval.method,
        cluster="world",
        n={"items": total, "hits": hits},
        caveats=("coded by rules on wording; exploratory",),
    )
