"""The studies and recording servers of `tests/collect`, which these tests share."""

import importlib.util
from pathlib import Path

_path = Path(__file__).parents[1] / "collect" / "conftest.py"
_spec = importlib.util.spec_from_file_location("judgeaudit_tests_hostile_collect", _path)
_collecting = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(_collecting)

study, run, recording = _collecting.study, _collecting.run, _collecting.recording
make_registration = _collecting.make_registration
