"""How often each gate's design would show what it is meant to show, and the size that it needs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from judgeaudit.analysis.luck.power import luck_power
from judgeaudit.design.base import plain
from judgeaudit.errors import InputError
from judgeaudit.evidence.lock.sources import load_study
from judgeaudit.stats.interval import Undefined
from judgeaudit.stats.power import icc_power, items_for_icc
from judgeaudit.study.characteristics import Considered, consider, price_of
from judgeaudit.study.folders import Folder
from judgeaudit.study.progress import Progress, silent
from judgeaudit.study.sound import sound
from judgeaudit.verdict.oc.gate import Characteristic
from judgeaudit.verdict.oc.redesign import items_for_power
from judgeaudit.verdict.oc.sequential import SequentialRule

POWERS = (0.8, 0.9)


def power(folder: Folder, *, progress: Progress = silent) -> list[dict[str, Any]]:
    """Return each gate's power at its healthy instrument, and the size for 80 and 90 %.

    One JSON object a gate; `power` is None where it cannot be told. Raises `RegistrationError` for
    a registration with problems, `UndefinedEstimate` without a gate.
    """
    root = Path(folder)
    draft = load_study(root)
    found = consider(root, draft, sound(draft), quick=True, progress=progress)
    return [_row(one, found) for one in found.whole(root, "no power to tell").found]


def _row(one: Characteristic, found: Considered) -> dict[str, Any]:
    if one.gate.statistic.startswith("luck_"):
        return _luck_row(one, found)

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
    } | _simulated(one)


def _simulated(one: Characteristic) -> dict[str, Any]:
    """Return how a sequential gate's power is known: its stop rule on simulated readings."""
    if not isinstance(one.rule, SequentialRule):
        return {}
    return {"method": "the executed stop rule, simulated on the even instrument"}


def _icc(one: Characteristic) -> dict[str, Any]:
    """Return the exact normal-theory power of an ICC, which needs no pilot."""
    gate = one.gate
    if gate.statistic != "icc" or gate.healthy is None or gate.at_least is None:
        return {}

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
