"""The demo `retest`: sums of three numbers, read twice, alone and under load.

Frozen, run, verified and analysed as any other study; what is printed is made from its verdicts.
"""

from __future__ import annotations

from pathlib import Path
from random import Random

from judgeaudit.battery import items_to_bytes
from judgeaudit.battery.controls import controls_for
from judgeaudit.endpoint.local import require_engine
from judgeaudit.model import Candidate, Item
from judgeaudit.study.demo_whole import TEMPLATES, run_whole
from judgeaudit.study.folders import Folder, refuse_existing, write_study
from judgeaudit.study.progress import Progress, Remark, silent
from judgeaudit.study.results import Analysed

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


def demo(folder: Folder, *, simulated: bool = False, progress: Progress = silent) -> Analysed:
    """Make, freeze, run, verify and analyse the demo study in `folder`.

    The judge is a small real one on this machine, whose weights are fetched on first use, or a
    `simulated` one. An unfinished demo is gone on with. Raises `InputError` for a folder that holds
    something else.
    """
    if not simulated:
        require_engine()
    root = Path(folder)
    make_retest(root, simulated, progress)
    return run_whole(root, progress)


def make_retest(root: Path, simulated: bool, progress: Progress = silent) -> None:
    """Write the demo's registration, protocol and items; an unfinished demo is gone on with.

    Raises `InputError` for a folder that holds something else.
    """
    text = (TEMPLATES / "retest-registration.toml").read_text(encoding="utf-8")
    text = text.replace("@ENDPOINT@", SIMULATED if simulated else LOCAL)
    text = text.replace("@CLOCK@", "virtual" if simulated else "utc")
    registration = root / "registration.toml"
    if registration.is_file() and registration.read_text(encoding="utf-8") == text:
        progress(Remark(f"{root}: going on with the demo that is there"))
        return
    refuse_existing(root)
    items = sums()
    files = {
        "registration.toml": text.encode(),
        "protocol.toml": (TEMPLATES / "retest-protocol.toml").read_bytes(),
        "items.jsonl": items_to_bytes(items),
        "controls.jsonl": items_to_bytes(controls_for("low", items)),
    }
    write_study(root, files)


def sums() -> tuple[Item, ...]:
    """Return the demo's items: sums of three numbers, each with its answer and three near it.

    They are short, so that a small model on one core reads them in about a second.
    """
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
