"""The studies and the recording server of `tests/collect`, which these tests share."""

import importlib.util
from pathlib import Path

import pytest

_path = Path(__file__).parents[1] / "collect" / "conftest.py"
_spec = importlib.util.spec_from_file_location("judgeaudit_tests_collecting", _path)
_collecting = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(_collecting)

study, run, recording = _collecting.study, _collecting.run, _collecting.recording
make_registration = _collecting.make_registration


@pytest.fixture
def tables():
    """One table in every format, and the commands on it: `tabling.py`."""
    spec = importlib.util.spec_from_file_location(
        "judgeaudit_tests_tabling", Path(__file__).with_name("tabling.py")
    )
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
