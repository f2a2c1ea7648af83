"""What a memory-luck study of a given size can show, before it is frozen.

Studies are simulated under chances that a person believes, one call a cell, and analysed as they
would be, by the code that analyses them: Newcombe's bound (MOVER of several pairs) at each
endpoint, t over worlds for the mean over these endpoints. The power of a claim is how often its
bound makes it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

from judgeaudit.analysis.luck.answers import Answers
from judgeaudit.analysis.luck.declared import CLAIMS, Contrast
from judgeaudit.analysis.luck.effects import effects_of
from judgeaudit.analysis.luck.named import contrast_of_name
from judgeaudit.analysis.luck.pool import RARE, with_pseudo_worlds
from judgeaudit.analysis.luck.skew import further_out, skewness
from judgeaudit.errors import InputError
from judgeaudit.stats.interval import Undefined
from judgeaudit.stats.power import correlated_answers, upper_quantile, worlds_for_margin
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
    contrast: Contrast | str = "luck_carry",
    case: str = "unlucky",
    alpha: float = 0.05,
    correlation: float = 0.0,
    runs: int = 2000,
) -> LuckPower:
    """Return how often a study of `n_worlds` worlds would make `claim` about `contrast`.

    `contrast` is a declared one, or the name of one of 0.1's with its `case`. `p_cells` are the
    believed chances of the worse tool by cell, in full or without the scope before the first dot,
    e.g. {"FF": .116, "FU": .004, "SS": .004, "SU": .004}. `correlation` is that of the latent
    variable that a world's cells share; endpoints are taken as alike. Raises `InputError` for an
    unknown claim or contrast and for a cell without a chance.
    """
    declared = contrast_of_name(contrast, case) if isinstance(contrast, str) else contrast
    chances = _chances(declared, p_cells)
    _check(n_worlds, endpoints, claim)
    about = (declared, chances, rng, correlation, runs)
    one = _share(_holds(claim, *_one_endpoint(*about, n_worlds, alpha), margin))
    pooled = _share(_holds(claim, *_pooled(*about, n_worlds, endpoints, alpha), margin))
    effect = float(np.dot(_weights(declared), chances))
    needed = _needed(effect, margin, claim, chances, _weights(declared), alpha)
    sentence = _sentence(
        declared.name, effect, margin, claim, n_worlds, endpoints, one, pooled, needed
    )
    return LuckPower(
        declared.name,
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


def _share(made: NDArray[np.bool_]) -> float:
    return float(np.mean(made))


def _weights(contrast: Contrast) -> Floats:
    return np.array([float(weight) for _, weight in contrast.weights])


def _chances(contrast: Contrast, p_cells: Mapping[str, float]) -> tuple[float, ...]:
    found, lacking = [], []
    for cell in contrast.cells:
        short = cell.partition(".")[2] or cell
        chance = p_cells.get(cell, p_cells.get(short, -1.0))
        found.append(chance)
        if not 0 <= chance <= 1:
            lacking.append(short)
    if lacking:
        raise InputError("power", "p_cells", f"no chance in [0, 1] for {', '.join(lacking)}")
    return tuple(found)


def _check(worlds: int, endpoints: int, claim: str) -> None:
    if claim not in CLAIMS:
        raise InputError("power", "claim", repr(claim), f"one of {', '.join(CLAIMS)}")
    if worlds < 2 or endpoints < 1:
        found = f"{worlds} worlds, {endpoints} endpoints"
        raise InputError("power", "size", found, "give at least 2 worlds and 1 endpoint")


def _one_endpoint(
    contrast: Contrast,
    chances: tuple[float, ...],
    rng: np.random.Generator,
    correlation: float,
    runs: int,
    worlds: int,
    alpha: float,
) -> tuple[Floats, Floats]:
    """Return one-sided bounds at one endpoint by the code that analyses, one pair a study."""
    # In parts: 2,000 studies of 256 worlds at once would take hundreds of megabytes.
    part = max(1, min(runs, 2_000_000 // (worlds * len(chances))))
    ends = []
    for start in range(0, runs, part):
        size = min(part, runs - start)
        y = correlated_answers(chances, worlds, size, rng=rng, correlation=correlation)
        worse = np.asarray(y, np.int64).transpose(0, 2, 1)
        ones = np.ones_like(worse)
        names = (tuple(map(str, range(size))), contrast.cells, tuple(map(str, range(worlds))))
        answers = Answers(*names, worse, ones, ones, np.zeros_like(worse), {})
        effects = effects_of(answers, contrast)
        assert not isinstance(effects, Undefined)
        ends.append(np.stack(effects.ends(upper_quantile(alpha), "newcombe")))
    low, high = np.concatenate(ends, axis=1)
    return low, high


def _pooled(
    contrast: Contrast,
    chances: tuple[float, ...],
    rng: np.random.Generator,
    correlation: float,
    runs: int,
    worlds: int,
    endpoints: int,
    alpha: float,
) -> tuple[Floats, Floats]:
    """Return one-sided bounds of the mean over endpoints, one pair a simulated study."""
    weights, t = _weights(contrast), float(special.stdtrit(worlds - 1, 1 - alpha))
    ends = []
    for _ in range(runs):
        y = correlated_answers(
            chances, worlds, endpoints, rng=rng, correlation=correlation
        )  # endpoints x worlds x cells
        d = y.astype(float) @ weights
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
    effect: float,
    margin: float,
    claim: str,
    chances: tuple[float, ...],
    weights: Floats,
    alpha: float,
) -> int | None:
    variance = sum(w * w * p * (1 - p) for w, p in zip(weights, chances, strict=True))
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
