"""Small items, and the readouts as a registration would build them."""

import pytest

from judgeaudit.instrument.readout import Prompt, build
from judgeaudit.model import Candidate, Item


def candidates(*texts: str) -> tuple[Candidate, ...]:
    """Candidates c1, c2, ... with these texts."""
    return tuple(Candidate(f"c{i}", text) for i, text in enumerate(texts, 1))


@pytest.fixture
def item():
    """`item("x", "y")` is an item whose candidates c1 and c2 read x and y."""

    def _item(*texts: str, **changes) -> Item:
        values = {"id": "q1", "group": "g", "task": "t", "fields": {"question": "Q"}, **changes}
        return Item(candidates=candidates(*texts), **values)

    return _item


@pytest.fixture
def make():
    """`make("score", "{candidate}", scale=...)` builds a readout."""

    def _make(kind: str, template: str = "{question}", **options):
        return build(kind, Prompt(None, template), options)

    return _make
