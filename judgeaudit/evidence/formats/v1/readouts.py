"""How 0.1 made a value of a reply, readout by readout: the rules of format 1, for ever.

Options are the readout's registered ones, by the names that 0.1 knew. Every reader takes
`(options, reply, item, arm)`. The order of reasons is the same for all of them but the labels': a
refusal, truncation, emptiness, text that is no Unicode, then what the readout itself cannot read.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import Any

from judgeaudit.model import Candidate, Invalid, Item, Reason, Reply, TokenLogprob, Value

Read = Callable[[Any, Reply, Item, str], Value | Invalid]

REFUSED = frozenset({"content_filter", "refusal", "safety"})
TRUNCATED = frozenset(
    {"length", "max_tokens", "max_output_tokens", "model_context_window_exceeded"}
)
NO_LOGPROB, ROUNDING = -9999.0, 1e-6
_NUMBERS = {
    "int": re.compile(r"[+-]?[0-9]{1,30}"),
    "float": re.compile(r"[+-]?[0-9]{1,30}(\.[0-9]{1,30})?"),
}


def score(options: Any, reply: Reply, item: Item, arm: str) -> Value | Invalid:
    """Return a number on the registered scale."""
    text = _answer(reply)
    written = text if isinstance(text, Invalid) else _number_text(options, text)
    if isinstance(written, Invalid):
        return written
    if not _NUMBERS[options.type].fullmatch(written):
        return _unparsed(f"no {options.type} alone: {_clip(written)}")
    number = Decimal(written)
    if fault := _off_scale(options.scale, number):
        return Invalid(Reason.OUT_OF_SCALE, fault)
    return Value(number=float(number), label=written)


def verdict(options: Any, reply: Reply, item: Item, arm: str) -> Value | Invalid:
    """Return a category by its meaning in this arm."""
    written = _written_label(options, reply)
    if isinstance(written, Invalid):
        return written
    category = next((c for c in options.categories if _is_form(options, c, written)), None)
    if category is None:
        return _unparsed(f"no category: {_clip(written)}")
    return Value(category=_meanings(options, item, arm)[category], label=category)


def choice(options: Any, reply: Reply, item: Item, arm: str) -> Value | Invalid:
    """Return the tool that an item names."""
    written = _written_label(options, reply)
    if isinstance(written, Invalid):
        return written
    for name, meaning in _tools(options, item).items():
        folded = not options.case_sensitive and written.casefold() == name.casefold()
        if written == name or folded:
            return Value(category=meaning, label=name)
    return _unparsed(f"no tool of this item: {_clip(written)}")


def ranking(options: Any, reply: Reply, item: Item, arm: str) -> Value | Invalid:
    """Return candidate ids, best first, of an exact permutation of the shown aliases."""
    text = _answer(reply)
    answer = text if isinstance(text, Invalid) else _json_answer(options, text)
    if isinstance(answer, Invalid):
        return answer
    shown = _aliases(options, item)
    if fault := _not_a_permutation(answer, list(shown)):
        return Invalid(Reason.NOT_A_PERMUTATION, fault)
    return Value(ranking=tuple(shown[alias].id for alias in answer), label=" ".join(answer))


def text(options: Any, reply: Reply, item: Item, arm: str) -> Value | Invalid:
    """Return the answer as it stands."""
    found = _answer(reply)
    if isinstance(found, Invalid):
        return found
    if len(found) > options.max_chars:
        return _unparsed(f"{len(found)} characters, at most {options.max_chars} are read")
    return Value(text=found)


def label(options: Any, reply: Reply, item: Item, arm: str) -> Value | Invalid:
    """Return the probability of the label that means correct, among the two."""
    if (refusal := _refused(reply)) is not None:
        return refusal
    entries = _answer_position(reply, options.skip_leading_whitespace)
    if isinstance(entries, Invalid):
        return entries
    pair = (options.labels.correct, options.labels.incorrect)
    plus, minus = pair[::-1] if arm == "rev" else pair
    found = {name: _log_sum(entries, _spellings(options, name)) for name in (plus, minus)}
    if missing := [repr(name) for name, value in found.items() if value is None]:
        told = f"{' and '.join(missing)} not among {len(entries)} entries"
        return Invalid(Reason.LABEL_MISSING, told)
    return _compared(found[plus] or 0.0, found[minus] or 0.0, plus, minus, len(entries))


READERS: Mapping[str, Read] = {
    "label_logprob": label,
    "label_pair": label,
    "ranking": ranking,
    "score": score,
    "verdict": verdict,
    "choice": choice,
    "text": text,
}
"""The readouts that a study of format 1 can name."""


def _refused(reply: Reply) -> Invalid | None:
    if reply.refusal is not None:
        return Invalid(Reason.REFUSED, _clip(reply.refusal))
    if reply.finish_reason in REFUSED:
        return Invalid(Reason.REFUSED, f"finish reason {reply.finish_reason}")
    return None


def _answer(reply: Reply) -> str | Invalid:
    if (refusal := _refused(reply)) is not None:
        return refusal
    if reply.finish_reason in TRUNCATED:
        return Invalid(Reason.TRUNCATED, f"finish reason {reply.finish_reason}")
    if reply.text is None or not reply.text.strip():
        return Invalid(Reason.EMPTY)
    try:
        reply.text.encode()
    except UnicodeEncodeError as error:
        return Invalid(Reason.BAD_BODY, f"lone surrogate at character {error.start}")
    return reply.text


def _unparsed(detail: str) -> Invalid:
    return Invalid(Reason.UNPARSED, detail)


def _clip(text: str, width: int = 80) -> str:
    line = " ".join(text.encode("utf-8", "replace").decode().split())
    return line if len(line) <= width else line[: width - 1] + "…"


def _number_text(options: Any, text: str) -> str | Invalid:
    if options.pattern == "number":
        return text.strip()
    if options.pattern == "json":
        answer = _json_answer(options, text)
        if isinstance(answer, Invalid):
            return answer
        if isinstance(answer, bool) or not isinstance(answer, int | float):
            return _unparsed(f"{options.key} is no number: {_clip(json.dumps(answer))}")
        return repr(answer)
    last = text.strip().splitlines()[-1].strip()
    if not last.startswith(options.prefix):
        return _unparsed(f"last line does not begin {options.prefix!r}: {_clip(last)}")
    return str(last.removeprefix(options.prefix).strip())


def _off_scale(scale: Any, number: Decimal) -> str:
    if not scale.low <= number <= scale.high:
        return f"{number} is outside {scale.low} to {scale.high}"
    if scale.step is not None and (number - scale.low) % scale.step:
        return f"{number} is no step of {scale.step} from {scale.low}"
    return ""


def _written_label(options: Any, reply: Reply) -> str | Invalid:
    text = _answer(reply)
    if isinstance(text, Invalid):
        return text
    if options.pattern == "whole":
        return text.strip()
    if options.pattern == "first_line":
        return text.strip().splitlines()[0].strip()
    answer = _json_answer(options, text)
    if isinstance(answer, Invalid | str):
        return answer
    return _unparsed(f"{options.key} is no string: {_clip(repr(answer))}")


def _is_form(options: Any, category: str, written: str) -> bool:
    forms = {category, *options.surface_forms.get(category, ())}
    if options.case_sensitive:
        return written in forms
    return written.casefold() in {form.casefold() for form in forms}


def _meanings(options: Any, item: Item, arm: str) -> dict[str, str]:
    named = options.names
    if named is None:
        named = ("A", "B") if {"A", "B"} <= set(options.categories) else ()
    shown = item.candidates[::-1] if arm == "swapped" else item.candidates
    ids = [candidate.id for candidate in shown]
    return {c: c for c in options.categories} | dict(zip(named, ids, strict=False))


def _tools(options: Any, item: Item) -> dict[str, str]:
    if options.tools_field is None:
        return {candidate.text: candidate.id for candidate in item.candidates}
    names = item.fields.get(options.tools_field)
    listed = names if isinstance(names, list | tuple) else ()
    return {name: name for name in listed if isinstance(name, str)}


def _aliases(options: Any, item: Item) -> dict[str, Candidate]:
    order = list(range(len(item.candidates)))
    if options.order == "seeded":
        key = f"{options.seed}:{item.id}"
        order.sort(key=lambda i: hashlib.sha256(f"{key}:{i}".encode()).digest())
    return dict(zip(options.aliases, (item.candidates[i] for i in order), strict=False))


def _not_a_permutation(answer: Any, aliases: list[str]) -> str:
    if not isinstance(answer, list):
        return f"not a list: {_clip(repr(answer))}"
    if strange := [entry for entry in answer if entry not in aliases]:
        return f"{_clip(repr(strange[0]), 40)} is no shown alias"
    if again := _twice(answer):
        return f"alias {again[0]!r} twice"
    missing = [alias for alias in aliases if alias not in answer]
    return f"alias {missing[0]!r} missing" if missing else ""


def _twice(values: Sequence[str]) -> list[str]:
    seen: set[str] = set()
    again = []
    for value in values:
        if value in seen:
            again.append(value)
        seen.add(value)
    return again


class _NotAccepted(ValueError):
    """JSON that a lenient parser would take: a key twice, NaN."""


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if again := _twice([key for key, _ in pairs]):
        raise _NotAccepted(f"key {again[0]!r} occurs twice")
    return dict(pairs)


def _no_constant(name: str) -> Any:
    raise _NotAccepted(f"{name} is no JSON number")


def _json_answer(options: Any, text: str) -> Any | Invalid:
    try:
        value = json.loads(text, object_pairs_hook=_once, parse_constant=_no_constant)
    except _NotAccepted as error:
        return _unparsed(str(error))
    except (ValueError, RecursionError):
        return _unparsed(f"not one JSON object: {_clip(text)}")
    if not isinstance(value, dict):
        names = {list: "array", str: "string", bool: "boolean", type(None): "null"}
        kind = names.get(type(value), "number")
        return _unparsed(f"a JSON {kind} where an object was asked: {_clip(text)}")
    if options.key not in value:
        return _unparsed(f"no key {options.key!r}: {_clip(text)}")
    if len(value) > 1 and not options.other_keys:
        others = ", ".join(name for name in value if name != options.key)
        return _unparsed(f"other keys than {options.key!r}: {_clip(others)}")
    return value[options.key]


def _answer_position(reply: Reply, skip_whitespace: bool) -> tuple[TokenLogprob, ...] | Invalid:
    if not reply.positions:
        if reply.text is not None and reply.text.strip():
            return Invalid(Reason.LABEL_MISSING, "the reply reports no log-probabilities")
        return Invalid(Reason.EMPTY)
    for entries in reply.positions:
        if not (skip_whitespace and _is_whitespace(entries)):
            return entries
    return Invalid(Reason.LABEL_MISSING, "whitespace at every position")


def _is_whitespace(entries: Sequence[TokenLogprob]) -> bool:
    known = [entry for entry in entries if _is_number(entry.logprob)]
    return bool(known) and not _spelling(max(known, key=lambda entry: entry.logprob)).strip()


def _spelling(entry: TokenLogprob) -> bytes:
    if entry.bytes_ is not None:
        return entry.bytes_
    return entry.token.encode("utf-8", "surrogatepass")


def _is_number(logprob: float) -> bool:
    return math.isfinite(logprob) and NO_LOGPROB < logprob <= ROUNDING


def _spellings(options: Any, name: str) -> frozenset[bytes]:
    forms = options.surface_forms.get(name, (name, f" {name}"))
    return frozenset(form.encode() for form in forms)


def _log_sum(entries: Sequence[TokenLogprob], forms: frozenset[bytes]) -> float | None:
    logs = [
        min(entry.logprob, 0.0)
        for entry in entries
        if _spelling(entry) in forms and _is_number(entry.logprob)
    ]
    if not logs:
        return None
    top = max(logs)
    return top + math.log(math.fsum(math.exp(log - top) for log in logs))


def _compared(
    log_plus: float, log_minus: float, plus: str, minus: str, entries: int
) -> Value | Invalid:
    mass = math.exp(log_plus) + math.exp(log_minus)
    if mass > 1 + entries * ROUNDING:
        return Invalid(Reason.BAD_BODY, f"label mass {mass:.6f} is above 1")
    likelier = None if log_plus == log_minus else plus if log_plus > log_minus else minus
    difference = log_plus - log_minus
    power = math.exp(-abs(difference))
    number = 1 / (1 + power) if difference >= 0 else power / (1 + power)
    return Value(number=number, label=likelier, mass=mass)
