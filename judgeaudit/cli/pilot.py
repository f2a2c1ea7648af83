"""`judgeaudit pilot`: measure the instrument before anything is frozen on it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from judgeaudit.cli.exits import ExitCode, exits
from judgeaudit.cli.output import AsJson, StudyPath, document, lines, remark

if TYPE_CHECKING:
    from judgeaudit.study.characteristics import Considered


@exits
def pilot(
    study: StudyPath,
    precision: Annotated[
        float, typer.Option(min=0.01, max=0.5, help="Relative error of the noise that is wanted.")
    ] = 0.1,
    items: Annotated[
        int | None, typer.Option(min=2, help="Ask so many items, whatever the precision.")
    ] = None,
    wait: Annotated[
        bool, typer.Option("--wait", help="Wait for windows that are due later.")
    ] = False,
    as_json: AsJson = False,
) -> ExitCode:
    """Make, run and seal a study's pilot, a study of its own, and say what the judge is capable of.

    It holds the facets of every gate: three repeats in two windows, or five windows and more over
    two days. Windows that are not due yet exit 3 with the earliest time; the same command goes on.
    Its digest then goes into [pilot]. Example: judgeaudit pilot my-study
    """
    from judgeaudit.canonical import file_digest
    from judgeaudit.cli.progress import shown
    from judgeaudit.design.pilot import design, same_pilot
    from judgeaudit.evidence.lock.files import load_study
    from judgeaudit.study.characteristics import consider
    from judgeaudit.study.pilot_study import make_pilot, pilot_folder, plan_calls, run_pilot
    from judgeaudit.study.pilot_study import write_record as record
    from judgeaudit.study.sound import statistics

    draft = without_pilot(load_study(study))
    report = _sound(draft)
    inputs = draft.whole()
    ref = inputs.registration.pilot
    folder = pilot_folder(study, same_pilot(ref))
    planned = plan_calls(inputs)
    found = design(
        inputs.registration,
        inputs.items,
        planned,
        statistics(),
        precision=precision,
        most_items=items,
    )
    with shown() as progress:
        make_pilot(study, folder, found, progress)
        run_pilot(folder, wait=wait, progress=progress)
    path, written = record(study, folder)
    digest = str(file_digest(path))
    considered = consider(study, draft, report, quick=True)
    if as_json:
        document(written | {"digest": digest, "gates": _gates(considered)})
    else:
        lines(told(written, considered, digest, same_pilot(ref)))
        remark(f"written: {path}")
    return ExitCode.DONE


def without_pilot(draft: Any) -> Any:
    """Return a draft as if no pilot were registered: one is being made."""
    from dataclasses import replace

    problems = tuple(p for p in draft.problems if not p.key.startswith("pilot"))
    sources = {role: source for role, source in draft.sources.items() if role != "pilot"}
    return replace(draft, problems=problems, sources=sources)


def _sound(draft: Any) -> Any:
    from judgeaudit.study.sound import sound

    return sound(draft)


def _gates(considered: Considered) -> list[dict[str, Any]]:
    from judgeaudit.verdict.oc.words import as_json

    return [as_json(one) for one in considered.found]


def told(
    written: Mapping[str, Any], considered: Considered, digest: str, folder: str
) -> Iterator[str]:
    """Yield the pilot's report, what it means for every gate, and what to write next."""
    from judgeaudit.verdict.oc.pilot import lines as report_lines
    from judgeaudit.verdict.oc.words import chance_lines

    share = f"{written['share_of_plan']:.0%} of the study's {written['plan_calls']}"
    yield f"pilot {written['study']}: {written['calls']} calls, {share}; none enters its counts"
    yield from report_lines(written["report"])
    for one in considered.found:
        yield ""
        yield from chance_lines(one)
    yield ""
    yield "To let the gates rest on it, write into registration.toml:"
    yield "[pilot]"
    yield f'digest = "{digest}"'
    if folder != "pilot":
        yield f'study = "{folder}"'
