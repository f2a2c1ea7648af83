"""Gates and rules held against estimates: pure, and the only place where an outcome is decided."""

from judgeaudit.verdict.registered import Findings, evaluate, question_of
from judgeaudit.verdict.rules import Named, name_outcome
from judgeaudit.verdict.verdicts import Held, Outcome, Verdict, compose, decide, overall

__all__ = [
    "Findings",
    "Held",
    "Named",
    "Outcome",
    "Verdict",
    "compose",
    "decide",
    "evaluate",
    "name_outcome",
    "overall",
    "question_of",
]
