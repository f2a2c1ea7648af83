"""docs/ci.md and the Action: what the page tells people to type works as it stands."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")


def shell(page):
    """Return the page's commands; the package is installed already."""
    blocks = re.findall(r"```sh\n(.*?)```", page, re.DOTALL)
    return "".join(blocks).replace("pip install judgeaudit-toolkit\n", "")


@pytest.mark.slow
def test_the_page_followed_literally_passes_and_writes_what_it_says(tmp_path):
    """In an empty folder: the commands as they stand, then the script of the Action."""
    shutil.copy(ROOT / "docs" / "ci-gate.sh", tmp_path)
    keep = {k: v for k, v in os.environ.items() if not k.startswith("GITHUB")}
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    output = tmp_path / "output.txt"

    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", shell(PAGE)],
        cwd=tmp_path,
        env=keep | {"PATH": path, "GITHUB_OUTPUT": str(output)},
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stdout + done.stderr
    assert "exit code 0" in done.stdout
    assert "asked 126 of 336 planned calls (43 of at most 160 items), 210 saved" in done.stdout
    assert "verified: registration, plan of 336 calls, 8 sealed runs" in done.stderr
    suite = ElementTree.parse(tmp_path / "judge-gate.xml").getroot().find("testsuite")
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("1", "0", "0")
    assert (tmp_path / "judge-gate.md").read_text().startswith("<!-- judgeaudit gate -->")
    assert output.read_text() == "outcome=pass\n"


def test_the_action_runs_the_script_with_every_variable_that_it_reads():
    action = (ROOT / "action.yml").read_text(encoding="utf-8")
    script = (ROOT / "docs" / "ci-gate.sh").read_text(encoding="utf-8")

    assert 'run: bash "$GITHUB_ACTION_PATH/docs/ci-gate.sh"' in action
    for name in set(re.findall(r"\$\{([A-Z_]+)", script)) - {"GITHUB_OUTPUT", "GITHUB_EVENT_NAME"}:
        assert re.search(rf"^ +{name}: \$\{{\{{ inputs\.", action, re.MULTILINE), name


def test_no_step_of_the_worked_workflow_asks_until_it_passes():
    from judgeaudit.design.reasking import workflow_findings

    text = (ROOT / "docs" / "ci-example.yml").read_text(encoding="utf-8")

    assert list(workflow_findings("ci-example.yml", text)) == []


def test_the_hook_names_a_script_that_the_package_installs():
    hook = (ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8")
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")

    entry = re.search(r"entry: (\S+)", hook)[1]
    assert f'{entry} = "judgeaudit.cli.precommit:main"' in project


@pytest.mark.parametrize("path", re.findall(r"\]\(([^)#]+)\)", PAGE))
def test_every_link_of_the_page_leads_somewhere(path):
    assert (ROOT / "docs" / path).exists(), path
