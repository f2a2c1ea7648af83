"""What a command line imports before it works: the budget of the first second."""

import subprocess
import sys

import pytest

from judgeaudit.cli.commands import COMMANDS, named

HEAVY = ["scipy", "pandas", "matplotlib", "openai", "anthropic", "pyarrow.compute", "numpy.f2py"]


def imported(*arguments):
    """The heavy libraries that a command line leaves imported."""
    code = (
        "import sys, json\n"
        f"sys.argv = ['judgeaudit', *{list(map(str, arguments))!r}]\n"
        "from judgeaudit.cli import main\n"
        "try:\n    main()\n"
        "except SystemExit as end:\n    assert not end.code, end.code\n"
        f"print('HEAVY', [m for m in {HEAVY!r} if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()[-1]


def test_help_imports_nothing_heavy():
    assert imported("--help") == "HEAVY []"


@pytest.mark.parametrize("command", ["analyze", "gate", "run", "init"])
def test_the_help_of_one_command_imports_nothing_heavy(command):
    """SciPy and pandas take a third of a second each; they are imported when a command works."""
    assert imported(command, "--help") == "HEAVY []"


def test_a_command_line_needs_the_command_that_it_names():
    assert list(named(["run", "my-study", "--all"])) == ["run"]
    assert list(named(["--help"])) == list(COMMANDS)
    assert list(named([])) == list(COMMANDS)
    assert list(named(["rnu"])) == list(COMMANDS)
