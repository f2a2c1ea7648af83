"""Whether every file of a study is what it was, registration to last reading."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from judgeaudit.collect.past import log_dir
from judgeaudit.design.frozen import FrozenStudy
from judgeaudit.errors import EvidenceError
from judgeaudit.evidence.derive import derive
from judgeaudit.evidence.lock.gate_run import home_of
from judgeaudit.evidence.lock.verify import verify_frozen
from judgeaudit.evidence.log.runs import sealed_folders
from judgeaudit.evidence.log.verify import verify_log
from judgeaudit.study.folders import Folder
from judgeaudit.study.log_facts import stage_findings
from judgeaudit.study.sealed import load


@dataclass(frozen=True, slots=True)
class Verified:
    """What was checked, and every file, row and digest that is not what it should be.

    `calls` is None where the log was not checked, since what it stands on does not hold.
    """

    findings: tuple[str, ...]
    runs: tuple[str, ...] = ()
    calls: int | None = None

    @property
    def ok(self) -> bool:
        """True where everything is what its digest says."""
        return not self.findings


def verify(folder: Folder, *, expected_head: str | None = None) -> Verified:
    """Re-hash and re-derive everything frozen and sealed in a study, or in one of its gate runs.

    `expected_head` is the digest of the last manifest as noted elsewhere: it shows removed last
    runs. Raises `InputError` for a folder that is not frozen.
    """
    root = Path(folder)
    findings = verify_frozen(home_of(root))
    try:
        frozen = load(root)
    except EvidenceError as error:
        told = [] if str(error) in findings else [str(error)]
        return Verified((*findings, *told))
    runs = tuple(place.name for place in sealed_folders(log_dir(root)))
    findings += log_findings(frozen, expected_head)
    findings += [] if findings else stage_findings(frozen)
    return Verified(tuple(findings), runs, len(frozen.plan))


def log_findings(frozen: FrozenStudy, expected_head: str | None = None) -> list[str]:
    """Return what is wrong with a study's log."""
    found = verify_log(
        log_dir(frozen.root),
        frozen.plan,
        str(frozen.lock_digest),
        derive(frozen),
        expected_head=expected_head,
        superseded=frozen.locks,
    )
    return [str(finding) for finding in found]
