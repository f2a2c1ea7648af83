"""A report of somebody's table as one JSON document, its sentences included."""

from __future__ import annotations

from typing import Any

from judgeaudit.analysis.exploratory import PartReport, Report
from judgeaudit.analysis.facets import as_facts
from judgeaudit.report.table_text import report_lines
from judgeaudit.verdict.verdicts import estimate_to_dict


def table_document(report: Report) -> dict[str, Any]:
    """Return a report as one JSON document, its sentences included."""
    return {
        "source": report.source,
        "rows": report.rows,
        "exploratory": True,
        "notes": list(report.notes),
        "parts": [_part(part) for part in report.parts],
        "between": [estimate_to_dict(estimate) for estimate in report.between],
        "text": list(report_lines(report)),
    }


def _part(part: PartReport) -> dict[str, Any]:
    return {
        "scope": part.scope,
        "kind": part.kind,
        "items": part.items,
        "runs": part.runs,
        "windows": part.windows,
        "orders": part.orders,
        "cells": part.cells,
        "valid": part.valid,
        "excluded": part.excluded,
        "worst_run": part.worst_run,
        "repeats": part.evidence.title,
        "possible_cache": part.evidence.cached or None,
        "facets": None if part.facets is None else as_facts(part.facets),
        "facts": part.facts,
        "estimates": [estimate_to_dict(estimate) for estimate in part.estimates],
    }
