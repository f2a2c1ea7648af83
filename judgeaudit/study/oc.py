"""How often each gate would pass, fail or be unable to tell: before anything is frozen on it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from judgeaudit.evidence.lock.sources import load_study
from judgeaudit.study.characteristics import DRAWS, Considered, consider
from judgeaudit.study.code_digest import code_digest
from judgeaudit.study.folders import Folder
from judgeaudit.study.progress import Progress, silent
from judgeaudit.study.sound import sound
from judgeaudit.verdict.oc.words import as_json


def oc(folder: Folder, *, draws: int = DRAWS, progress: Progress = silent) -> Considered:
    """Return the operating characteristic of every gate registered in `folder`.

    `draws` counts resamples of the pilot for each gate. `answer` of what is returned says whether
    every gate discriminates and the judge is capable of it. Raises `RegistrationError` for a
    registration with problems, `UndefinedEstimate` without a gate.
    """
    root = Path(folder)
    draft = load_study(root)
    found = consider(root, draft, sound(draft), draws=draws, progress=progress)
    return found.whole(root, "nothing to tell")


def oc_document(found: Considered) -> dict[str, Any]:
    """Return characteristics as JSON values."""
    required = found.requirement
    return {
        "answer": {True: "done", False: "no", None: "undecided"}[found.answer],
        "seed": found.registration.schedule.seed,
        "code_digest": code_digest(),
        "requirement": None
        if required is None
        else {
            "decision": required.decision,
            "tolerated": required.tolerated,
            "limits": dict(required.limits),
            "lacking": required.lacking,
        },
        "problems": [str(problem) for problem in found.problems],
        "gates": [as_json(one) for one in found.found],
    }
