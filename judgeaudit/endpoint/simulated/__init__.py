"""The simulated judge: planted truth over real HTTP shapes, a pure function of seed and request."""

from judgeaudit.endpoint.simulated.draws import latent, quality
from judgeaudit.endpoint.simulated.judge import Virtual
from judgeaudit.endpoint.simulated.reply import SimReply, reply
from judgeaudit.endpoint.simulated.scenarios import SCENARIOS, Scenario, scenario

__all__ = ["SCENARIOS", "Scenario", "SimReply", "Virtual", "latent", "quality", "reply", "scenario"]
