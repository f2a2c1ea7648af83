"""What a command line imports before it works: the budget of the first second."""

import subprocess
import sys

import pandas as pd
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


@pytest.mark.parametrize("value", ["score", "verdict"])
def test_exploring_a_csv_imports_neither_scipy_nor_pandas_nor_arrows_kernels(tmp_path, value):
    """A third of a second each; half of what 100,000 scores take to be read and analysed."""
    path = tmp_path / "table.csv"
    rows = [{"item": f"i{i}", "run": k, "score": i + k, "verdict": "AB"[i % 2]} for i in range(12)
            for k in range(3)]  # fmt: skip
    pd.DataFrame(rows).to_csv(path, index=False)

    assert imported("analyze", path, "--repeat", "run", f"--{value}", value) == "HEAVY []"


def test_a_command_line_needs_the_command_that_it_names():
    assert list(named(["run", "my-study", "--all"])) == ["run"]
    assert list(named(["--help"])) == list(COMMANDS)
    assert list(named([])) == list(COMMANDS)
    assert list(named(["rnu"])) == list(COMMANDS)
