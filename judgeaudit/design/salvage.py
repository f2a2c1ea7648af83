"""What is left of a document with faults, so that one fault does not hide the others.

A registration with a misspelt key can still have a cap that is too small. `salvaged` takes what a
validation named out of the document and validates the rest; the checks go on with that. Nothing is
ever frozen from it: the faults themselves are problems, and a draft with problems is not whole.

* A key that is unknown or has a wrong value is taken out; its default stands in.
* An element of a list that lacks a key is taken out with all elements after it, so that the places
  that messages name stay right.
* A missing `seed` or `cap` is filled in, as no other check depends on which number it is.
* Where that is not enough there is nothing to go on with.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

M = TypeVar("M", bound=BaseModel)

ROUNDS = 4
"""How often what is left is validated again: taking a value out may leave a key missing."""

FILLED: dict[tuple[str | int, ...], int] = {("schedule", "seed"): 0, ("schedule", "cap"): 2**53}


def salvaged(model: type[M], document: Mapping[str, Any]) -> M | None:
    """Return `document` as `model` without the parts that are no good; None where that is vain."""
    left = deepcopy(dict(document))
    for _ in range(ROUNDS):
        try:
            return model.model_validate(left)
        except ValidationError as error:
            faults = error.errors(include_url=False, include_input=False)
        places = [(fault["loc"], fault["type"] == "missing") for fault in faults]
        # From the end of a list on, so that a place that was named is still that place.
        for place, missing in sorted(places, key=_order, reverse=True):
            if not (_fill(left, place) if missing and place in FILLED else _take_out(left, place)):
                return None
    return None


def _order(found: tuple[tuple[str | int, ...], bool]) -> tuple[tuple[bool, int, str], ...]:
    """Return a key by which places stand as in the document: element 10 after element 9."""
    return tuple(
        (isinstance(part, str), part if isinstance(part, int) else 0, str(part))
        for part in found[0]
    )


def _fill(document: Any, place: tuple[str | int, ...]) -> bool:
    table = document.get(place[0])
    if not isinstance(table, dict):
        return False
    table[place[-1]] = FILLED[place]
    return True


def _take_out(document: Any, place: Sequence[str | int]) -> bool:
    """Take the innermost part that `place` leads to out of `document`; say whether there was one.

    For a key that is missing that is the table that lacks it.
    """
    here = document
    path: list[tuple[Any, Any]] = []
    for part in place:
        if not _holds(here, part):
            break  # a missing key, or a word of pydantic's for one branch of a union
        path.append((here, part))
        here = here[part]
    if not path:
        return False
    container, part = path[-1]
    if isinstance(container, list):
        del container[part:]
    else:
        del container[part]
    return True


def _holds(here: Any, part: str | int) -> bool:
    if isinstance(here, list):
        return isinstance(part, int) and part < len(here)
    return isinstance(here, dict) and part in here
