"""What a memory-luck study of a given size can show, before it is frozen.

Studies are simulated under chances that a person believes, one call a cell, and analysed as they
would be: Newcombe's bound (MOVER of it for CARRY) at each endpoint, t over worlds for the mean over
these endpoints. The power of a claim is how often its bound makes it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

from judgeaudit.analysis.luck.declared import CLAIMS
from judgeaudit.analysis.luck.named import LUCK, ROLES
from judgeaudit.analysis.luck.pool import RARE, with_pseudo_worlds
from judgeaudit.analysis.luck.skew import further_out, skewness
from judgeaudit.errors import InputError
from judgeaudit.stats.interval import Undefined
from judgeaudit.stats.power import (
    ClaimPower,
    carry_power,
    correlated_answers,
    paired_power,
    worlds_for_margin,
)
from judgeaudit.stats.proportions import two_sided

Floats = NDArray[np.float64]
WANTED = 0.80


@dataclass(frozen=True, slots=True)
class LuckPower:
    """Power of one claim: at one endpoint, at every endpoint, and for the mean over all.

    `effect` is the true contrast; `every_endpoint` takes endpoints as independent given their
    chances; `worlds_needed` is for 80 % at one endpoint (normal approximation), None where no
    number of worlds suffices or the claim is another one.
    """

    contrast: str
    effect: float
    margin: float
    claim: str
    worlds: int
    endpoints: int
    one_endpoint: float
    every_endpoint: float
    pooled: float
    worlds_needed: int | None
    runs: int
    sentence: str


def luck_power(
    n_worlds: int,
    endpoints: int,
    p_cells: Mapping[str, float],
    margin: float,
    claim: str,
    rng: np.random.Generator,
    *,
    contrast: str = "luck_carry",
    case: str = "unlucky",
    alpha: float = 0.05,
    correlation: float = 0.0,
    runs: int = 2000,
) -> LuckPower:
    """Return how often a study of `n_worlds` worlds would make `claim` about `contrast`.

    `p_cells` are the believed chances of the worse tool by cell letters as in the cells' names,
    e.g. {"FF": .116, "FU": .004, "SS": .004, "SU": .004}. `correlation` is that of the latent
    variable that a world's cells share; endpoints are taken as alike. Raises `InputError` for an
    unknown claim or contrast and for a cell without a chance.
    """
    chances = _chances(contrast, case, p_cells)
    _check(n_worlds, endpoints, claim)
    found = _one_endpoint(
        chances, n_worlds, margin, rng=rng, alpha=alpha, correlation=correlation, runs=runs
    )
    one = float(getattr(found, claim))
    together = _pooled(
        chances, n_worlds, endpoints, rng=rng, alpha=alpha, correlation=correlation, runs=runs
    )
    pooled = float(np.mean(_holds(claim, *together, margin)))
    effect = float(np.dot(_signs(chances), chances))
    needed = _needed(effect, margin, claim, chances, alpha)
    sentence = _sentence(contrast, effect, margin, claim, n_worlds, endpoints, one, pooled, needed)
    return LuckPower(
        contrast,
        effect,
        margin,
        claim,
        n_worlds,
        endpoints,
        one,
        one**endpoints,
        pooled,
        needed,
        runs,
        sentence,
    )


def _chances(contrast: str, case: str, p_cells: Mapping[str, float]) -> tuple[float, ...]:
    name = contrast.removeprefix("luck_")
    if name not in ROLES or case not in LUCK:
        known = f"one of {', '.join(ROLES)} for {' or '.join(LUCK)}"
        raise InputError("power", "contrast", f"{contrast!r}, {case!r}", known)
    luck = LUCK[case]
    letters = {"L": luck, "O": "S" if luck == "F" else "F"}
    cells = ["".join(letters.get(role, role) for role in roles) for roles, _ in ROLES[name]]
    lacking = [cell for cell in cells if not 0 <= p_cells.get(cell, -1.0) <= 1]
    if lacking:
        raise InputError("power", "p_cells", f"no chance in [0, 1] for {', '.join(lacking)}")
    return tuple(p_cells[cell] for cell in cells)


def _check(worlds: int, endpoints: int, claim: str) -> None:
    if claim not in CLAIMS:
        raise InputError("power", "claim", repr(claim), f"one of {', '.join(CLAIMS)}")
    if worlds < 2 or endpoints < 1:
        found = f"{worlds} worlds, {endpoints} endpoints"
        raise InputError("power", "size", found, "give at least 2 worlds and 1 endpoint")


def _signs(chances: tuple[float, ...]) -> tuple[int, ...]:
    return (1, -1) if len(chances) == 2 else (1, -1, -1, 1)


def _one_endpoint(
    chances: tuple[float, ...],
    worlds: int,
    margin: float,
    *,
    rng: np.random.Generator,
    alpha: float,
    correlation: float,
    runs: int,
) -> ClaimPower:
    # In parts: 2,000 studies of 256 worlds at once would take hundreds of megabytes.
    part = max(1, min(runs, 2_000_000 // (worlds * len(chances))))
    sizes = [min(part, runs - start) for start in range(0, runs, part)]
    parts = [
        carry_power(
            (chances[0], chances[1], chances[2], chances[3]),
            worlds, margin, rng=rng, alpha=alpha, correlation=correlation, runs=size,
        )
        if len(chances) == 4
        else paired_power(
            chances[0], chances[1],
            worlds, margin, rng=rng, alpha=alpha, correlation=correlation, runs=size,
        )
        for size in sizes
    ]  # fmt: skip
    shares = [np.average([getattr(p, c) for p in parts], weights=sizes) for c in CLAIMS]
    return ClaimPower(float(shares[0]), float(shares[1]), float(shares[2]), runs)


def _pooled(
    chances: tuple[float, ...],
    worlds: int,
    endpoints: int,
    *,
    rng: np.random.Generator,
    alpha: float,
    correlation: float,
    runs: int,
) -> tuple[Floats, Floats]:
    """Return one-sided bounds of the mean over endpoints, one pair a simulated study."""
    signs, t = np.array(_signs(chances)), float(special.stdtrit(worlds - 1, 1 - alpha))
    ends = []
    for _ in range(runs):
        y = correlated_answers(
            chances, worlds, endpoints, rng=rng, correlation=correlation
        )  # endpoints x worlds x cells
        d = y.astype(float) @ signs
        mean = d.mean(axis=0)
        centre, se = float(mean.mean()), float(mean.std(ddof=1)) / np.sqrt(worlds)
        if int((d != 0).any(axis=0).sum()) < RARE:
            centre, se = with_pseudo_worlds(centre, se, worlds)
        below, above = further_out(skewness(mean), worlds, two_sided(alpha))
        ends.append((centre - (t + below) * se, centre + (t + above) * se))
    low, high = np.array(ends).T
    return low, high


def _holds(claim: str, low: Floats, high: Floats, margin: float) -> NDArray[np.bool_]:
    found = {"present": low > 0, "large": low > margin, "negligible": high < margin}
    return np.asarray(found[claim])


def _needed(
    effect: float, margin: float, claim: str, chances: tuple[float, ...], alpha: float
) -> int | None:
    variance = sum(p * (1 - p) for p in chances)
    over, under = (margin, effect) if claim == "negligible" else (effect, margin)
    needed = worlds_for_margin(
        over, 0.0 if claim == "present" else under, variance, alpha=alpha, power=WANTED
    )
    return None if isinstance(needed, Undefined) else needed


def _sentence(
    contrast: str,
    effect: float,
    margin: float,
    claim: str,
    worlds: int,
    endpoints: int,
    one: float,
    pooled: float,
    needed: int | None,
) -> str:
    asks = {
        "present": "be shown above 0",
        "large": f"clear {margin:.3g}",
        "negligible": f"be shown below {margin:.3g}",
    }[claim]
    name = contrast.removeprefix("luck_").replace("_", " ")
    text = (
        f"At {worlds} worlds a {name} of {effect:.3g} would {asks} at one endpoint "
        f"{_often(one)} ({one:.0%} of simulated studies)"
    )
    if endpoints > 1:
        text += f", as the mean over {endpoints} such endpoints {_often(pooled)} ({pooled:.0%})"
    if one >= WANTED:
        return text + "."
    if needed is None:
        return text + "; no number of worlds changes that, because the truth is on the other side."
    return text + f"; 80 % at one endpoint needs about {needed:,} worlds."


def _often(power: float) -> str:
    limits = ((0.25, "almost never"), (0.5, "less often than not"), (0.8, "more often than not"))
    return next((word for limit, word in limits if power < limit), "nearly always")
