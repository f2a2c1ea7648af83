"""Asking in sealed blocks: a block, its seal, the pure stop rule, the next block.

Whoever asks sees no estimate inside a block; the rule reads sealed readings alone. Once it stops,
the blocks that were not asked are sealed as `stopped_by_rule`.
"""

from __future__ import annotations

from judgeaudit.collect.closing import close_unasked
from judgeaudit.collect.status import unsealed
from judgeaudit.design.frozen import FrozenStudy
from judgeaudit.evidence.derive import derive
from judgeaudit.study.progress import Progress, silent
from judgeaudit.study.standing import baseline_of, standing
from judgeaudit.study.windows import Windows, clock_of
from judgeaudit.verdict.stopping import decided


def ask_in_blocks(study: FrozenStudy, progress: Progress = silent) -> None:
    """Ask block by block until the rule stops or the plan ends; close what is left."""
    baseline = baseline_of(study)
    if not decided(standing(study, baseline)):
        for _ in Windows(study.root, study, progress).each():
            if decided(standing(study, baseline)):
                break
    if decided(standing(study, baseline)):
        _close(study)


def _close(study: FrozenStudy) -> None:
    clock = clock_of(study)
    for window in unsealed(study):
        close_unasked(study, window.id, clock=clock, derive=derive(study))
