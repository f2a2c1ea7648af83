"""Imports point one way; CONTRIBUTING.md draws the picture."""

import ast
from pathlib import Path

import pytest

import judgeaudit

ROOT = Path(judgeaudit.__file__).parent

BASE = {"errors", "canonical", "model", "printable", "statistic", "version"}
PAPER = BASE | {"instrument", "battery"}
ALLOWED = {
    "errors": {"printable"},
    "version": set(),
    "canonical": {"errors"},
    "printable": set(),
    "model": {"errors", "canonical"},
    "readings": BASE,
    "statistic": set(),
    "instrument": BASE,
    "battery": BASE,
    "stats": {"errors", "printable"},
    "design": PAPER,
    "evidence": PAPER | {"design"},
    "collect": PAPER | {"design", "evidence"},
    "endpoint": BASE | {"battery"},
    "tables": BASE | {"readings", "instrument", "evidence"},
    "analysis": BASE | {"readings", "stats"},
    "verdict": BASE | {"readings", "stats", "analysis", "design"},
    "report": BASE | {"readings", "stats", "analysis", "design", "verdict"},
}
ALLOWED["study"] = set(ALLOWED)
"""What each room may import beside itself; those in `FREE` may import everything."""

FREE = {"cli", "__init__", "__main__", "api", "pytest_plugin"}


def rooms_imported(source: str) -> set[str]:
    """Names directly under `judgeaudit` that `source` imports."""
    dotted: list[str] = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            dotted += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "relative imports hide the room they come from"
            dotted += [f"{node.module}.{alias.name}" for alias in node.names]
    return {
        name.split(".")[1]
        for name in dotted
        if name.startswith("judgeaudit.") and name.split(".")[1] != "__version__"
    }


def modules_of(room: str) -> list[Path]:
    return [*ROOT.glob(f"{room}.py"), *ROOT.glob(f"{room}/**/*.py")]


@pytest.mark.parametrize("room", ALLOWED)
def test_a_room_imports_only_from_the_rooms_below_it(room):
    modules = modules_of(room)

    assert modules, f"the room {room} is gone: change the table"
    assert {m.name: rooms_imported(m.read_text()) - ALLOWED[room] - {room} for m in modules} == {
        m.name: set() for m in modules
    }


def test_every_room_stands_in_the_table():
    rooms = {path.stem for path in ROOT.iterdir() if path.suffix == ".py" or path.is_dir()}

    assert rooms - {"__pycache__", "_protocols", "py"} <= set(ALLOWED) | FREE


def test_nothing_imports_the_command_line():
    users = [
        path.name
        for path in ROOT.rglob("*.py")
        if path.parent.name != "cli" and path.stem not in FREE
        if "cli" in rooms_imported(path.read_text())
    ]

    assert users == []


def test_the_layer_test_sees_a_violation():
    assert rooms_imported("from judgeaudit.cli import app") == {"cli"}
    assert rooms_imported("import judgeaudit.report.html") == {"report"}


@pytest.mark.parametrize("path", sorted((ROOT / "stats").glob("*.py")))
def test_stats_stands_on_numpy_and_scipy_alone(path):
    allowed = {"numpy", "scipy", "judgeaudit", "__future__"}
    tree = ast.parse(path.read_text())
    roots = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            roots |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            roots.add(node.module.split(".")[0])

    import sys

    assert roots - allowed - set(sys.stdlib_module_names) == set()
