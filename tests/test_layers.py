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
    "readings": BASE | {"stats"},
    "statistic": set(),
    "instrument": BASE,
    "battery": BASE,
    "stats": {"errors", "printable"},
    "design": PAPER,
    "evidence": PAPER | {"design"},
    "collect": PAPER | {"design", "evidence"},
    "gateway": PAPER | {"design", "evidence", "collect"},
    "endpoint": BASE | {"battery"},
    "tables": BASE | {"readings", "instrument", "evidence"},
    "analysis": BASE | {"readings", "stats"},
    "verdict": BASE | {"readings", "stats", "analysis", "design"},
    "report": BASE | {"readings", "stats", "analysis", "design", "verdict"},
}
ALLOWED["study"] = set(ALLOWED)
ALLOWED |= {
    "cli": {"errors", "printable", "version", "study", "report"},
    "pytest_plugin": {"errors", "study"},
    "api": {"errors", "study", "design", "readings", "tables", "analysis", "verdict"},
    "__init__": {"api", "version"},
    "__main__": {"cli"},
}
"""What each room may import beside itself. No room is free."""


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

    assert rooms - {"__pycache__", "_protocols", "py"} <= set(ALLOWED)


def imports_of(modules: dict[str, str]) -> dict[str, set[str]]:
    """What each module imports of the others, at its top or inside a function, typing included."""
    found: dict[str, set[str]] = {}
    for name, source in modules.items():
        wanted = set()
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.Import):
                wanted |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                inner = {f"{node.module}.{alias.name}" for alias in node.names}
                wanted |= inner & modules.keys() or {node.module}
        found[name] = (wanted & modules.keys()) - {name}
    return found


def in_a_circle(imports: dict[str, set[str]]) -> set[str]:
    """The modules that reach themselves: what is left when those that reach nothing are gone."""

    def reached(start: str) -> set[str]:
        seen: set[str] = set()
        todo = list(imports[start])
        while todo:
            if (name := todo.pop()) not in seen:
                seen.add(name)
                todo += imports[name]
        return seen

    return {name for name in imports if name in reached(name)}


def test_no_import_goes_in_a_circle():
    """Also not inside a function or for types alone: a circle there hides a room in another."""
    modules = {
        ".".join(("judgeaudit", *path.relative_to(ROOT).with_suffix("").parts)).removesuffix(
            ".__init__"
        ): path.read_text()
        for path in ROOT.rglob("*.py")
    }

    assert len(modules) > 100
    assert in_a_circle(imports_of(modules)) == set()


def test_the_circle_test_sees_one_inside_a_function():
    modules = {
        "judgeaudit.a": "def f():\n    from judgeaudit import b\n",
        "judgeaudit.b": "from judgeaudit.c import x\n",
        "judgeaudit.c": "import judgeaudit.a\n",
        "judgeaudit.d": "import judgeaudit.a\n",
    }

    assert in_a_circle(imports_of(modules)) == {"judgeaudit.a", "judgeaudit.b", "judgeaudit.c"}


@pytest.mark.parametrize("path", sorted((ROOT / "study").glob("*.py")), ids=lambda p: p.stem)
def test_the_workflow_neither_prints_nor_exits(path):
    """A notebook, the pytest plugin and the command line call it: it returns and raises."""
    tree = ast.parse(path.read_text())
    called = {
        n.func.id for n in ast.walk(tree) if isinstance(n, ast.Call) and hasattr(n.func, "id")
    }
    named = {n.attr for n in ast.walk(tree) if isinstance(n, ast.Attribute)}

    assert not called & {"print", "exit", "input"}
    assert not named & {"exit", "stdout", "stderr"}


def test_the_command_line_stays_a_shell():
    """Under 2,400 lines, most of them options: what is computed stands in the rooms below."""
    assert sum(len(path.read_text().splitlines()) for path in (ROOT / "cli").glob("*.py")) < 2400


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
