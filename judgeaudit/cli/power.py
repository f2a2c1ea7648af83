"""The body of `judgeaudit prereg power`: how often each design would show what it is meant to."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judgeaudit.cli.exits import ExitCode
from judgeaudit.cli.output import document, lines
from judgeaudit.errors import InputError, UndefinedEstimate

if TYPE_CHECKING:
    from judgeaudit.study.characteristics import Considered
    from judgeaudit.verdict.oc.gate import Characteristic

POWERS = (0.8, 0.9)


def power(study: Path, as_json: bool) -> ExitCode:
    """Print each gate's power at its healthy instrument and the size for 80 and 90 %.

    0 if it could be told for every gate, 3 if not.
    """
    from judgeaudit.cli.progress import heard
    from judgeaudit.evidence.lock.files import load_study
    from judgeaudit.study.characteristics import consider
    from judgeaudit.study.sound import sound

    draft = load_study(study)
    report = sound(draft)
    found = consider(study, draft, report, quick=True, progress=heard)
    if not found.found:
        raise UndefinedEstimate(f"{study}: no gate is registered, so there is no power to tell")
    rows = [_row(one, found) for one in found.found]
    if as_json:
        document({"gates": rows})
    else:
        lines(text for row in rows for text in _lines(row))
    known = all(row["power"] is not None for row in rows)
    return ExitCode.DONE if known else ExitCode.UNDECIDED


def _row(one: Characteristic, found: Considered) -> dict[str, Any]:
    if one.gate.statistic.startswith("luck_"):
        return _luck_row(one, found)
    from judgeaudit.stats.interval import Undefined
    from judgeaudit.study.characteristics import price_of
    from judgeaudit.verdict.oc.redesign import items_for_power

    price = price_of(found.report)
    needed: dict[str, dict[str, Any]] = {}
    for wanted in POWERS:
        units = items_for_power(one, wanted)
        if isinstance(units, Undefined):
            needed[f"{wanted:g}"] = {"units": None, "why": units.reason}
        else:
            calls = one.size.calls_a_unit * units
            needed[f"{wanted:g}"] = {"units": units, "cost": price.of(calls)}
    return _told(one) | {"needed": needed} | _icc(one)


def _told(one: Characteristic) -> dict[str, Any]:
    precision = one.precision
    return {
        "gate": one.gate.id,
        "statistic": one.gate.statistic,
        "healthy": None if one.gate.healthy is None else str(one.gate.healthy.value),
        "units": one.size.units,
        "power": None if one.healthy is None else one.healthy.passes,
        "wrong_pass": None if one.degraded is None else one.degraded.passes,
        "draws": None if precision is None else precision.draws,
        "kappa": None if precision is None else precision.kappa,
        "from_pilot": False if precision is None else precision.from_pilot,
    }


def _icc(one: Characteristic) -> dict[str, Any]:
    """Return the exact normal-theory power of an ICC, which needs no pilot."""
    gate = one.gate
    if gate.statistic != "icc" or gate.healthy is None or gate.at_least is None:
        return {}
    from judgeaudit.stats.interval import Undefined
    from judgeaudit.stats.power import icc_power, items_for_icc

    repeats = max(2, round(one.size.calls / max(1, one.size.rows)))
    healthy, threshold, alpha = float(gate.healthy.value), float(gate.at_least), float(gate.alpha)
    exact = icc_power(healthy, threshold, one.size.units, repeats, alpha=alpha)
    needed = {}
    for wanted in POWERS:
        units = items_for_icc(healthy, threshold, repeats, alpha=alpha, power=wanted)
        why = units.reason if isinstance(units, Undefined) else ""
        needed[f"{wanted:g}"] = {"units": None, "why": why} if why else {"units": units, "cost": ""}
    return {"power": exact, "needed": needed, "method": f"F, normal scores, {repeats} repeats"}


def _luck_row(one: Characteristic, found: Considered) -> dict[str, Any]:
    """Return the simulated power of a memory-luck claim.

    `healthy.params.cells` holds the believed chances, e.g. {FF = 0.116, FU = 0.004, ...};
    `correlation` and `case` may stand beside it. The gate's threshold is the margin: `at_least`
    asks for an effect above it, `at_most` for one below.
    """
    import numpy as np

    from judgeaudit.analysis.luck.power import luck_power
    from judgeaudit.design.base import plain

    gate = one.gate
    params = {} if gate.healthy is None else plain(gate.healthy.params)
    if "cells" not in params:
        raise InputError(
            "registration.toml",
            f"gate {gate.id}: healthy.params.cells",
            "missing",
            "give the believed chances by cell, e.g. cells = {FF = 0.116, FU = 0.004}",
        )
    margin = gate.at_least if gate.at_least is not None else gate.at_most
    told = luck_power(
        one.size.units,
        len(found.registration.endpoints),
        params["cells"],
        float(margin or 0),
        "negligible" if gate.at_most is not None else "large" if margin else "present",
        np.random.default_rng(found.registration.schedule.seed),
        contrast=gate.statistic,
        case=str(params.get("case", "unlucky")),
        alpha=float(gate.alpha),
        correlation=float(params.get("correlation", 0.0)),
    )
    needed = {
        "0.8": {"units": told.worlds_needed, "why": "" if told.worlds_needed else "no number"}
    }
    return _told(one) | {
        "power": told.one_endpoint,
        "pooled": told.pooled,
        "needed": needed,
        "sentence": told.sentence,
        "method": f"{told.runs} simulated studies",
    }


def _lines(row: dict[str, Any]) -> Iterator[str]:
    yield f"gate {row['gate']}: {row['statistic']}, healthy {row['healthy'] or 'not declared'}"
    if row["power"] is None:
        yield "  not known: declare healthy, and pilot"
    else:
        by = row.get("method") or ("by the pilot's precision" if row["from_pilot"] else "assumed")
        wrong = "" if row["wrong_pass"] is None else f"; degraded passes {row['wrong_pass']:.2f}"
        yield f"  {row['units']} independent units: power {row['power']:.2f} ({by}){wrong}"
    if row["kappa"] is not None:
        yield f"  kappa {row['kappa']:.3g}"
    for wanted, told in row["needed"].items():
        if told["units"] is None:
            yield f"  for power {wanted}: {told['why']}"
        else:
            cost = f", {told['cost']} an endpoint" if told.get("cost") else ""
            yield f"  for power {wanted}: {told['units']:,} units{cost}"
    if "sentence" in row:
        yield f"  {row['sentence']}"
