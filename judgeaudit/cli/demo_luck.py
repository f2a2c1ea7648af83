"""`judgeaudit demo memory-luck`: the study in little, on agents whose effect is known.

`DIR/controls` asks five simulated agents, `DIR/judge` the small local model: two studies, because
a real judge cannot run on the virtual clock. Each is frozen, run in two stages, verified and
analysed as any other; every sentence printed is made from a verdict or an estimate's claims.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judgeaudit.cli.demo import TEMPLATES, run_whole
from judgeaudit.cli.exits import ExitCode
from judgeaudit.cli.output import document, lines, remark

if TYPE_CHECKING:
    from judgeaudit.analysis.estimate import Estimate
    from judgeaudit.study.results import Analysed
    from judgeaudit.verdict import Verdict

MARGIN = "0.10"
CONTRASTS = (
    ("luck_lesson_effect", "unlucky", "lesson effect", "the lesson's content, outcome held"),
    ("luck_outcome_effect", "unlucky, lesson=F", "outcome effect", "the outcome, lesson held"),
    ("luck_total", "unlucky", "total luck", "outcome and its lesson together"),
    ("luck_carry", "unlucky", "CARRY", "what a lesson of bad luck adds"),
    ("luck_harm", "unlucky", "  harm", "the lesson of failure against an unrelated one"),
    ("luck_protection", "unlucky", "  protection", "an unrelated lesson against one of success"),
)
"""Statistic, scope, name and meaning; the last two are the parts of the lesson effect."""


@dataclass(frozen=True, slots=True)
class Agent:
    """An endpoint of the demo and what is planted in it."""

    id: str
    base_url: str
    planted: str


AGENTS = (
    Agent("reads-the-log", "embedded:bayes-agent", "CARRY 0"),
    Agent("carries-luck", "embedded:superstitious-agent:carry=0.352", "CARRY .352"),
    Agent("tosses-a-coin", "embedded:random-agent", "either tool, CARRY 0"),
    Agent("takes-the-first", "embedded:stubborn-agent", "the tool shown first, CARRY 0"),
    Agent("rarely-answers", "embedded:unparsable-agent", "3 of 10 choices name no tool, CARRY 0"),
)
JUDGE = (Agent("judge", "embedded:local", ""),)
LOCAL = """\
timeouts = { read = "300s", total = "600s" }
decoding = { stop = [".", "\\n\\n"] }   # one sentence: this model's second repeats the first
"""
COMPREHENDS = 0.9
"""Below this share of right answers to "which has the better record?" the demo warns."""
WORLDS_CONTROLS, WORLDS_JUDGE = 40, 5


def demo_luck(root: Path, simulated: bool, as_json: bool) -> ExitCode:
    """Make, freeze, run, verify and analyse the demo's studies in `root`."""
    if not simulated:
        from judgeaudit.endpoint.local import require_engine

        require_engine()
    told = [one_study(root / "controls", AGENTS, WORLDS_CONTROLS)]
    if not simulated:
        told.append(one_study(root / "judge", JUDGE, WORLDS_JUDGE))
    if as_json:
        document({"studies": [as_document(*one) for one in told]})
    else:
        for one in told:
            lines(lines_of(*one))
    return ExitCode.DONE


def one_study(
    root: Path, agents: Sequence[Agent], worlds: int
) -> tuple[Sequence[Agent], Analysed, list[Path]]:
    """Make, freeze, run, verify and analyse one study; returns what is told of it."""
    make_study(root, agents, worlds)
    analysed = run_whole(root)
    return agents, analysed, draw(analysed)


def make_study(root: Path, agents: Sequence[Agent], worlds: int) -> None:
    """Write one of the demo's studies; an unfinished one is gone on with.

    Raises `InputError` for a folder that holds something else.
    """
    from judgeaudit.battery import items_to_bytes
    from judgeaudit.battery.catalogue import build_battery
    from judgeaudit.study.folders import refuse_existing, write_study

    text = registration_text(root.name, agents)
    registration = root / "registration.toml"
    if registration.is_file() and registration.read_text(encoding="utf-8") == text:
        remark(f"{root}: going on with the demo that is there")
        return
    refuse_existing(root)
    items = build_battery("worlds", worlds, 11).items
    files = {
        "registration.toml": text.encode(),
        "protocol.toml": (TEMPLATES / "luck-protocol.toml").read_bytes(),
        "items.jsonl": items_to_bytes(items),
    }
    write_study(root, files)


def registration_text(name: str, agents: Sequence[Agent]) -> str:
    """Return the registration: the template, then an endpoint and a gate for each agent."""
    text = (TEMPLATES / "luck-registration.toml").read_text(encoding="utf-8")
    simulated = agents is not JUDGE
    who = "agents whose effect is known" if simulated else "a small real model"
    for mark, value in {
        "ID": f"demo-luck-{name}",
        "TITLE": f"Does a lesson from bad luck carry over? On {who}",
        "CLOCK": "virtual" if simulated else "utc",
        "IN_FLIGHT": "4" if simulated else "1",
    }.items():
        text = text.replace(f"@{mark}@", value)
    return text + "\n".join(_endpoint_text(seed, agent) for seed, agent in enumerate(agents, 1))


def _endpoint_text(seed: int, agent: Agent) -> str:
    local = agent.base_url == "embedded:local"
    options = "slots = 1, threads = 1" if local else f"seed = {seed}"
    model = "SmolLM2-135M-Instruct" if local else f"simulated-{agent.id}"
    own = LOCAL if local else ""
    return f"""\
[[endpoints]]
id = "{agent.id}"
api = "openai.chat"
base_url = "{agent.base_url}"
model = "{model}"
embedded = {{ {options} }}
{own}
[[gates]]
id = "carry.{agent.id}"
statistic = "luck_carry"
over = "all"
where = {{ endpoint = "{agent.id}" }}
at_most = {MARGIN}
decide = "bound"
params = {{ stratum = "unlucky", margin = {MARGIN} }}
"""


def contrasts(analysed: Analysed, endpoint: str) -> Iterator[tuple[str, str, Estimate]]:
    """Yield name, meaning and estimate of each contrast at one endpoint."""
    found = {(e.analysis, e.endpoint, e.scope): e for e in analysed.findings.estimates}
    for statistic, scope, name, meaning in CONTRASTS:
        if (estimate := found.get((statistic, endpoint, scope))) is not None:
            yield name, meaning, estimate


def claims_in_words(estimate: Estimate) -> str:
    """Return which of the three claims an estimate makes; none of them is said to be that."""
    claims = estimate.details.get("claims")
    if estimate.value is None or not isinstance(claims, dict):
        return f"could not be told: {estimate.undefined or 'no bounds'}"
    made = [f"shown to be {name}" for name in ("present", "large", "negligible") if claims[name]]
    bounds = f"[{claims['lower']:+.2f}, {claims['upper']:+.2f}]"
    return f"{estimate.value:+.3f} {bounds}  {', '.join(made) or 'nothing shown'}"


def shares_in_words(analysed: Analysed, endpoint: str) -> str:
    """Return P(worse tool) by arm, how often the same bytes differed, and comprehension."""
    told = {"luck_p": [], "luck_again": [], "luck_comprehension": []}  # type: dict[str, list[str]]
    for e in analysed.findings.estimates:
        if e.analysis in told and e.endpoint == endpoint:
            value = "none" if e.value is None else f"{e.value:.2f}"
            told[e.analysis].append(f"{e.scope.removeprefix('unlucky.')} {value}")
    shares = ", ".join(told["luck_p"])
    again, known = ", ".join(told["luck_again"]), ", ".join(told["luck_comprehension"])
    return f"P(worse): {shares}; same bytes differ: {again}; names the better record: {known}"


def meaning_of(verdict: Verdict, carry: Estimate | None) -> str:
    """Return what an endpoint's CARRY means, by its gate and its claims."""
    claims = carry.details.get("claims") if carry is not None else None
    held = claims if isinstance(claims, dict) else {}
    if held.get("large"):
        return f"carries luck into its next choice, by more than {MARGIN}"
    if held.get("present") and held.get("negligible"):
        return f"carries luck, and by less than {MARGIN}"
    if held.get("present"):
        return f"carries luck; whether by more than {MARGIN} cannot be told from these worlds"
    if held.get("negligible"):
        return f"carries less than {MARGIN}, if anything"
    return f"gate {verdict.outcome.value}: these worlds cannot tell, and that does not make it safe"


def blindness(analysed: Analysed, endpoint: str) -> str:
    """Return a warning where an endpoint's choices cannot be about luck, else nothing."""
    for e in analysed.findings.estimates:
        asked = e.analysis == "luck_comprehension" and e.endpoint == endpoint
        if asked and e.value is not None and e.value < COMPREHENDS:
            return f"; but it names the better record in {e.value:.0%} of the worlds only"
    return ""


def draw(analysed: Analysed) -> list[Path]:
    """Write the plot of the arms into the study's results; returns its files."""
    from judgeaudit.report.luck_arms import arms_figure, save
    from judgeaudit.study.results import RESULTS

    simulated = all(s.is_simulated for s in analysed.frozen.registration.endpoints)
    note = "; SIMULATED endpoints" if simulated else ""
    figure = arms_figure(analysed.findings.estimates, "unlucky", note)
    return save(figure, analysed.frozen.root / RESULTS / "figures" / "arms")


def lines_of(agents: Sequence[Agent], analysed: Analysed, figures: list[Path]) -> Iterator[str]:
    """Yield a study's execution, contrasts by endpoint, and what they mean."""
    from judgeaudit.cli.analyze_study import lines_of as told

    whole = list(told(analysed))
    yield ""
    yield from whole[: whole.index("")]
    yield ""
    yield f"Contrasts of P(worse tool), one-sided 95 % bounds, margin {MARGIN}:"
    for agent in agents:
        yield f"  {agent.id}" + (f" (planted: {agent.planted})" if agent.planted else "")
        for name, meaning, estimate in contrasts(analysed, agent.id):
            yield f"    {name:<14} {claims_in_words(estimate)}  ({meaning})"
        yield f"    {shares_in_words(analysed, agent.id)}"
    yield ""
    yield "What this means:"
    for agent, verdict in zip(agents, analysed.findings.verdicts, strict=True):
        carry = {name: e for name, _, e in contrasts(analysed, agent.id)}.get("CARRY")
        yield f"  {agent.id}: {meaning_of(verdict, carry)}{blindness(analysed, agent.id)}."
    yield "  What is not shown to be large is not shown to be safe."
    yield "  No gate here rests on a pilot: exploratory."
    root = analysed.frozen.root
    yield f"The arms: {', '.join(map(str, figures))}"
    yield f"The study: {root}; `judgeaudit show {root} 0`, `judgeaudit verify {root}`"


def as_document(agents: Sequence[Agent], analysed: Analysed, figures: list[Path]) -> dict[str, Any]:
    """Return a study's findings as JSON, the contrasts by endpoint among them."""
    from judgeaudit.cli.analyze_study import as_document as whole
    from judgeaudit.verdict.verdicts import estimate_to_dict

    told = {
        agent.id: {
            "planted": agent.planted or None,
            "contrasts": {
                name.strip(): estimate_to_dict(e) for name, _, e in contrasts(analysed, agent.id)
            },
        }
        for agent in agents
    }
    root = str(analysed.frozen.root)
    return {
        **whole(analysed),
        "study_folder": root,
        "agents": told,
        "figures": list(map(str, figures)),
    }
