"""A demo's study from files to verdict: the steps of any study, one after the other."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from judgeaudit.errors import EvidenceError
from judgeaudit.evidence.lock import files
from judgeaudit.evidence.lock.environment import facts
from judgeaudit.study.analyze import analyze
from judgeaudit.study.progress import Progress, Remark, silent
from judgeaudit.study.results import Analysed
from judgeaudit.study.run import run
from judgeaudit.study.sound import sound
from judgeaudit.study.verify import verify

TEMPLATES = Path(__file__).parent / "demos"


def run_whole(root: Path, progress: Progress = silent) -> Analysed:
    """Freeze, run every window, verify, analyse; raises `EvidenceError` for a log that changed."""
    sound(files.load_study(root))  # a demo's gates rest on no pilot: frozen without the weighing
    lock, _ = files.freeze(root, facts(root, datetime.now(UTC)))
    calls = lock.document["content"]["plan"]["rows"]
    progress(Remark(f"frozen: {calls} calls, lock {lock.digest}"))
    run(root, everything=True, progress=progress)
    if found := verify(root).findings:
        raise EvidenceError(found[0])
    progress(Remark("verified: every frozen and sealed byte is what its digest says"))
    return analyze(root)
