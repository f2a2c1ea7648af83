"""Reference values from R; the scripts lie beside them in tests/reference."""

import json
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def reference():
    """`reference("reliability")` reads tests/reference/reliability.json."""

    def read(name: str):
        path = Path(__file__).parents[1] / "reference" / f"{name}.json"
        return json.loads(path.read_text(encoding="utf-8"))

    return read
