"""What the demo `retest` means, each sentence made from a verdict and from nothing else."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from judgeaudit.verdict import Verdict


def meaning(found: Sequence[Verdict], simulated: bool) -> Iterator[str]:
    """Yield what the verdicts mean, each sentence made from a verdict and from nothing else."""
    verdicts = {verdict.id: verdict for verdict in found}
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
    if simulated:
        yield "The judge was SIMULATED, its noise under load planted: this shows the tool alone."


def _held(verdict: Verdict) -> str:
    said = {
        "pass": "held",
        "fail": "did not hold",
        "inconclusive": "could not be told",
        "undefined": "could not be measured",
    }
    return said[verdict.outcome.value]
