"""How often each gate's design would show what it is meant to show, and the size that it needs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from judgeaudit.analysis.luck.declared import Contrast, chosen
from judgeaudit.analysis.luck.named import ROLES
from judgeaudit.analysis.luck.power import luck_power
from judgeaudit.design.base import plain
from judgeaudit.design.criteria import Gate
from judgeaudit.evidence.lock.sources import load_study
from judgeaudit.stats.interval import Undefined
from judgeaudit.stats.power import icc_power, items_for_icc
from judgeaudit.study.characteristics import Considered, consider, price_of
from judgeaudit.study.folders import Folder
from judgeaudit.study.progress import Progress, silent
from judgeaudit.study.sound import sound
from judgeaudit.verdict.declared import design_of
from judgeaudit.verdict.oc.gate import Characteristic
from judgeaudit.verdict.oc.redesign import items_for_power
from judgeaudit.verdict.oc.sequential import SequentialRule

POWERS = (0.8, 0.9)
USUAL = 0.02
ASSUMED = (
    f" Assumed: P(worse tool) {USUAL:g} in every cell, so that the effect is 0; write what you "
    "believe under the gate's healthy.params.cells."
)
CONTRASTS = frozenset(f"luck_{name}" for name in ROLES)


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
    """Return the simulated power of a claim about a contrast.

    `healthy.params.cells` holds the believed chances, e.g. {FF = 0.116, FU = 0.004, ...};
    `correlation` and `case` may stand beside it. Without it every cell has the chance `USUAL`: an
    effect of 0. The gate's threshold is the margin: `at_least` asks for an effect above it,
    `at_most` for one below.
    """
    gate = one.gate
    params = {} if gate.healthy is None else plain(gate.healthy.params)
    contrast = _contrast(gate, found, str(params.get("case", "unlucky")))
    if gate.statistic not in CONTRASTS and not isinstance(contrast, Contrast):
        why = f"the power of {gate.statistic} is not simulated"
        return _told(one) | {"needed": {"0.8": {"units": None, "why": why}}}
    cells = params.get("cells") or dict.fromkeys(_cells(contrast), USUAL)
    margin = gate.at_least if gate.at_least is not None else gate.at_most
    told = luck_power(
        one.size.units,
        len(found.registration.endpoints),
        cells,
        float(margin or 0),
        "negligible" if gate.at_most is not None else "large" if margin else "present",
        np.random.default_rng(found.registration.schedule.seed),
        contrast=contrast,
        case=str(params.get("case", "unlucky")),
        alpha=float(gate.alpha),
        correlation=float(params.get("correlation", 0.0)),
    )
    needed = {
        "0.8": {"units": told.worlds_needed, "why": "" if told.worlds_needed else "no number"}
    }
    assumed = "" if "cells" in params else ASSUMED
    return _told(one) | {
        "power": told.one_endpoint,
        "pooled": told.pooled,
        "needed": needed,
        "sentence": told.sentence + assumed,
        "method": f"{told.runs} simulated studies",
    }


def _contrast(gate: Gate, found: Considered, case: str) -> Contrast | str:
    """Return the declared contrast that a gate decides on, its name where none is declared."""
    design = design_of(found.inputs.protocol)
    if design is None:
        return gate.statistic
    name = str(gate.params.get("contrast", gate.statistic.removeprefix("luck_")))
    params = {"criterion": "reduction", **gate.params} if name == "mitigation" else gate.params
    several = chosen(design, name, {k: str(v) for k, v in params.items()})
    return several[0] if several else gate.statistic


def _cells(contrast: Contrast | str) -> tuple[str, ...]:
    return contrast.cells if isinstance(contrast, Contrast) else ("FF", "FS", "FU", "SS", "SU")
