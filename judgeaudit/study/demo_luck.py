"""The demo `memory-luck`: the study in little, on agents whose effect is known.

`DIR/controls` asks five simulated agents, `DIR/judge` the small local model: two studies, because
a real judge cannot run on the virtual clock. Each is frozen, run in two stages, verified and
analysed as any other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from judgeaudit.battery import items_to_bytes
from judgeaudit.battery.catalogue import build_battery
from judgeaudit.endpoint.local import require_engine
from judgeaudit.study.demo_whole import TEMPLATES, run_whole
from judgeaudit.study.folders import Folder, refuse_existing, write_study
from judgeaudit.study.luck_figures import draw
from judgeaudit.study.progress import Progress, Remark, silent
from judgeaudit.study.results import Analysed

MARGIN = "0.10"


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
WORLDS_CONTROLS, WORLDS_JUDGE = 40, 5


@dataclass(frozen=True, slots=True)
class LuckStudy:
    """One of the demo's studies: who was asked, what was found, the picture of its arms."""

    agents: Sequence[Agent]
    analysed: Analysed
    figures: tuple[Path, ...]

    @property
    def planted(self) -> dict[str, str]:
        """What is planted in each agent, by its name."""
        return {agent.id: agent.planted for agent in self.agents}


def demo_luck(
    folder: Folder, *, simulated: bool = False, progress: Progress = silent
) -> list[LuckStudy]:
    """Make, freeze, run, verify and analyse the demo's studies in `folder`.

    With `simulated` the local model is left out. Raises `InputError` for a folder that holds
    something else.
    """
    if not simulated:
        require_engine()
    root = Path(folder)
    found = [_one_study(root / "controls", AGENTS, WORLDS_CONTROLS, progress)]
    if not simulated:
        found.append(_one_study(root / "judge", JUDGE, WORLDS_JUDGE, progress))
    return found


def _one_study(root: Path, agents: Sequence[Agent], worlds: int, progress: Progress) -> LuckStudy:
    _make(root, agents, worlds, progress)
    analysed = run_whole(root, progress)
    return LuckStudy(agents, analysed, tuple(draw(analysed, png=True)))


def _make(root: Path, agents: Sequence[Agent], worlds: int, progress: Progress) -> None:
    """Write one of the demo's studies; an unfinished one is gone on with.

    Raises `InputError` for a folder that holds something else.
    """
    text = registration_text(root.name, agents)
    registration = root / "registration.toml"
    if registration.is_file() and registration.read_text(encoding="utf-8") == text:
        progress(Remark(f"{root}: going on with the demo that is there"))
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
