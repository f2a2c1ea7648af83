"""Small registrations with one gate, and pilots made by hand."""

from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

from judgeaudit.design.document import Registration
from judgeaudit.readings.table import checked


@pytest.fixture
def registered():
    """Return a function from a gate (and more) to a registration."""

    def _registered(gate, *, consumer=None, pilot=None, claim="verdict", schedule=None, gates=None):
        study = {"id": "s", "title": "t", "authors": ["a"], "claim": claim, "consumer": consumer}
        return Registration.model_validate(
            {
                "study": study,
                "endpoints": [
                    {
                        "id": "judge",
                        "api": "openai.chat",
                        "base_url": "embedded:stable",
                        "model": "m",
                    }
                ],
                "schedule": {"seed": 1, "cap": 10_000, "repeats": 2, **(schedule or {})},
                "gates": gates or [gate],
                "pilot": pilot,
            }
        )

    return _registered


FLIP_GATE = {
    "id": "flips",
    "statistic": "flip_rate",
    "at_most": Decimal("0.10"),
    "healthy": {"value": Decimal("0.05")},
    "degraded": {"value": Decimal("0.10")},
}


@pytest.fixture
def flip_gate():
    """A confirmatory gate on flips: at most .10, healthy .05, degraded .10."""
    return dict(FLIP_GATE)


@pytest.fixture
def flips():
    """Return a function that makes a pilot's table: items x 2 windows x 3 repeats of A and B."""

    def _flips(items, chance, seed=0, model="m"):
        rng = np.random.default_rng(seed)
        rows = [
            {
                "endpoint": "judge",
                "item": f"i{i}",
                "window": f"d1w{w}",
                "repeat": k,
                "status": "ok",
                "category": "B" if rng.random() < chance else "A",
                "model_returned": model,
            }
            for i in range(items)
            for w in (1, 2)
            for k in range(3)
        ]
        return checked(pd.DataFrame(rows))

    return _flips
