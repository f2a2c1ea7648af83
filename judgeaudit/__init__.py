"""judgeaudit: reliability studies of LLM judges, from registration to verdict."""

__version__ = "0.1.0"
