"""Each damaged study has its own message, in the committed specimens and in ones made anew."""

import importlib.util
import shutil
from pathlib import Path

import pytest

from judgeaudit.evidence.lock.verify import verify_frozen

DAMAGED = Path(__file__).parents[1] / "damaged"


def _maker():
    spec = importlib.util.spec_from_file_location("make_studies", DAMAGED / "make_studies.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


MAKER = _maker()


@pytest.mark.parametrize("name", MAKER.STUDIES)
@pytest.mark.parametrize("anew", [False, True], ids=["committed", "made anew"])
def test_a_damaged_study_is_found_out(name, anew, tmp_path):
    if anew:
        study = MAKER.make(tmp_path, name)
    else:
        study = shutil.copytree(DAMAGED / name / "study", tmp_path / "study")
    expected = MAKER.STUDIES[name][1]

    findings = verify_frozen(study)

    if expected is None:
        assert findings == []
    else:
        assert any(expected in finding for finding in findings), findings
