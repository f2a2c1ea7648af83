"""Two labels, read from the log-probabilities at the one answer position.

* r = e^l+ / (e^l+ + e^l-), the probability of the label that means "correct" among the two;
  mass = e^l+ + e^l-, how much probability fell on either (CE: D1).
* A label's probability is the sum over the entries whose *bytes* equal one of its registered
  surface forms. Entries stay a list: two token ids can have one text, and both count.
* An entry whose log-probability is no number (at or below the option `floor`, -inf, NaN, or above
  0 beyond rounding) is a filler: an entry that was not reported. A label without an entry makes the
  arm invalid. Servers fill with -9999 (OpenAI, vLLM) or -100; a true -100 is a probability of
  4e-44, which no arithmetic of a model resolves.
* `label_pair` asks twice, with the label-to-meaning mapping reversed in arm `rev`; in each arm r
  belongs to the label that *means* correct there (CE: D1-S). `combine_pair` joins the two.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import ClassVar, Self

from pydantic import Field, model_validator

from judgeaudit.instrument.readout.base import (
    Base,
    Options,
    clip,
    empty,
    fault_of,
    sole_candidate,
    unparsed,
)
from judgeaudit.instrument.readout.interface import Cell
from judgeaudit.instrument.readout.numbers import number_of
from judgeaudit.instrument.readout.record import ReadoutRecord
from judgeaudit.instrument.rules import Rules
from judgeaudit.model import JSON, Ask, Invalid, Item, Reason, Reply, TokenLogprob, Value

FORWARD, REVERSED = "fwd", "rev"

FLOOR = -100.0
"""What is at or below it says "no log-probability", unless a protocol registers another floor."""

FLOOR_V1 = -9999.0
"""The floor by which 0.1 read (OpenAI's filler alone)."""

ROUNDING = 1e-6
"""How far above 0 a log-probability may lie, and a mass above 1, and still be rounding."""

CLIP = 1e-4
"""CE clips r to [1e-4, 1 - 1e-4] before taking logits."""


class Labels(Options):
    """The label that means "correct" in the forward mapping, and the other."""

    correct: str = Field(min_length=1)
    incorrect: str = Field(min_length=1)


class LabelOptions(Options):
    """`labels`; the byte strings, as text, that count as each; how many alternatives to ask for.

    Without `surface_forms` a label is read as itself, bare or after one space. Position 0 is the
    answer, or with `skip_leading_whitespace` the first position whose chosen, that is most
    probable, token is not whitespace alone. `floor` is the largest log-probability that is a
    filler.
    """

    labels: Labels
    surface_forms: Mapping[str, tuple[str, ...]] = Field(default_factory=dict)
    top_logprobs: int = Field(default=20, ge=2, le=100)
    skip_leading_whitespace: bool = False
    floor: float = Field(default=FLOOR, le=-20)

    @model_validator(mode="after")
    def _labels_can_be_told_apart(self) -> LabelOptions:
        names = {self.labels.correct, self.labels.incorrect}
        if len(names) < 2:
            raise ValueError("labels.correct and labels.incorrect must differ")
        if unknown := sorted(set(self.surface_forms) - names):
            raise ValueError(f"surface_forms names {unknown[0]!r}, which is no label")
        if empty := [name for name in sorted(self.surface_forms) if not self.surface_forms[name]]:
            raise ValueError(f"surface_forms.{empty[0]} is empty")
        shared = self.forms(self.labels.correct) & self.forms(self.labels.incorrect)
        if shared:
            raise ValueError(f"surface form {min(shared).decode()!r} belongs to both labels")
        return self

    def forms(self, label: str) -> frozenset[bytes]:
        """Return the byte strings that count as `label`."""
        texts = self.surface_forms.get(label, (label, f" {label}"))
        return frozenset(text.encode() for text in texts)


class LabelLogprob(Base[LabelOptions]):
    """One call an item; r is the probability of the label that means correct."""

    record: ClassVar[ReadoutRecord] = ReadoutRecord(
        name="label_logprob",
        column="number",
        needs_logprobs=True,
        claims=frozenset({"probability", "ranking", "top1", "pairwise", "score", "verdict"}),
        claim="probability",
        analysed_as="label_logprob",
        structured={},
        simulated="embedded:stable",
        controls="low",
    )
    options_model = LabelOptions
    must_show = frozenset({"label_correct", "label_incorrect"})

    def provided_fields(self) -> frozenset[str]:
        """Return `{label_correct}`, `{label_incorrect}` and `{candidate}`."""
        return frozenset({"label_correct", "label_incorrect", "candidate"})

    def provide(self, item: Item, arm: str) -> Mapping[str, JSON]:
        """Return the labels by their meaning in this arm, and the only candidate's text."""
        plus, minus = self.meaning(arm)
        return {"label_correct": plus, "label_incorrect": minus, **sole_candidate(item)}

    def meaning(self, arm: str) -> tuple[str, str]:
        """Return the labels that mean correct and incorrect in `arm`."""
        labels = self.options.labels
        pair = (labels.correct, labels.incorrect)
        return pair[::-1] if arm == REVERSED else pair

    def ask(self, item: Item, arm: str) -> Ask:
        """Return the messages and the number of alternatives wanted."""
        messages = self.prompt.render(self.fields(item, arm))
        return Ask(messages, top_logprobs=self.options.top_logprobs)

    def read(self, reply: Reply, item: Item, arm: str) -> Value | Invalid:
        """Return r, the label mass and the likelier label; or why there are none.

        One token is wanted, so an answer cut after it is whole: truncation is no reason here.
        """
        if (fault := fault_of(reply, cut_is_whole=True)) is not None:
            return fault
        entries = self._answer_position(reply)
        if isinstance(entries, Invalid):
            return entries
        return self._compare(entries, *self.meaning(arm))

    def parse(self, text: str, item: Item, arm: str) -> Value | Invalid:
        """Refuse: the text of an answer carries no log-probabilities."""
        return unparsed("this readout reads log-probabilities, not text")

    def cell_value(self, cell: Cell, item: Item, arm: str) -> Value | Invalid:
        """Return the cell's r, a probability; a table need not say the label mass."""
        number = number_of(cell) if isinstance(cell, str) else None
        if number is None:
            return unparsed(f"no number: {clip(str(cell))}")
        if not 0 <= number <= 1:
            return Invalid(Reason.OUT_OF_SCALE, f"{clip(str(cell))} is no probability")
        return Value(number=float(number))

    def under(self, rules: Rules) -> Self:
        """Return the readout as the rules of its study have it: 0.1 had one floor."""
        if rules > Rules.V1 or "floor" in self.options.model_fields_set:
            return self
        return type(self)(self.prompt, self.options.model_copy(update={"floor": FLOOR_V1}))

    def _answer_position(self, reply: Reply) -> tuple[TokenLogprob, ...] | Invalid:
        """Return the alternatives at the answer's position, or why there are none."""
        if not reply.positions:
            if reply.text is not None and reply.text.strip():
                return Invalid(Reason.LABEL_MISSING, "the reply reports no log-probabilities")
            return empty(reply)
        if not self.options.skip_leading_whitespace:
            return reply.positions[0]
        for entries in reply.positions:
            if not _is_whitespace(entries, self.options.floor):
                return entries
        return Invalid(Reason.LABEL_MISSING, "whitespace at every position")

    def _compare(self, entries: Sequence[TokenLogprob], plus: str, minus: str) -> Value | Invalid:
        floor, forms = self.options.floor, self.options.forms
        found = {label: log_sum(entries, forms(label), floor) for label in (plus, minus)}
        if missing := [label for label, value in found.items() if value is None]:
            names = " and ".join(map(repr, missing))
            return Invalid(Reason.LABEL_MISSING, f"{names} not among {len(entries)} entries")
        log_plus, log_minus = found[plus] or 0.0, found[minus] or 0.0
        mass = math.exp(log_plus) + math.exp(log_minus)
        if mass > 1 + len(entries) * ROUNDING:
            return Invalid(Reason.BAD_BODY, f"label mass {mass:.6f} is above 1")
        likelier = None if log_plus == log_minus else plus if log_plus > log_minus else minus
        return Value(number=expit(log_plus - log_minus), label=likelier, mass=mass)


class LabelPair(LabelLogprob):
    """Two calls an item, the label-to-meaning mapping reversed in the second."""

    record: ClassVar[ReadoutRecord] = replace(
        LabelLogprob.record,
        name="label_pair",
        analysed_as="label_pair",
    )

    def arms(self, item: Item) -> tuple[str, ...]:
        """Return the forward and the reversed arm."""
        return (FORWARD, REVERSED)


def _is_whitespace(entries: Sequence[TokenLogprob], floor: float) -> bool:
    known = [entry for entry in entries if is_number(entry.logprob, floor)]
    return bool(known) and not spelling(max(known, key=lambda entry: entry.logprob)).strip()


def spelling(entry: TokenLogprob) -> bytes:
    """Return an entry's bytes as reported, else its text in UTF-8."""
    if entry.bytes_ is not None:
        return entry.bytes_
    return entry.token.encode("utf-8", "surrogatepass")


def is_number(logprob: float, floor: float = FLOOR) -> bool:
    """Tell whether a reported log-probability is one: finite, above the floor, at most 0."""
    return math.isfinite(logprob) and floor < logprob <= ROUNDING


def log_sum(
    entries: Sequence[TokenLogprob], forms: frozenset[bytes], floor: float = FLOOR
) -> float | None:
    """Return ln of the summed probability of the entries spelled like one of `forms`.

    None where no such entry has a log-probability above `floor`.
    """
    spelled = [entry.logprob for entry in entries if spelling(entry) in forms]
    logs = [min(logprob, 0.0) for logprob in spelled if is_number(logprob, floor)]
    if not logs:
        return None
    top = max(logs)
    return top + math.log(math.fsum(math.exp(log - top) for log in logs))


def expit(z: float) -> float:
    """Return 1 / (1 + e^-z) without overflow."""
    if z >= 0:
        return 1 / (1 + math.exp(-z))
    return math.exp(z) / (1 + math.exp(z))


def logit(r: float) -> float:
    """Return ln(r / (1 - r)) of r clipped to [1e-4, 1 - 1e-4]."""
    clipped = min(max(r, CLIP), 1 - CLIP)
    return math.log(clipped) - math.log1p(-clipped)


def combine_pair(r_fwd: float, r_rev: float) -> tuple[float, float, float]:
    """Return (z_sym, b_map, r_sym) of the two arms of a pair (CE: D1-S).

    With z = logit r, r clipped at 1e-4: z_sym = (z_fwd + z_rev) / 2, the mapping bias
    b_map = (z_fwd - z_rev) / 2 (above 0 favours the forward mapping), r_sym = expit z_sym.
    """
    z_fwd, z_rev = logit(r_fwd), logit(r_rev)
    z_sym = (z_fwd + z_rev) / 2
    return z_sym, (z_fwd - z_rev) / 2, expit(z_sym)
