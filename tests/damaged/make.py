"""Make the damaged specimens: one folder a defect, from one small synthetic log.

    python tests/damaged/make.py [FOLDER]      default: the folder of this script

Each specimen is a sound log with one thing done to it, by hand and not by the tools that made it.
`SPECIMENS` names what verification has to find in it: to add one, add a function and a line there.
Digests of Parquet files depend on the writer's version, findings do not: tests verify the
specimens in this folder and ones made anew.
"""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from judgeaudit.canonical import digest, digest_of
from judgeaudit.evidence.log.records import Opening, Reservation
from judgeaudit.evidence.log.runs import start
from judgeaudit.evidence.log.schema import ATTEMPTS
from judgeaudit.evidence.log.seal import seal_run
from judgeaudit.model import Attempt, Invalid, Outcome, PlannedCall, Reading, Reason, Value

LOCK = digest(b"the lock of a synthetic study")
WINDOWS = ("d1w1", "d1w2", "d1w3")
HOUR = 3_600_000_000_000
START = 1_796_000_000_000_000_000  # nanoseconds: a day in November 2026


def plan(
    items: int = 3, windows: tuple[str, ...] = WINDOWS, endpoints: tuple[str, ...] = ("a", "b")
) -> list[PlannedCall]:
    """Return a plan: every item at every endpoint in every window, endpoints alternating."""
    calls: list[PlannedCall] = []
    for day, window in enumerate(windows, 1):
        for item in range(items):
            for endpoint in endpoints:
                name = f"q{item}"
                calls.append(
                    PlannedCall(
                        plan_index=len(calls),
                        call_id=f"{endpoint}-{window}-{name}",
                        stage=1,
                        endpoint=endpoint,
                        item=name,
                        group=name,
                        task=name,
                        arm="-",
                        condition="quiet",
                        day=day,
                        window=window,
                        repeat=0,
                        draw=0,
                        body_sha256=digest_of({"judge": name}),
                    )
                )
    return calls


def calls_in(window: str, calls: list[PlannedCall]) -> list[PlannedCall]:
    return [call for call in calls if call.window == window]


def opening(window: str, **changes: object) -> Opening:
    values: dict[str, object] = {
        "run": window,
        "window": window,
        "stage": 1,
        "lock_digest": LOCK,
        "previous_manifest": None,
        "tool_version": "0.1.0",
        "host": "specimen",
        "pid": 1,
        "clock": "virtual",
        "opened_at": START,
    }
    return Opening(**{**values, **changes})  # type: ignore[arg-type]


def reservation(call: PlannedCall, attempt: int = 1, at: int = START) -> Reservation:
    body = str(call.body_sha256)
    return Reservation.of(
        call, attempt=attempt, body_sha256=body, canonical_sha256=body, reserved_at=at
    )


def attempt(
    call: PlannedCall, number: int = 1, at: int = START, score: object = 7, **changes: object
) -> Attempt:
    """Return an answered attempt whose body is `{"score": score}`."""
    body = json.dumps({"score": score}).encode()
    values: dict[str, object] = {
        "call_id": call.call_id,
        "attempt": number,
        "endpoint": call.endpoint,
        "condition": call.condition,
        "window": call.window,
        "repeat": call.repeat,
        "body_sha256": call.body_sha256,
        "canonical_sha256": call.body_sha256,
        "reserved_at": at,
        "sent_at": at + 1_000,
        "received_at": at + 2_000_000,
        "ttfb_ms": 1.5,
        "elapsed_ms": 2.0,
        "in_flight": 1,
        "status": 200,
        "outcome": Outcome.OK,
        "response_body": body,
        "response_headers": {"content-type": "application/json", "x-request-id": "r1"},
        "model_returned": "synthetic",
        "prompt_tokens": 11,
    }
    return Attempt(**{**values, **changes})  # type: ignore[arg-type]


def derive(attempts: list[Attempt], call: PlannedCall) -> Reading:
    """Return the score of the first answered attempt; a stand-in for the readouts."""
    for made in attempts:
        if made.outcome is Outcome.OK and made.response_body is not None:
            score = json.loads(made.response_body)["score"]
            if isinstance(score, int | float):
                return Reading(call, Value(number=score, label=str(score)), made.attempt)
            return Reading(call, Invalid(Reason.UNPARSED, str(score)), made.attempt)
    unresolved = attempts[-1].outcome is Outcome.UNRESOLVED
    return Reading(call, Invalid(Reason.UNRESOLVED if unresolved else Reason.NO_REPLY))


def collect(log: Path, window: str, calls: list[PlannedCall]) -> None:
    """Run one window against no network and seal it. One call is retried, one left unread."""
    at = START + WINDOWS.index(window) * 2 * HOUR
    mine = calls_in(window, calls)
    with start(log, opening(window, opened_at=at), mine) as journal:
        for index, call in enumerate(mine):
            at += 1_000_000_000
            journal.reserve_blocking(reservation(call, 1, at))
            if index == 1:
                journal.outcome(
                    attempt(
                        call, 1, at, outcome=Outcome.HTTP_ERROR, status=503, response_body=b"busy"
                    )
                )
                journal.reserve_blocking(reservation(call, 2, at + 1))
                journal.outcome(attempt(call, 2, at + 1, index))
            else:
                journal.outcome(attempt(call, 1, at, "many" if index == 2 else index))
        journal.seal(at + 1_000_000_000)
    seal_run(log, window, mine, LOCK, derive)


def sound(log: Path, windows: tuple[str, ...] = WINDOWS) -> None:
    """Collect and seal the windows one after the other."""
    for window in windows:
        collect(log, window, plan())


def rewrite(path: Path, change: Callable[[pa.Table], pa.Table]) -> None:
    """Write a part again with other rows, as somebody with a Parquet library would."""
    table = pq.read_table(path)
    path.chmod(0o644)
    pq.write_table(change(table), path)
    path.chmod(0o444)


def overwrite(path: Path, data: bytes) -> None:
    path.chmod(0o644)
    path.write_bytes(data)
    path.chmod(0o444)


def altered_byte(log: Path) -> None:
    """Flip one bit of a response body where it stands in the file: `busy` becomes `cusy`."""
    path = log / "sealed" / "d1w2" / ATTEMPTS
    data = bytearray(path.read_bytes())
    data[data.index(b"busy")] ^= 1
    overwrite(path, bytes(data))


def altered_value(log: Path) -> None:
    """Change one reading's number from 4 to 5 and leave everything else."""

    def change(table: pa.Table) -> pa.Table:
        column = table.schema.get_field_index("number")
        numbers = [5.0 if n == 4.0 else n for n in table.column(column).to_pylist()]
        return table.set_column(column, table.schema.field(column), pa.array(numbers))

    rewrite(log / "sealed" / "d1w2" / "readings.parquet", change)


def dropped_row(log: Path) -> None:
    """Leave out the fourth of seven attempts."""
    rewrite(
        log / "sealed" / "d1w2" / ATTEMPTS, lambda t: pa.concat_tables([t.slice(0, 3), t.slice(4)])
    )


def reordered_rows(log: Path) -> None:
    """Exchange the second and third reading."""
    rewrite(log / "sealed" / "d1w2" / "readings.parquet", lambda t: t.take([0, 2, 1, 3, 4, 5]))


def swapped_part(log: Path) -> None:
    """Exchange the attempts of two runs."""
    one, two = log / "sealed" / "d1w1" / ATTEMPTS, log / "sealed" / "d1w2" / ATTEMPTS
    first, second = one.read_bytes(), two.read_bytes()
    overwrite(one, second)
    overwrite(two, first)


def missing_run(log: Path) -> None:
    """Remove the run in the middle with its journal."""
    shutil.rmtree(log / "sealed" / "d1w2")
    (log / "journal" / "d1w2.jsonl").unlink()


def edited_manifest(log: Path) -> None:
    """Write one response fewer and one unresolved more into a ledger."""
    path = log / "sealed" / "d1w2" / "manifest.json"
    manifest = json.loads(path.read_bytes())
    manifest["ledger"]["calls"]["response"] -= 1
    manifest["ledger"]["calls"]["unresolved"] += 1
    text = json.dumps(manifest, sort_keys=True, separators=(",", ":"))
    overwrite(path, text.encode() + b"\n")


def altered_journal(log: Path) -> None:
    """Change a status in the journal from 503 to 500."""
    path = log / "journal" / "d1w1.jsonl"
    path.write_bytes(path.read_bytes().replace(b'"status":503', b'"status":500', 1))


SPECIMENS: dict[str, tuple[Callable[[Path], None], str | None]] = {
    "sound": (lambda log: None, None),
    "altered-byte": (altered_byte, "altered_row"),
    "altered-value": (altered_value, "altered_row"),
    "dropped-row": (dropped_row, "dropped_row"),
    "reordered-rows": (reordered_rows, "reordered_rows"),
    "swapped-part": (swapped_part, "swapped_part"),
    "missing-run": (missing_run, "missing_run"),
    "edited-manifest": (edited_manifest, "edited_manifest"),
    "altered-journal": (altered_journal, "journal_broken"),
}
"""Name of the specimen: what is done to a sound log, and the defect to be found."""


def make(folder: Path, name: str) -> Path:
    """Make one specimen anew and return its log."""
    log = folder / name / "log"
    if log.parent.exists():
        shutil.rmtree(log.parent)
    sound(log, WINDOWS if name == "missing-run" else WINDOWS[:2])
    SPECIMENS[name][0](log)
    return log


if __name__ == "__main__":
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent
    for specimen in SPECIMENS:
        print(make(target, specimen))
