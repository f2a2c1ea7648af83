"""The one record of a readout: every fact about it that another room needs.

No field has a default: a readout that forgets one cannot be made. Whatever else would be keyed by a
readout's name belongs here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Column = Literal["number", "category", "ranking", "text"]
"""Which field of `Value` a readout fills, and so which analyses may use it."""

Claim = Literal["ranking", "top1", "pairwise", "score", "verdict", "choice", "probability", "text"]
"""The granularity of what the consumer of a judge uses of its answers."""

Controls = Literal["compared", "compared_if_several", "low", "tools", "twins"]
"""Which items of known answer can be made for a readout; `battery.controls` says how."""


@dataclass(frozen=True, slots=True)
class ReadoutRecord:
    """What a readout is.

    `name`: what a protocol calls it. `column`: the field of `Value` that it fills.
    `needs_logprobs`: whether the API must report log-probabilities. `claims`: granularities that
    its readings can carry. `claim`: the one that `init` writes into a new study. `analysed_as`: the
    readout by whose name statistics say that they are a default, its own or that of one whose
    readings are alike. `structured`: the options that ask the API for an answer by JSON schema;
    empty where it cannot. `simulated`: the embedded judge that a new study asks without an
    endpoint. `controls`: the known-answer items that fit.
    """

    name: str
    column: Column
    needs_logprobs: bool
    claims: frozenset[Claim]
    claim: Claim
    analysed_as: str
    structured: Mapping[str, str | bool]
    simulated: str
    controls: Controls
