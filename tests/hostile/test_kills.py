"""Commands that are killed at random moments and run again lose nothing.

60 kills; `JUDGEAUDIT_KILLS=1000` asks for more (nightly), over the same stages.
"""

import importlib.util
import os
import random
import sys
from pathlib import Path

import pytest

_spec = importlib.util.spec_from_file_location(
    "judgeaudit_tests_kills", Path(__file__).with_name("kills.py")
)
kills = importlib.util.module_from_spec(_spec)
sys.modules[_spec.name] = kills
_spec.loader.exec_module(kills)

STAGES = kills.stages()
KILLS = int(os.environ.get("JUDGEAUDIT_KILLS", "60"))
SEED = int(os.environ.get("JUDGEAUDIT_KILLS_SEED", "20261129"))


@pytest.mark.slow
@pytest.mark.parametrize("place", range(len(STAGES)), ids=[stage.name for stage in STAGES])
def test_a_command_killed_at_random_moments_loses_nothing(tmp_path, place):
    """Each kill hits a running command; then it ends well, `verify` finds nothing, and what is
    frozen and read is what an undisturbed study has.
    """
    share = KILLS // len(STAGES) + (place < KILLS % len(STAGES))
    lab = kills.Laboratory(tmp_path, random.Random(SEED + place))

    lost = list(kills.trial(lab, STAGES[place], share))

    assert lost == []
    assert lab.killed_running == share


def test_readings_that_were_lost_are_seen(tmp_path):
    """The laboratory itself: a study whose sealed run is gone has fewer readings."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    for name, rows in (("whole", 2), ("less", 1)):
        folder = tmp_path / name / "log" / "sealed" / "d1w1"
        folder.mkdir(parents=True)
        table = pa.table({"call_id": ["a", "b"][:rows], "attempt": [1, 2][:rows]})
        pq.write_table(table, folder / "readings.parquet")

    assert len(kills.readings(tmp_path / "whole")) == 2
    assert kills.readings(tmp_path / "less") == [{"call_id": "a"}]
