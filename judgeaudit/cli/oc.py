"""The body of `judgeaudit prereg oc`: every gate's operating characteristic, table and curve."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judgeaudit.cli.exits import ExitCode
from judgeaudit.cli.output import document, lines, remark
from judgeaudit.errors import UndefinedEstimate

if TYPE_CHECKING:
    from judgeaudit.study.characteristics import Considered
    from judgeaudit.verdict.oc.gate import Characteristic


def oc(study: Path, draws: int, plot: Path | None, as_json: bool) -> ExitCode:
    """Print the characteristics; 0 if every gate discriminates and is capable, 1 if one does not.

    3 where it cannot be told: no gate, nothing declared, no pilot, a pilot without an interval.
    """
    from judgeaudit.cli.progress import heard
    from judgeaudit.evidence.lock.files import load_study
    from judgeaudit.study.characteristics import consider
    from judgeaudit.study.sound import sound

    draft = load_study(study)
    report = sound(draft)
    found = consider(study, draft, report, draws=draws, progress=heard)
    if not found.found:
        raise UndefinedEstimate(f"{study}: no gate is registered, so there is nothing to tell")
    code = code_of(found)
    written = write_curves(found.found, plot) if plot is not None else []
    if as_json:
        document(as_document(found, code) | {"plots": [str(path) for path in written]})
    else:
        lines(told(found))
        for path in written:
            remark(f"written: {path}")
    return code


def code_of(found: Considered) -> ExitCode:
    """Return what the characteristics answer together."""
    from judgeaudit.verdict.requirement import requirement_problems

    refused = any(not all(one.fires) for one in found.found)
    refused = refused or any(True for _ in requirement_problems(found.registration))
    if refused or any(one.discriminates is False or one.capable is False for one in found.found):
        return ExitCode.NO
    known = all(one.discriminates and one.capable for one in found.found)
    return ExitCode.DONE if known else ExitCode.UNDECIDED


def told(found: Considered) -> Iterator[str]:
    """Yield requirement, table and proposals of every gate."""
    from judgeaudit.study.code_digest import code_digest
    from judgeaudit.verdict.oc.words import chance_lines
    from judgeaudit.verdict.requirement import requirement_of, requirement_problems

    seed = found.registration.schedule.seed
    required = requirement_of(found.registration.study, seed)
    yield from required.lines() if required else ["requirement: no [study.consumer] is named"]
    yield from (f"problem: {problem}" for problem in requirement_problems(found.registration))
    yield from (f"problem: {problem}" for problem in found.pilot_problems or ())
    for one in found.found:
        yield ""
        yield from chance_lines(one)
        yield f"  {_sentence(one)}"
        yield from (f"  instead: {text}" for text in one.proposals)
    yield ""
    yield f"seed {seed}, code {code_digest()}"


def _sentence(one: Characteristic) -> str:
    said = {
        True: "it discriminates: healthy passes >= .9, degraded <= .1",
        False: "it does NOT discriminate (healthy >= .9 and degraded <= .1 are asked)",
        None: "whether it discriminates is not known: declare healthy and degraded, and pilot",
    }
    return said[one.discriminates]


def as_document(found: Considered, code: ExitCode) -> dict[str, Any]:
    """Return the characteristics as JSON values."""
    from judgeaudit.study.code_digest import code_digest
    from judgeaudit.verdict.oc.words import as_json
    from judgeaudit.verdict.requirement import requirement_of, requirement_problems

    seed = found.registration.schedule.seed
    required = requirement_of(found.registration.study, seed)
    return {
        "answer": code.name.lower(),
        "seed": seed,
        "code_digest": code_digest(),
        "requirement": None
        if required is None
        else {
            "decision": required.decision,
            "tolerated": required.tolerated,
            "limits": dict(required.limits),
            "lacking": required.lacking,
        },
        "problems": [str(p) for p in requirement_problems(found.registration)]
        + [str(p) for p in found.pilot_problems or ()],
        "gates": [as_json(one) for one in found.found],
    }


def write_curves(found: tuple[Characteristic, ...], target: Path) -> list[Path]:
    """Write one figure of all gates' curves; the ending of the name says SVG, PNG or PDF."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    drawn = [one for one in found if one.points]
    if not drawn:
        remark("no curve: no gate's precision is known without a pilot")
        return []
    figure, axes = pyplot.subplots(
        len(drawn), 1, figsize=(6.4, 3.2 * len(drawn)), squeeze=False, layout="constrained"
    )
    for one, axis in zip(drawn, axes[:, 0], strict=True):
        _draw(axis, one)
    figure.savefig(target)
    pyplot.close(figure)
    return [target]


def _draw(axis: Any, one: Characteristic) -> None:
    truths = [truth for truth, _ in one.points]
    axis.plot(truths, [c.passes for _, c in one.points], label="pass")
    axis.plot(truths, [c.fails for _, c in one.points], label="fail", linestyle="--")
    axis.plot(truths, [c.inconclusive for _, c in one.points], label="inconclusive", linestyle=":")
    for name, instrument in (("healthy", one.gate.healthy), ("degraded", one.gate.degraded)):
        if instrument is not None:
            axis.axvline(float(instrument.value), color="0.6", linewidth=0.8)
            axis.annotate(name, (float(instrument.value), 0.5), rotation=90, fontsize=8)
    axis.set(xlabel=f"true {one.gate.statistic}", ylabel="chance", ylim=(-0.02, 1.02))
    axis.set_title(f"gate {one.gate.id}")
    axis.legend(fontsize=8)
