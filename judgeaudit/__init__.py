"""judgeaudit: reliability studies of LLM judges, from registration to verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from judgeaudit.version import __version__

if TYPE_CHECKING:
    from judgeaudit.api import (
        JudgeauditError,
        amend,
        analyze,
        analyze_table,
        check,
        decide,
        estimate,
        estimates,
        export,
        freeze,
        gate,
        gate_table,
        init,
        items,
        load_readings,
        load_study,
        monitor,
        oc,
        pilot,
        power,
        run,
        show,
        stamp,
        status,
        verdicts,
        verify,
    )


__all__ = [
    "JudgeauditError",
    "__version__",
    "amend",
    "analyze",
    "analyze_table",
    "check",
    "decide",
    "estimate",
    "estimates",
    "export",
    "freeze",
    "gate",
    "gate_table",
    "init",
    "items",
    "load_readings",
    "load_study",
    "monitor",
    "oc",
    "pilot",
    "power",
    "run",
    "show",
    "stamp",
    "status",
    "verdicts",
    "verify",
]


def __getattr__(name: str) -> Any:
    """Return an exported name; the libraries behind it are imported on first use."""
    if name in __all__:
        from judgeaudit import api

        return getattr(api, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
