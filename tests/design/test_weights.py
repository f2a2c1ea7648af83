"""Weights of contrasts have a size that can be computed with."""

import pytest
from pydantic import ValidationError

from judgeaudit.design.protocol import ContrastSpec


@pytest.mark.parametrize("weight", ["1e400", "1e999999999", "1e-400", "-0.0000001", "1000001"])
def test_a_weight_beyond_all_use_is_refused_at_once(weight):
    with pytest.raises(ValidationError, match=r"from 0\.000001 to 1000000"):
        ContrastSpec(name="c", weights={"a": weight, "b": 1})


@pytest.mark.parametrize("weight", ["0.000001", "1000000", "-0.5", "0"])
def test_the_ends_are_allowed(weight):
    assert str(ContrastSpec(name="c", weights={"a": weight}).weights["a"]) == weight
