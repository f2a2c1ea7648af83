"""Make the evidence of version 0.1: small sealed studies that every later version has to verify.

    python tests/evidence/make_0_1.py [FOLDER]      default: the folder `0.1` beside this script

Run once, at commit 1e74f84, with that version's own command line; later versions never make these
studies again and never edit them. They refuse to: the script ends where its `judgeaudit` is not
version 0.1.0 or FOLDER is there already.

Every judge is simulated and every clock virtual, so what is asked and answered is the same each
time, but for the items' order in a gate's blocks, which the lock's digest draws. Times of freezing,
host and process id are not the same, and with them the digests. Studies are made outside of a
checkout, but for `gate`, whose lock and run name a commit. `expected.json` is written last, from
what version 0.1 itself said of each study: the head of its chain, its readings by reason, its
ledger, its gates and rules.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

VERSION = "0.1.0"

REGISTRATION = """\
analyses = {analyses}

[study]
id = "{id}"
title = "{title}"
authors = ["judgeaudit"]
claim = "{claim}"

[battery]
kind = "{kind}"
seed = 1
{controls}
{endpoints}
[schedule]
seed = 5
cap = 2000
clock = "virtual"
{schedule}
[unit]
cluster = "item"
{rest}"""

ENDPOINT = """\
[[endpoints]]
id = "{id}"
api = "{api}"
base_url = "embedded:{scenario}"
model = "simulated-judge"
{more}
"""


def endpoint(scenario: str, id: str = "judge", api: str = "openai.chat", more: str = "") -> str:
    return ENDPOINT.format(id=id, api=api, scenario=scenario, more=more)


def gate(id: str, statistic: str, threshold: str, more: str = "") -> str:
    return f'\n[[gates]]\nid = "{id}"\nstatistic = "{statistic}"\n{threshold}\n{more}\n'


@dataclass(frozen=True)
class Spec:
    """One study. Of a battery of `n` the first `items` rows are kept, or every `stride`-th.

    `edits` are made in protocol.toml.
    """

    name: str
    title: str
    protocol: str
    claim: str
    kind: str
    endpoints: str
    items: int
    n: int = 4
    stride: int = 1
    analyses: Sequence[str] = ()
    schedule: str = "repeats = 2"
    rest: str = ""
    edits: Sequence[tuple[str, str]] = ()
    controls: bool = False


NOISY = endpoint("noisy")
AS_GIVEN = (('orders = "both"\n', 'orders = "as_given"\n'),)
LOGPROBS = ("label_coverage", "label_mass_median", "median_abs_delta_r")
VERDICTS = ("category_exact", "flip_rate", "order_flip", "gold_agreement")
LUCK = (
    "luck_p",
    "luck_lesson_effect",
    "luck_outcome_effect",
    "luck_total",
    "luck_carry",
    "luck_harm",
    "luck_protection",
    "luck_mitigation",
    "luck_again",
    "luck_comprehension",
    "luck_lessons",
)
RULE = """
[[rules]]
id = "preference"
statistic = "b_map"
[[rules.bands]]
name = "small"
absolute = true
below = 0.1
[[rules.bands]]
name = "large"
absolute = true
at_least = 0.1
"""
LUCK_GATE = gate(
    "carry",
    "luck_carry",
    "at_most = 0.10",
    'over = "all"\nparams = { stratum = "unlucky", pool = "these", margin = 0.10 }',
)

SIMPLE = (
    Spec(
        "ranking",
        "Rankings, with controls",
        "ranking",
        "ranking",
        "rankings",
        NOISY,
        6,
        n=6,
        analyses=("ranking_exact", "ranking_top1", "ranking_pairwise", "separation"),
        rest=gate(
            "exact",
            "ranking_exact",
            "at_least = 0.5",
            'denominator = "planned"\nsensitivity = ["ranking_pairwise"]',
        ),
        controls=True,
    ),
    Spec(
        "ranking-structured",
        "Rankings by schema, candidates as given, three draws of which the ranks are summed",
        "ranking",
        "ranking",
        "rankings",
        NOISY,
        3,
        analyses=("ranking_exact", "ranking_top1", "ranking_pairwise"),
        schedule="repeats = 2\ndraws = 3",
        edits=(('order = "seeded"', 'order = "as_given"'), ("= false  ", "= true  ")),
        rest='k = 3\naggregate = "borda"\n',
    ),
    Spec(
        "label-logprob",
        "The probability of one label",
        "label-logprob",
        "probability",
        "traces",
        NOISY,
        8,
        n=1,
        analyses=LOGPROBS,
        rest=gate("coverage", "label_coverage", "at_least = 0.5", 'over = "all"'),
    ),
    Spec(
        "label-pair",
        "The probability of a label, both mappings",
        "label-pair",
        "probability",
        "traces",
        endpoint("label-bias:bias=0.4,call.z_sd=0.1"),
        8,
        n=1,
        analyses=(*LOGPROBS, "pair_completeness", "b_map", "group_range"),
        rest=gate("noise", "median_abs_delta_r", "at_most = 0.2", 'decide = "point"') + RULE,
    ),
    Spec(
        "score",
        "Scores, a number alone",
        "score",
        "score",
        "scores",
        NOISY,
        12,
        analyses=("number_exact", "spearman", "icc", "noise", "repeatability_coefficient"),
        rest=gate("exact", "number_exact", "at_least = 0.3")
        + gate("order", "spearman", "at_least = 0.95", 'part_of = "both"')
        + gate("noise", "noise", "at_most = 1.0", 'over = "all"\npart_of = "both"'),
        controls=True,
    ),
    Spec(
        "score-json",
        "Scores in JSON by schema, the mean of two draws",
        "score",
        "score",
        "scores",
        NOISY,
        8,
        analyses=("number_exact", "noise", "gap_delta", "best_of_n_change"),
        schedule="repeats = 2\ndraws = 2",
        edits=(
            (", step = 1 }", " }"),
            ('type = "int"', 'type = "float"'),
            ('pattern = "number"', 'pattern = "json"\nstructured = true'),
        ),
        rest='k = 2\naggregate = "mean"\n',
    ),
    Spec(
        "verdict",
        "Verdicts in both orders",
        "verdict",
        "verdict",
        "pairs",
        endpoint("noisy:first_bias=0.3"),
        8,
        n=8,
        analyses=(*VERDICTS, "alpha", "ac1", "order_excess", "order_position"),
        rest=gate("flips", "flip_rate", "at_most = 0.6", 'sensitivity = ["ac1"]')
        + gate("band", "order_flip", "band = [0.1, 0.5]", 'over = "orders"\ndecide = "point"'),
        controls=True,
    ),
    Spec(
        "choice",
        "Choices of a tool",
        "choice",
        "choice",
        "worlds",
        endpoint("unparsable-agent"),
        10,
        n=10,
        analyses=("category_exact", "flip_rate", "gold_agreement"),
        rest=gate("flips", "flip_rate", "at_most = 0.5", 'invalid = "disagree"'),
    ),
    Spec(
        "text",
        "Free text",
        "text",
        "text",
        "scores",
        endpoint("stable"),
        5,
        analyses=("text_exact", "funnel"),
        rest=gate("same", "text_exact", "at_least = 0.5"),
    ),
    Spec(
        "windows",
        "Two endpoints, two days of two windows, two conditions, part of the groups asked again",
        "score",
        "score",
        "scores",
        endpoint("drift-day", "drifts", more="prices = { prompt = 1.0, completion = 4.0 }\n")
        + endpoint("load-dependent:loaded.step=0.4", "loaded", more="embedded = { seed = 9 }\n"),
        4,
        stride=2,
        analyses=(
            "number_exact",
            "noise",
            "day_difference",
            "day_within",
            "day_between",
            "day_spread",
            "window_shift",
            "component",
            "design_reliability",
            "fingerprints",
            "models_returned",
        ),
        schedule=(
            'start = 2026-03-01T06:00:00Z\ndays = 2\nwindows_per_day = 2\nmin_gap = "2h"\n'
            "repeats = 2\nrepeat_share = 0.5\nreplay_share = 0.5\nbudget = 100.0\nchunk = 4\n"
            'conditions = [{ name = "quiet" }, { name = "loaded", in_flight = 4 }]'
        ),
        rest=gate("window", "number_exact", "at_least = 0.2")
        + gate("day", "number_exact", "at_least = 0.2", 'over = "other_day"'),
    ),
    Spec(
        "faults",
        "Refusals, truncations, 429, 503, cut and dropped answers, and their retries",
        "verdict",
        "verdict",
        "pairs",
        endpoint(
            "invalid-some:unparsed=0.1,refused=0.1,truncated=0.1,empty=0.1,"
            "limited=0.1,dropped=0.1,timeout=0.1,cut=0.1,unavailable=0.1"
        )
        + endpoint("flaky-transport:dropped=0.2,cut=0.2,timeout=0.1", "once").replace(
            "simulated-judge", "simulated-other"
        ),
        7,
        n=7,
        analyses=("category_exact", "flip_rate", "funnel"),
        edits=AS_GIVEN,
        rest='\n[retry]\nattempts = 2\nbase = "1s"\nlongest = "5s"\n'
        + gate("flips", "flip_rate", "at_most = 0.5", "max_missing = 0.9")
        + gate("strict", "flip_rate", "at_most = 0.5"),
    ),
    Spec(
        "anthropic",
        "Verdicts over the Messages API",
        "verdict",
        "verdict",
        "pairs",
        endpoint(
            "noisy",
            api="anthropic.messages",
            more='api_version = "2023-06-01"\ndecoding = { temperature = "unset" }',
        ),
        6,
        n=6,
        analyses=VERDICTS,
        rest=gate("flips", "flip_rate", "at_most = 0.6"),
    ),
    Spec(
        "capped",
        "A cap that retries use up: the last calls are never sent",
        "score",
        "score",
        "scores",
        endpoint("flaky-transport:unavailable=0.3"),
        10,
        analyses=("number_exact", "funnel"),
        rest=gate("exact", "number_exact", "at_least = 0.5"),
    ),
    Spec(
        "closed",
        "One attempt a call at six a minute: answers lost for good, and a window that closes",
        "score",
        "score",
        "scores",
        endpoint(
            "flaky-transport:dropped=0.2,cut=0.2,unavailable=0",
            more="requests_per_minute = 6\nembedded = { seed = 1 }\n",
        ),
        10,
        analyses=("number_exact", "funnel"),
        schedule='repeats = 2\nmax_duration = "170s"',
        edits=(
            ("step = 1 }", "step = 0.5 }"),
            ('type = "int"', 'type = "float"'),
            ('pattern = "number"', 'pattern = "json"\nstructured = true'),
        ),
        rest="\n[retry]\nattempts = 1\n" + gate("exact", "number_exact", "at_least = 0.5"),
    ),
    Spec(
        "memory-luck",
        "Two stages: a lesson, then a choice; where a lesson was refused there is no memory",
        "memory-luck",
        "choice",
        "worlds",
        endpoint("superstitious-agent:carry=0.5,refused=0.06"),
        3,
        analyses=LUCK,
        schedule="repeats = 1",
        rest=LUCK_GATE,
    ),
)


def cli(*arguments: object, codes: Sequence[int] = (0,)) -> str:
    """Run this version's command line; returns what it printed."""
    command = [sys.executable, "-m", "judgeaudit", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode not in codes:
        raise SystemExit(f"{arguments}: {done.returncode}\n{done.stdout}\n{done.stderr}")
    return done.stdout


def draft(root: Path, spec: Spec) -> None:
    """Write a study's files as `init` does, then its items' first rows and its registration."""
    cli("init", root, "--protocol", spec.protocol, "--n", spec.n)
    rows = (root / "items.jsonl").read_text().splitlines(keepends=True)
    (root / "items.jsonl").write_text("".join(rows[:: spec.stride][: spec.items]))
    if not spec.controls:
        (root / "controls.jsonl").unlink(missing_ok=True)
    for old, new in spec.edits:
        edit(root / "protocol.toml", old, new)
    text = REGISTRATION.format(
        **{name: getattr(spec, name) for name in ("title", "claim", "kind", "endpoints")},
        id=spec.name,
        analyses=json.dumps(list(spec.analyses)),
        schedule=spec.schedule,
        rest=spec.rest,
        controls='\n[controls]\nitems = "controls.jsonl"\n' if spec.controls else "",
    )
    (root / "registration.toml").write_text(text)


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    if text.count(old) != 1:
        raise SystemExit(f"{path}: {old!r} stands there {text.count(old)} times")
    path.write_text(text.replace(old, new))


def whole(root: Path) -> None:
    """Freeze, run and analyse."""
    cli("prereg", "freeze", root)
    cli("run", root, "--all")
    cli("analyze", root)


def simple(root: Path, name: str | None = None, **changes: Any) -> None:
    """Draft one of `SIMPLE`."""
    spec = next(one for one in SIMPLE if one.name == (name or root.name))
    draft(root, Spec(**{**vars(spec), "name": root.name, **changes}))


def capped(root: Path) -> None:
    simple(root)
    edit(root / "registration.toml", "cap = 2000", "cap = 20")
    whole(root)


def amended(root: Path) -> None:
    """Amend twice: every body before the first call, then the gap after the first window."""
    simple(
        root,
        "score",
        rest=gate("exact", "number_exact", "at_least = 0.3"),
        items=6,
        schedule='repeats = 2\nwindows_per_day = 2\nmin_gap = "1h"',
        controls=False,
    )
    cli("prereg", "freeze", root)
    edit(root / "protocol.toml", "max_tokens = 16", "max_tokens = 8")
    amend(root, "max_tokens 8", "a digit is asked", "all calls, none was sent")
    cli("run", root, "--next")
    edit(root / "registration.toml", 'min_gap = "1h"', 'min_gap = "3h"')
    amend(root, "a longer gap", "the judge rests", "window d1w2 alone")
    whole_after_freeze(root)


def amend(root: Path, what: str, why: str, effect: str) -> None:
    cli("prereg", "amend", root, "--what", what, "--why", why, "--effect", effect)


def whole_after_freeze(root: Path) -> None:
    cli("run", root, "--all")
    cli("analyze", root)


def interrupted(root: Path) -> None:
    """Cut a journal right after a reserve, as a killed process leaves it, and go on from there.

    The second window waits.
    """
    schedule = "repeats = 2\nwindows_per_day = 2"
    once = "\n[retry]\nattempts = 1\n"
    simple(root, "verdict", rest=once, items=4, controls=False, schedule=schedule)
    cli("prereg", "freeze", root)
    twin = root.with_name("twin")
    shutil.copytree(root, twin)
    cli("run", twin, "--next")
    rows = (twin / "log/journal/d1w1.jsonl").read_text().splitlines(keepends=True)
    reserves = [n for n, row in enumerate(rows) if json.loads(row)["record"]["kind"] == "reserve"]
    journal = root / "log/journal/d1w1.jsonl"
    journal.parent.mkdir(parents=True)
    journal.write_text("".join(rows[: reserves[9] + 1]))
    shutil.rmtree(twin)
    cli("run", root, "--next")
    cli("analyze", root)


def piloted(root: Path) -> None:
    """Run a pilot, freeze upon it, run: the verdict is confirmatory."""
    instruments = "healthy = { value = 0.02 }\ndegraded = { value = 0.40 }"
    consumer = '\n[study.consumer]\ndecision = "pass_fail_filter"\ntolerated = 0.40\n'
    simple(
        root,
        "verdict",
        endpoints=endpoint("noisy:call.flip=0.01"),
        items=12,
        n=12,
        controls=False,
        edits=AS_GIVEN,
        rest=gate("flips", "flip_rate", "at_most = 0.40", instruments),
    )
    edit(root / "registration.toml", "\n[battery]", f"{consumer}\n[battery]")
    told = cli("pilot", root, "--items", 6)
    found = re.search(r'digest = "(sha256:[0-9a-f]{64})"', told)
    if found is None:
        raise SystemExit(told)
    with (root / "registration.toml").open("a") as file:
        file.write(f'\n[pilot]\ndigest = "{found[1]}"\n')
    whole(root)


SEQUENTIAL = """
[sequential]
design = "flip_within"

[[gates]]
id = "flips"
statistic = "flip_rate"
over = "same_window"
at_most = 0.50
"""


def gated(root: Path) -> None:
    """Commit a study of the shape of docs/ci.md, freeze it there and ask it under one key."""
    simple(
        root,
        "verdict",
        endpoints=endpoint("noisy:call.flip=0.01"),
        items=16,
        n=16,
        controls=False,
        analyses=(),
        schedule="repeats = 2\nwindows_per_day = 4\nblock = 4",
        edits=AS_GIVEN,
        rest=SEQUENTIAL,
    )
    git(root, "init", "-q")
    git(root, "add", ".")
    git(root, "-c", "user.name=me", "-c", "user.email=me@localhost", "commit", "-q", "-m", "Gate")
    cli("prereg", "freeze", root)
    cli("gate", root, "--run-key", "c1", codes=(0, 1, 3))
    shutil.rmtree(root / ".git")


def git(root: Path, *arguments: str) -> None:
    subprocess.run(["git", "-C", str(root), *arguments], check=True)


def baseline_gate(root: Path) -> None:
    """One fresh call an item against a sealed baseline of five replies, in the folder beside it."""
    base = root / "baseline"
    same = {"endpoints": endpoint("noisy:call.flip=0.01"), "items": 8, "n": 8, "controls": False}
    simple(base, "verdict", schedule="repeats = 5", rest="", edits=AS_GIVEN, **same)
    whole(base)
    head = head_of(base)
    study = root / "study"
    rest = SEQUENTIAL.replace("flip_within", "flip_vs_baseline").replace("same_window", "all")
    design = f'baseline = "../baseline"\ndigest = "{head}"\n\n[[gates]]'
    simple(
        study,
        "verdict",
        schedule="repeats = 1\nwindows_per_day = 2\nblock = 4",
        rest=rest.replace("\n[[gates]]", design),
        edits=AS_GIVEN,
        analyses=(),
        **same,
    )
    freeze_unchecked(study)
    cli("gate", study, "--run-key", "c1", codes=(0, 1, 3))


def freeze_unchecked(root: Path) -> None:
    """Freeze without the command's checks.

    `prereg freeze` of this version counts no comparison in a plan of one call an item, and so
    refuses every `flip_vs_baseline`.
    """
    from judgeaudit.registration.environment import facts
    from judgeaudit.registration.files import freeze

    freeze(root, facts(root, datetime.now(UTC)))


def head_of(root: Path) -> str | None:
    """Return the digest of the last run's manifest, of the file's canonical bytes."""
    from judgeaudit.auditlog.runs import sealed_runs

    runs = sealed_runs(root / "log")
    return str(runs[-1].digest) if runs else None


SPECIAL: dict[str, Callable[[Path], None]] = {
    "capped": capped,
    "amended": amended,
    "interrupted": interrupted,
    "piloted": piloted,
    "gate": gated,
    "gate-baseline": baseline_gate,
}


def make(root: Path) -> None:
    if root.name in SPECIAL:
        SPECIAL[root.name](root)
    else:
        simple(root)
        whole(root)


def expected(folder: Path) -> dict[str, Any]:
    """Return what this version says of every study and gate run below `folder`."""
    studies = {}
    for lock in sorted(folder.rglob("frozen/lock.json")):
        root = lock.parent.parent
        runs = sorted(path.parent for path in root.glob("gates/*/run.json"))
        for place in runs or [root]:
            verified = json.loads(cli("verify", place, "--json"))
            told = said_of_run(root, place) if runs else said_of_study(root)
            studies[place.relative_to(folder).as_posix()] = {
                "head": head_of(place),
                "calls": verified["calls"],
                "runs": verified["runs"],
                **told,
            }
    return studies


def said_of_study(root: Path) -> dict[str, Any]:
    found = json.loads(cli("analyze", root, "--json"))
    return {
        "ledger": found["execution"]["ledger"],
        "reasons": reasons(root),
        "gates": {gate["id"]: gate["outcome"] for gate in found["gates"]},
        "rules": {rule["id"]: rule["outcome"] for rule in found.get("rules", [])},
    }


def said_of_run(study: Path, run: Path) -> dict[str, Any]:
    key = json.loads((run / "run.json").read_text())["key"]
    told = cli("gate", study, "--run-key", key, "--read-only", "--json", codes=(0, 1, 3))
    found = json.loads(told)
    return {
        "key": key,
        "outcome": found["outcome"],
        "asked": found["asked"]["calls"],
        "reasons": reasons(run),
        "gates": {gate["id"]: gate["outcome"] for gate in found["gates"]},
    }


def reasons(root: Path) -> dict[str, int]:
    """Return how many readings are valid, and how many are not for each reason."""
    import pyarrow.parquet as pq

    counts: dict[str, int] = {}
    for path in sorted(root.glob("log/sealed/*/readings.parquet")):
        for row in pq.read_table(path, columns=["status", "reason"]).to_pylist():
            name = "ok" if row["status"] == "ok" else row["reason"]
            counts[name] = counts.get(name, 0) + 1
    return dict(sorted(counts.items()))


def main(target: Path) -> None:
    from judgeaudit import __version__

    if __version__ != VERSION:
        raise SystemExit(f"version {__version__}: the evidence of {VERSION} is made by it alone")
    if target.exists():
        raise SystemExit(f"{target} is there already, and evidence is never made again")
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder) / "0.1"
        work.mkdir()
        for name in sorted({spec.name for spec in SIMPLE} | set(SPECIAL)):
            make(work / name)
            print(name)
        text = json.dumps(expected(work), indent=1, sort_keys=True)
        (work / "expected.json").write_text(text + "\n")
        for lock in work.rglob(".executor.lock"):
            lock.unlink()
        shutil.copytree(work, target)


if __name__ == "__main__":
    here = Path(__file__).parent / "0.1"
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else here)
