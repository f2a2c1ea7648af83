"""Where a default interval was measured to fall short, or was never measured.

The table is what `benchmarks/coverage.py` found (docs/coverage.md): an analysis is listed up to the
largest number of items at which one of its cells fell below .92 (.90 under 50 items), or left more
than .05 of the truths beyond one end. The benchmark fails when a cell falls short that is not here.
"""

from dataclasses import dataclass

LEAST_MEASURED_ITEMS = 30
LEAST_MEASURED_CLUSTERS = 6
MEASURED = (
    "spearman",
    "difference of spearmans",
    "kendall",
    "icc",
    "icc agreement",
    "noise",
    "flip rate",
    "ac1",
    "excess",
    "component items",
    "component items_by_window",
    "component repeats",
    "mean shift",
    "trend",
    "share of groups",
)


@dataclass(frozen=True, slots=True)
class Limit:
    """A shortfall of `analysis` at up to `items` items, where `condition` holds.

    `coverage` is the lowest found for a 95 % interval, `one_sided` the largest
    share of truths beyond one of its ends (nominal .025).
    """

    analysis: str
    items: int
    condition: str
    coverage: float
    one_sided: float


LIMITS: tuple[Limit, ...] = (
    Limit("icc", 100, "on scales where most scores are at the top level", 0.88, 0.10),
    Limit("noise", 49, "with two repeats, where few items vary", 0.82, 0.17),
    Limit(
        "component items_by_window",
        50,
        "on scales where half the scores are at the top level",
        0.87,
        0.12,
    ),
    Limit(
        "component items", 100, "on scales where half the scores are at the top level", 0.91, 0.07
    ),
)


def is_listed(analysis: str, n: int) -> bool:
    """Return whether a shortfall of `analysis`, such as "icc(1,1), k=5", is known at `n` items.

    Parameters
    ----------
    analysis : str
        Name of the analysis.
    n : int
        Number of items.

    Returns
    -------
    bool
    """
    return any(_is_about(analysis, limit.analysis) and n <= limit.items for limit in LIMITS)


def warn_if_unproven(analysis: str, items: int, clusters: int | None = None) -> str | None:
    """Return one sentence if the default 95 % interval of `analysis` is not proven here, else None.

    `analysis` is a name of `MEASURED`, alone or followed by "," or "(" and
    details; `clusters` counts the tasks if the error is summed by task.

    Parameters
    ----------
    analysis : str
        Name of the analysis.
    items : int
        Number of items.
    clusters : int, optional
        Number of tasks.

    Returns
    -------
    str or None
    """
    if not any(_is_about(analysis, name) for name in MEASURED):
        return f"coverage of the interval of {analysis} was not measured"
    if clusters is not None and clusters < LEAST_MEASURED_CLUSTERS:
        return f"coverage was not measured below {LEAST_MEASURED_CLUSTERS} tasks, here {clusters}"
    if items < LEAST_MEASURED_ITEMS:
        return f"coverage was not measured below {LEAST_MEASURED_ITEMS} items, here {items}"
    for limit in LIMITS:
        if _is_about(analysis, limit.analysis) and items <= limit.items:
            return (
                f"with up to {limit.items} items (here {items}) the 95% interval of "
                f"{limit.analysis} covered as little as {limit.coverage:.0%} in simulations "
                f"{limit.condition}"
            )
    return None


def _is_about(analysis: str, name: str) -> bool:
    return analysis == name or analysis.startswith((f"{name},", f"{name}("))
