"""What the README shows is what the commands say."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent


def test_the_generated_blocks_are_current():
    command = [sys.executable, "docs/readme_blocks.py", "--check"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stderr or "run docs/readme_blocks.py"


def test_the_demo_block_is_filled():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    block = text.split("<!-- demo -->")[1].split("<!-- /demo -->")[0]

    assert "What this means:" in block


def test_every_page_that_the_readme_links_is_there():
    import re

    text = (ROOT / "README.md").read_text(encoding="utf-8")
    links = [link for link in re.findall(r"\]\(([^)]+)\)", text) if "://" not in link]

    assert links
    assert [link for link in links if not (ROOT / link.split("#")[0]).exists()] == []
