"""The worked example of the pilot's story, re-run from its own script; days pass virtually."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parents[1] / "prereg" / "clean-engineering"


@pytest.mark.slow
def test_the_story_runs_from_requirement_to_verdict(tmp_path):
    """An exact-match gate at .99 is refused on a pilot near .78; a pairwise gate passes."""
    work, bin_ = tmp_path / "story", str(Path(sys.executable).parent)
    path = os.pathsep.join([bin_, os.environ["PATH"]])
    done = subprocess.run(
        ["sh", str(HERE / "story.sh"), str(work)],
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
        env=os.environ | {"PATH": path},
    )
    told = done.stdout

    assert done.returncode == 0, told + done.stderr
    refusal = told.split("## 3. Refusal")[1].split("## 4.")[0]
    assert "does not discriminate: healthy 0.995 has pass 0.91" in refusal
    assert "degraded 0.98 has pass 0.40" in refusal
    assert "an aggregate of k" in refusal
    assert "a pairwise band" in refusal
    assert "exit code 2" in refusal
    pilot = json.loads((work / "first" / "pilot" / "results" / "pilot.json").read_text())
    (endpoint,) = pilot["report"]["endpoints"].values()
    exact = {f["over"]: f["value"] for f in endpoint["floor"] if f["statistic"] == "ranking_exact"}
    # Planted: (1 - .117)^2 + .117^2 / 9 = .781; four standard errors of 50 items.
    assert exact["other_day"] == pytest.approx(0.781, abs=0.1)
    verdicts = json.loads((work / "redesigned" / "results" / "verdicts.json").read_text())
    assert [(g["outcome"], g["confirmatory"]) for g in verdicts["gates"]] == [("pass", True)]
