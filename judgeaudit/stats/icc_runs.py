"""ICC(A,1) with an interval that knows how few runs there are.

ICC(A,1) counts a shift of a whole run as error, so its interval has to know how runs vary, and k
runs tell that with k - 1 degrees of freedom, however many items there are.

Rules of this module:

* The point estimate is vr/(vr + vc + ve) with the variances of `facets.run_model`, none clipped.
* The interval is a generalized confidence interval (Weerahandi 1993; Burdick, Borror & Montgomery
  2005): the mean square between runs is drawn as MSC (k - 1)/chi2(k - 1). Those of items and of
  the residual are drawn together, on the log scale, as a bivariate t with the covariance that
  deleting items (or tasks) gives: chi-square draws fail where noise differs between items.
* With tasks, tasks are deleted, and the t has G - 1 degrees of freedom.
* Where the data are a few ordered levels and a run shift above .2 item SDs is not excluded (upper
  99 % limit of the variance between runs; two or three runs exclude none), `warning` says so: the
  interval was seen to cover as little as .77 there.
* With empty cells the deletions are those of Henderson's third method (`components.py`), around
  the REML estimate.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

from judgeaudit.stats.components import two_way_deleted
from judgeaudit.stats.facets import RunModel, run_model, usable
from judgeaudit.stats.icc import at_an_end
from judgeaudit.stats.interval import Interval, Undefined
from judgeaudit.stats.scaled import MIN_ITEMS, jackknife_influence, too_few

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
DRAWS = 2_000
FEW_LEVELS = 12
LARGE_SHIFT = 0.2
FEW_RUNS = 3


@dataclass(frozen=True, slots=True)
class AgreementIcc:
    """ICC(A,1) and ICC(A,k) over the runs of a table, each with its interval or the reason.

    Attributes
    ----------
    single, mean_of_k : float
        Reliability of one reading, and of the mean of one reading from each of the k runs.
    single_interval, mean_interval : Interval or Undefined
        Generalized confidence intervals.
    shift, shift_limit : float
        SD between runs in units of the SD between items, and its one-sided upper 99 % limit by
        chi-square; nan if items do not differ.
    units : int
        Items, or tasks, that the interval rests on.
    warning : str
        Why the interval may not cover as it claims; empty if it was measured to.
    model : RunModel
        The fitted model.
    """

    single: float
    mean_of_k: float
    single_interval: Interval | Undefined
    mean_interval: Interval | Undefined
    shift: float
    shift_limit: float
    units: int
    warning: str
    model: RunModel


def agreement_icc(
    scores: Floats,
    tasks: Codes | None = None,
    *,
    rng: np.random.Generator,
    level: float = 0.95,
    draws: int = DRAWS,
) -> AgreementIcc | Undefined:
    """Return ICC(A,1) and ICC(A,k) of items x runs with generalized confidence intervals.

    Parameters
    ----------
    scores : array, shape (n items, k runs)
        Scores in scale units; nan where there is no reading.
    tasks : array of int, shape (n,), optional
        The task of each item, if items of one task are not independent.
    rng : numpy Generator
        Draws the mean squares.
    level : float
        Confidence level.
    draws : int
        Number of draws.

    Returns
    -------
    AgreementIcc, or Undefined with the reason.

    References
    ----------
    McGraw & Wong (1996), Psychological Methods 1, 30-46; Weerahandi (1993), JASA 88, 899-905;
    Burdick, Borror & Montgomery (2005), SIAM.
    """
    model = run_model(scores)
    if isinstance(model, Undefined):
        return model
    vr, vc, ve = model.item, model.run, model.residual
    if vr + vc + ve <= 0:
        return Undefined("the variances add to nothing")
    single, averaged = _ratios(vr, vc, ve, model.runs)
    shift = math.sqrt(max(vc, 0) / vr) if vr > 0 else math.nan
    limit = _shift_limit(model)
    found = _drawn(scores, tasks, model, rng, draws)
    kept = ~np.isnan(scores).all(axis=1)
    units = model.items if tasks is None else int(np.unique(tasks[kept]).size)
    if isinstance(found, Undefined):
        ends: list[Interval | Undefined] = [found, found]
    else:
        method = "generalized, drawn mean squares" + ("" if tasks is None else " over tasks")
        ends = [_middle(each, level, method) for each in found]
    warning = _warning(scores, limit, model.runs, units if tasks is not None else None)
    return AgreementIcc(
        float(single), float(averaged), ends[0], ends[1], shift, limit, units, warning, model
    )


def _middle(drawn: Floats, level: float, method: str) -> Interval:
    low, high = np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2])
    return Interval(float(low), float(high), level, method)


def _ratios(
    vr: float | Floats, vc: float | Floats, ve: float | Floats, k: int
) -> tuple[float | Floats, float | Floats]:
    return vr / (vr + vc + ve), vr / (vr + (vc + ve) / k)


def _drawn(
    scores: Floats, tasks: Codes | None, model: RunModel, rng: np.random.Generator, draws: int
) -> tuple[Floats, Floats] | Undefined:
    """Draws of ICC(A,1) and ICC(A,k)."""
    if model.residual <= 0:
        return Undefined("no disagreement between runs but a common shift")
    if model.items < MIN_ITEMS:
        return Undefined(f"fewer than {MIN_ITEMS} items")
    spread = _log_covariance(scores, tasks, model)
    if isinstance(spread, Undefined):
        return spread
    covariance, df = spread
    normal = rng.multivariate_normal([0, 0], covariance, draws, method="eigh")
    scale = np.sqrt(df / rng.chisquare(df, draws))[:, None]
    logs = np.log([max(model.msr, model.mse * 1e-9), model.mse]) + normal * scale
    msr, mse = np.exp(logs).T
    msc = model.msc * (model.runs - 1) / rng.chisquare(model.runs - 1, draws)
    vr = np.maximum((msr - mse) / model.per_item, 0)
    vc = np.maximum((msc - mse) / model.per_run, 0)
    single, averaged = _ratios(vr, vc, mse, model.runs)
    return np.asarray(single), np.asarray(averaged)


def _log_covariance(
    scores: Floats, tasks: Codes | None, model: RunModel
) -> tuple[Floats, int] | Undefined:
    """Covariance of (log MSR, log MSE) by deleting items or tasks, and degrees of freedom."""
    y, _ = usable(scores)
    codes = None if tasks is None else tasks[~np.isnan(scores).all(axis=1)]
    deleted = two_way_deleted(y, codes, model.per_item)
    units = deleted.shape[0]
    if why := too_few(units, tasks):
        return Undefined(why)
    if (deleted <= 1e-12 * model.mse).any():
        return Undefined("rests on a single item or task")
    influence = jackknife_influence(np.log(deleted))
    covariance = influence.T @ influence / (units * (units - 1))
    return covariance, units - 1


def _shift_limit(model: RunModel) -> float:
    if model.item <= 0:
        return math.nan
    df = model.runs - 1
    largest = model.msc * df / float(special.chdtri(df, 0.99))
    return math.sqrt(max(largest - model.mse, 0) / model.per_run / model.item)


def _warning(scores: Floats, limit: float, runs: int, tasks: int | None) -> str:
    levels = np.unique(scores[~np.isnan(scores)]).size
    if levels <= FEW_LEVELS and (runs <= FEW_RUNS or not limit <= LARGE_SHIFT):
        return (
            f"ICC(A,1) of scores of {levels} levels: {runs} runs do not exclude that runs differ "
            f"by {LARGE_SHIFT} item SDs, where its interval covered as little as 77% in simulations"
        )
    return "" if tasks is None else at_an_end(scores)
