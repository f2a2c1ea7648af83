"""The three claims about an effect, and what a registration may set about them.

Parameters of a gate, rule or bare analysis (`params`):

* `margin` (.10): what counts as large. `alpha` (.05): error of each one-sided bound; a gate's own
  alpha where it decides.
* `pool`: what decides and bears the statistic's plain name. "each" (default): every endpoint by
  itself; "these": the mean over these endpoints; "like": over endpoints like these.
* `stratum`: the scope of a contrast, e.g. "unlucky", "lucky.dep". Without it the first one that is
  declared decides and the others stand beside.
* `scale`: a meta key by which choices of the worse tool are weighed in each world (e.g. "gap", the
  difference of the tools' rates): the contrast is then one of regret, not of shares.
* `cluster`: what worlds belong to (e.g. "domain"); it is then the unit, for settings like these.
* `interval`: "tango" or "newcombe". A bound that decides is Newcombe's, because Tango's lower one
  misses more often than it says; a plain interval is Tango's.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from judgeaudit.analysis.luck.declared import CLAIMS
from judgeaudit.analysis.question import Question
from judgeaudit.errors import InputError
from judgeaudit.stats.paired import Base
from judgeaudit.stats.power import upper_quantile
from judgeaudit.stats.proportions import normal_quantile

Pool = Literal["each", "these", "like"]
CRITERIA = ("reduction", "negligible")
"""What a mitigation may be asked to do."""

NOT_SAFE = "not being shown to be large does not make it safe"


@dataclass(frozen=True, slots=True)
class Terms:
    """What is asked: the interval's level and base, the claims' margin and alpha, the pool."""

    level: float
    base: Base
    margin: float
    alpha: float
    pool: Pool
    counted: bool
    decides: bool
    cluster: str | None

    @property
    def z(self) -> float:
        """Normal quantile of the two-sided interval."""
        return normal_quantile(self.level)

    @property
    def z_alpha(self) -> float:
        """Normal quantile of a one-sided bound."""
        return upper_quantile(self.alpha)


def terms_of(question: Question, margin: float | None = None) -> Terms:
    """Return the terms of a question; `margin` is the contrast's own.

    Raises `InputError` for a parameter that is none of them.
    """
    decides = question.threshold is not None or question.level != 0.95
    alpha = (1 - question.level) / 2 if decides else 0.05
    base = one_of(question, "interval", ("tango", "newcombe"), "newcombe" if decides else "tango")
    cluster = question.params.get("cluster")
    return Terms(
        level=question.level,
        base="tango" if base == "tango" else "newcombe",
        margin=question.number("margin", 0.10 if margin is None else margin),
        alpha=question.number("alpha", round(alpha, 12)),
        pool=_pool(question),
        counted=question.counts_invalid,
        decides=decides,
        cluster=None if cluster is None else str(cluster),
    )


def _pool(question: Question) -> Pool:
    found = one_of(question, "pool", ("each", "these", "like"), "each")
    return "these" if found == "these" else "like" if found == "like" else "each"


def one_of(question: Question, name: str, allowed: tuple[str, ...], default: str) -> str:
    """Return the parameter `name`; raises `InputError` where it is none of `allowed`."""
    value = str(question.params.get(name, default))
    if value not in allowed:
        raise InputError("params", name, repr(value), f"one of {', '.join(allowed)}")
    return value


@dataclass(frozen=True, slots=True)
class Claims:
    """One-sided bounds at `alpha` and what they allow to claim about an effect.

    `made` are the claims that the contrast declares; the sentence speaks of these.
    """

    lower: float
    upper: float
    margin: float
    alpha: float
    made: tuple[str, ...] = CLAIMS

    @property
    def present(self) -> bool:
        """The lower bound exceeds 0."""
        return self.lower > 0

    @property
    def large(self) -> bool:
        """The lower bound exceeds the margin."""
        return self.lower > self.margin

    @property
    def negligible(self) -> bool:
        """The upper bound lies below the margin."""
        return self.upper < self.margin

    def to_dict(self) -> dict[str, object]:
        """Return JSON values, the sentence among them."""
        return {
            "lower": self.lower,
            "upper": self.upper,
            "margin": self.margin,
            "alpha": self.alpha,
            "present": self.present,
            "large": self.large,
            "negligible": self.negligible,
            "made": list(self.made),
            "says": self.sentence(),
        }

    def sentence(self) -> str:
        """Return the three claims in words; what is not shown is said to be that."""
        every = {
            "present": ("present (above 0)", self.present),
            "large": (f"large (above {self.margin:g})", self.large),
            "negligible": (f"negligible (below {self.margin:g})", self.negligible),
        }
        yes_no = [every[name] for name in self.made]
        said = [f"shown to be {what}" for what, holds in yes_no if holds]
        said += [f"not shown to be {what}" for what, holds in yes_no if not holds]
        warning = "" if self.large or self.negligible else f"; {NOT_SAFE}"
        return (
            f"one-sided bounds at {self.alpha:g}: {self.lower:.3f} and {self.upper:.3f}; "
            + ", ".join(said)
            + warning
        )
