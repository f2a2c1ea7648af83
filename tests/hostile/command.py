"""Runs one command of judgeaudit in a process that has everything imported: `kills` starts it.

It is read with `runpy.run_path`, which sets WORDS (the command line) and FOLDER (where its stdout
and stderr go).
"""

import os
import sys
from pathlib import Path

from judgeaudit.cli import main

words = globals()["WORDS"]
folder = Path(globals()["FOLDER"])

for name, stream in (("stdout", 1), ("stderr", 2)):
    taken = os.open(folder / name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    os.dup2(taken, stream)
    os.close(taken)
sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115 (lives as long as the process)
sys.stderr = open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
sys.argv = ["judgeaudit", *words]
main()
