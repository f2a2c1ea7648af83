"""Makes the environments with other SDK versions, for `test_conformance.py`.

    python tests/wire/other_versions.py FOLDER

Each holds one version of openai and of anthropic: the oldest that pyproject.toml allows, one of the
last on httpx, one of the first on the SDKs' own HTTP library. An environment that is there already
stays.
"""

import subprocess
import sys
import venv
from pathlib import Path

VERSIONS = (
    ("1.40.0", "0.34.0", "httpx<0.28"),  # both pass `proxies=` to httpx, which 0.28 removed
    ("2.8.0", "0.75.0", "httpx<1"),
    ("3.0.0", "1.0.0", "httpx<1"),
)


def make(folder, openai, anthropic, httpx):
    """Make one environment."""
    target = folder / f"openai-{openai}-anthropic-{anthropic}"
    python = target / "bin" / "python"
    if not python.exists():
        venv.create(target, with_pip=True)
        wanted = [f"openai=={openai}", f"anthropic=={anthropic}", httpx]
        subprocess.run([python, "-m", "pip", "install", "--quiet", *wanted], check=True)
    return python


if __name__ == "__main__":
    root = Path(sys.argv[1])
    for versions in VERSIONS:
        print(make(root, *versions))
