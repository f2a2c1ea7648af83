"""Every contrast, interval and claim of the shipped protocols, by `tests/reference/memory_luck.py`.

That script reads the sealed Parquet files and shares no line with the package.
"""

import importlib.util
import json
from pathlib import Path

import pytest

from judgeaudit.design.builtin_protocols import protocol_source

SCRIPT = Path(__file__).parents[1] / "reference" / "memory_luck.py"
AGENTS = {
    "carries": "superstitious-agent:carry=0.352,base=0.05",
    "cut": "random-agent:truncated=0.1",
}


@pytest.fixture(scope="module")
def reference():
    spec = importlib.util.spec_from_file_location("memory_luck_reference", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", ["memory-luck", "memory-luck-writing"])
def test_an_independent_script_finds_the_same(write, run_study, command, tmp_path, reference, name):
    """16 worlds, two agents, a tenth of one's replies cut: all numbers equal to 1e-6."""
    protocol = protocol_source(name).data
    root = write(tmp_path / "study", AGENTS, 16, protocol, ("luck_contrast",))
    run_study(root)
    told = json.loads(command("analyze", root, "--json").stdout)["estimates"]
    known = {}
    for one in told:
        if one["analysis"] in ("luck_contrast", "luck_contrast_these"):
            known[one["scope"], one["endpoint"]] = one
    again = list(reference.contrasts(root))

    assert len(again) == len(known) > 60
    for scope, endpoint, numbers in again:
        one = known[scope, endpoint]
        value, low, high, lower, upper, claims = numbers
        assert one["value"] == pytest.approx(value, abs=1e-9), (scope, endpoint)
        assert (one["low"], one["high"]) == pytest.approx((low, high), abs=1e-6), (scope, endpoint)
        made = one["details"]["claims"]
        assert (made["lower"], made["upper"]) == pytest.approx((lower, upper), abs=1e-6)
        assert {name: made[name] for name in claims} == claims, (scope, endpoint)
