"""Fill the README's generated blocks: `python docs/readme_blocks.py` (`--check` only compares).

A block stands between `<!-- NAME -->` and `<!-- /NAME -->`. `commands` is the table of commands
with the first sentence of their help; `analyze` is what one command prints for the sample table.
The block `demo` is the output of a real run on a real model and is not made here.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from typer.main import get_command
from typer.testing import CliRunner

from judgeaudit.cli import app, commands

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"
ANALYZE = (
    "analyze sample_data/scores.csv --item item --repeat repeat --score score --digest request"
)


def command_table() -> str:
    """Return every command with the first sentence of its help."""
    rows = ["| command | what it does |", "| --- | --- |"]
    for name, command in get_command(app).commands.items():
        subcommands = getattr(command, "commands", None)
        shown = f"{name} " + "\\|".join(subcommands) if subcommands else name
        sentence = " ".join((command.help or "").split("\n\n")[0].split())
        rows.append(f"| `judgeaudit {shown}` | {sentence} |")
    return "\n".join(rows)


def analyze_output() -> str:
    """Return the sample table's analysis as a shell session."""
    result = CliRunner().invoke(app, ANALYZE.split())
    assert result.exit_code == 0, result.output
    return f"```console\n$ judgeaudit {ANALYZE}\n{result.stdout.strip()}\n```"


def filled(text: str) -> str:
    """Return `text` with its generated blocks made anew."""
    for name, make in (("commands", command_table), ("analyze", analyze_output)):
        pattern = re.compile(f"(<!-- {name} -->\n).*?(<!-- /{name} -->)", re.DOTALL)
        body = make()
        text, count = pattern.subn(lambda m, body=body: f"{m[1]}{body}\n{m[2]}", text)
        assert count == 1, f"README.md has {count} blocks {name}"
    return text


def main() -> int:
    """Write the README, or say whether it is current."""
    commands.register(app)
    old = README.read_text(encoding="utf-8")
    new = filled(old)
    if "--check" in sys.argv:
        return int(new != old)
    README.write_text(new, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
