"""What the package imports is what it declares, and nothing more."""

import ast
import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
NAMES = {"rfc3161_client": "rfc3161-client", "httpx_aiohttp": "httpx-aiohttp"}
"""Distributions whose name is not that of the module."""


def imported() -> set[str]:
    """Distributions that a module of the package imports, anywhere in it."""
    found: set[str] = set()
    for path in (ROOT / "judgeaudit").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                found |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                found.add(node.module.partition(".")[0])
    outside = found - set(sys.stdlib_module_names) - {"judgeaudit"}
    return {NAMES.get(name, name) for name in outside}


def declared() -> tuple[set[str], set[str]]:
    """Runtime dependencies, and those of the extras that users install."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    ours = {"test", "dev"}
    users = [line for name, lines in extras.items() if name not in ours for line in lines]
    return _names(project["dependencies"]), _names(users)


def _names(lines: list[str]) -> set[str]:
    return {re.match(r"[A-Za-z0-9._-]+", line).group() for line in lines}


def test_every_import_is_declared():
    """pytest is imported by the plugin, which pytest itself loads."""
    runtime, extras = declared()

    assert imported() - {"pytest"} - runtime - extras == set()


def test_every_runtime_dependency_is_imported():
    runtime, _ = declared()

    assert runtime - imported() == set()
