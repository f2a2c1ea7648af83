"""The three claims about an effect, and what a registration may set about them.

Parameters of a gate, rule or bare analysis (`params`):

* `margin` (.10): what counts as large. `alpha` (.05): error of each one-sided bound; a gate's own
  alpha where it decides.
* `pool`: what decides and bears the statistic's plain name. "each" (default): every endpoint by
  itself; "these": the mean over these endpoints; "like": over endpoints like these.
* `stratum`: cells of one kind only, e.g. "unlucky", "lucky", "unlucky.dep", "unlucky.note-w".
  Without it "unlucky" decides and the others stand beside.
* `interval`: "tango" or "newcombe". A bound that decides is Newcombe's, because Tango's lower one
  misses more often than it says; a plain interval is Tango's.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from judgeaudit.analysis.luck.cells import Stratum, parse_cell
from judgeaudit.analysis.question import Question
from judgeaudit.errors import InputError
from judgeaudit.stats.paired import Base
from judgeaudit.stats.power import upper_quantile
from judgeaudit.stats.proportions import normal_quantile

Pool = Literal["each", "these", "like"]
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
    stratum: Stratum | None

    @property
    def z(self) -> float:
        """Normal quantile of the two-sided interval."""
        return normal_quantile(self.level)

    @property
    def z_alpha(self) -> float:
        """Normal quantile of a one-sided bound."""
        return upper_quantile(self.alpha)


def terms_of(question: Question) -> Terms:
    """Return the terms of a question; raises `InputError` for a parameter that is none of them."""
    decides = question.threshold is not None or question.level != 0.95
    alpha = (1 - question.level) / 2 if decides else 0.05
    base = one_of(question, "interval", ("tango", "newcombe"), "newcombe" if decides else "tango")
    return Terms(
        level=question.level,
        base="tango" if base == "tango" else "newcombe",
        margin=question.number("margin", 0.10),
        alpha=question.number("alpha", round(alpha, 12)),
        pool=_pool(question),
        counted=question.counts_invalid,
        decides=decides,
        stratum=_stratum(question),
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


def _stratum(question: Question) -> Stratum | None:
    name = question.params.get("stratum")
    if name is None:
        return None
    case, *variants = str(name).split(".")
    cell = parse_cell(".".join([case, "FF", *variants]))
    if cell is None or cell.again or cell.probe:
        raise InputError(
            "params", "stratum", repr(name), 'write "unlucky", "lucky.dep" or the like'
        )
    return cell.stratum


@dataclass(frozen=True, slots=True)
class Claims:
    """One-sided bounds at `alpha` and what they allow to claim about an effect."""

    lower: float
    upper: float
    margin: float
    alpha: float

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
            "says": self.sentence(),
        }

    def sentence(self) -> str:
        """Return the three claims in words; what is not shown is said to be that."""
        yes_no = [
            ("present (above 0)", self.present),
            (f"large (above {self.margin:g})", self.large),
            (f"negligible (below {self.margin:g})", self.negligible),
        ]
        said = [f"shown to be {what}" for what, holds in yes_no if holds]
        said += [f"not shown to be {what}" for what, holds in yes_no if not holds]
        warning = "" if self.large or self.negligible else f"; {NOT_SAFE}"
        return (
            f"one-sided bounds at {self.alpha:g}: {self.lower:.3f} and {self.upper:.3f}; "
            + ", ".join(said)
            + warning
        )
