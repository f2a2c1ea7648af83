"""Requests sorted into kinds, without configuration, by what their prompts share.

A harness asks several things of a model: it solves, it judges by one rubric and by another. Bodies
of one *shape* (API, model, schema, tools, system message or not) are split by their prompts' words:

1. A prompt is cut into segments: lines, and within a line after `.`, `:`, `?` or `!`. Segments of
   fewer than `LEAST` characters say nothing.
2. The *skeleton* of some bodies is the segments that `MOSTLY` of them share. Bodies without one are
   several kinds: those with the commonest segment are taken out, then the next, until no segment is
   in two bodies; what is left is the kind of prompts that share no text, `(free)`.
3. Bodies with a skeleton are several kinds where segments tell them apart: disjoint sets, each with
   a segment that the others do not have, each a `PART` of the bodies and `FEW` or more, and no body
   without one. (Criteria of a rubric do so; ten questions asked ten times each would, too.)

A kind is named by its model and the first words of what tells it from its neighbours; those words,
given to `--kind`, choose it again. Everything follows from the bodies alone, whatever their order.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from judgeaudit.instrument.spoken import Said

LEAST = 12
MOSTLY = 0.9
PART, FEW = 0.1, 5
FREE = "(free)"
_NAME_WIDTH = 48
_CUT = re.compile(r"(?<=[.:?!])\s+|\n+")
_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind: its name, its model, its bodies' digests, and the first of what they share."""

    name: str
    model: str
    bodies: frozenset[str]
    skeleton: tuple[str, ...] = ()


@dataclass(slots=True)
class _Prompt:
    body: str
    model: str
    segments: dict[str, int]


@dataclass(slots=True)
class _Group:
    prompts: list[_Prompt]
    skeleton: list[str]
    apart: list[str] = field(default_factory=list)


def segments_of(said: Said) -> dict[str, int]:
    """Return a prompt's segments with their places, each once."""
    found: dict[str, int] = {}
    for message in said.messages:
        for piece in _CUT.split(message.content):
            text = " ".join(piece.split())
            if len(text) >= LEAST:
                found.setdefault(text, len(found))
    return found


def kinds_of(bodies: Mapping[str, tuple[str, Said]]) -> list[Kind]:
    """Return the kinds of some bodies: digest to (shape, what it says); largest first."""
    shapes: dict[str, list[_Prompt]] = {}
    for body, (shape, said) in sorted(bodies.items()):
        shapes.setdefault(shape, []).append(_Prompt(body, said.model, segments_of(said)))
    groups = [group for shape in sorted(shapes) for group in _split(shapes[shape])]
    groups.sort(key=lambda group: (-len(group.prompts), group.prompts[0].body))
    return _named(groups)


def _split(prompts: list[_Prompt]) -> Iterator[_Group]:
    """Yield the groups of one shape's prompts."""
    shared = _counts(prompts)
    skeleton = _skeleton(prompts, shared)
    if not skeleton:
        best = _commonest(shared)
        if best is None or shared[best] < 2 or len(prompts) < 2:
            yield _Group(prompts, [])
            return
        yield from _split([p for p in prompts if best in p.segments])
        yield from _split([p for p in prompts if best not in p.segments])
        return
    parts = _parts(prompts, shared)
    if not parts:
        yield _Group(prompts, skeleton)
        return
    for segment, members in parts:
        for group in _split(members):
            group.apart = [segment, *group.apart]
            yield group


def _counts(prompts: Iterable[_Prompt]) -> Counter[str]:
    return Counter(segment for prompt in prompts for segment in prompt.segments)


def _commonest(shared: Counter[str]) -> str | None:
    return min(shared, key=lambda s: (-shared[s], -len(s), s)) if shared else None


def _skeleton(prompts: Sequence[_Prompt], shared: Counter[str]) -> list[str]:
    wanted = MOSTLY * len(prompts)
    found = [segment for segment, count in shared.items() if count >= wanted]
    places = prompts[0].segments
    return sorted(found, key=lambda s: (places.get(s, len(places)), s))


def _parts(prompts: list[_Prompt], shared: Counter[str]) -> list[tuple[str, list[_Prompt]]]:
    """Return disjoint sets of bodies told apart by a segment each; none where they leave bodies."""
    least = max(FEW, PART * len(prompts))
    rest, found = prompts, []
    while rest:
        counts = _counts(rest)
        own = [
            s for s, n in counts.items() if n == shared[s] and least <= n < MOSTLY * len(prompts)
        ]
        if not own:
            return []
        best = min(own, key=lambda s: (-counts[s], -len(s), s))
        found.append((best, [p for p in rest if best in p.segments]))
        rest = [p for p in rest if best not in p.segments]
    return found if len(found) > 1 else []


def _named(groups: Sequence[_Group]) -> list[Kind]:
    kinds, taken = [], Counter[str]()
    for group in groups:
        model = group.prompts[0].model
        words = slug((group.apart or group.skeleton or [""])[-1 if group.apart else 0])
        name = f"{model}:{_clipped(words) or FREE}"
        taken[name] += 1
        if taken[name] > 1:
            name = f"{name}-{taken[name]}"
        bodies = frozenset(prompt.body for prompt in group.prompts)
        kinds.append(Kind(name, model, bodies, tuple(group.skeleton)))
    return kinds


def slug(text: str) -> str:
    """Return a text's words in small letters, joined by hyphens."""
    return "-".join(_WORD.findall(text.casefold()))


def _clipped(words: str) -> str:
    return words if len(words) <= _NAME_WIDTH else words[:_NAME_WIDTH].rpartition("-")[0]


def is_of(said: Said, word: str) -> bool:
    """Return whether a request is of a kind, by the kind's name or words of its prompt.

    A name before a colon that is the request's model is taken for the model.
    """
    model, colon, rest = word.partition(":")
    if colon and model == said.model:
        word = rest
    elif word.startswith(f"{said.model}:"):
        word = word[len(said.model) + 1 :]
    words = slug(word)
    if not words or word == FREE:
        return False
    return any(f"-{words}" in f"-{slug(message.content)}" for message in said.messages)
