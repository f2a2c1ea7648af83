"""Ten kinds of faults in one run: each has its class and its culprit, and no reading moves.

2,000 calls; `JUDGEAUDIT_CALLS=10000` asks for more (nightly).
"""

import os
from collections import Counter

import pytest

from judgeaudit.endpoint.simulated.faults import invalidity, planted_fault
from judgeaudit.endpoint.simulated.judge import Virtual
from judgeaudit.endpoint.simulated.scenarios import scenario
from judgeaudit.evidence.derive import derive
from judgeaudit.evidence.log.load import load_attempts, load_readings
from judgeaudit.evidence.log.verify import verify_log

CALLS = int(os.environ.get("JUDGEAUDIT_CALLS", "2000"))
ITEMS, SEED = 100, 7
SPOILED = "unparsed=0.03,refused=0.03,truncated=0.03,empty=0.03,call.flip=0.1"
FLAKY = "limited=0.03,dropped=0.03,timeout=0.03,cut=0.03,unavailable=0.03,inside=0.03"
CALM, ROUGH = f"stable:{SPOILED}", f"stable:{SPOILED},{FLAKY}"

ON_THE_WAY = {
    "limited": (429, "http_error", "provider", "HTTP 429: rate_limit_exceeded"),
    "unavailable": (503, "http_error", "provider", "HTTP 503: "),
    "inside": (200, "http_error", "provider", "HTTP 200: 429"),
    "dropped": (None, "transport_error", "transport", "ServerDisconnectedError"),
    "cut": (200, "transport_error", "transport", "ClientPayloadError"),
    "timeout": (None, "timeout", "transport", "TimeoutError"),
}
"""Kind -> the attempt's status, outcome, responsibility and how its error begins."""

IN_THE_ANSWER = {
    "unparsed": ("unparsed", "stop"),
    "refused": ("refused", "stop"),
    "truncated": ("truncated", "length"),
    "empty": ("empty", "stop"),
}
"""Kind -> the reading's reason and the finish that the provider told."""


@pytest.fixture
def collected(study, run, make_registration):
    """The attempts and readings of a run of `CALLS` calls at a scenario, verified."""

    def _collected(name):
        schedule = f'clock = "virtual"\nrepeats = {CALLS // ITEMS}'
        text = make_registration(f"embedded:{name}", schedule=schedule)
        frozen = study(text, items=ITEMS, name=name.replace(":", "-").replace(".", "-")[:120])
        summary = run(frozen)
        log = frozen.root / "log"
        assert verify_log(log, frozen.plan, str(frozen.lock_digest), derive(frozen)) == []
        attempts = load_attempts(log).to_pylist()
        planned = [row for row in attempts if row["condition"] != "preflight"]
        return summary.manifest["ledger"]["calls"], planned, load_readings(log).to_pylist()

    return _collected


@pytest.mark.slow
def test_ten_kinds_of_faults_in_one_run(collected):
    """Every planted fault is found as its kind, and nothing else is a fault; the ledger closes with
    one attempt more for each fault on the way; every reading is the calm run's.
    """
    _, calm_attempts, calm = collected(CALM)
    ledger, attempts, readings = collected(ROUGH)

    planted = [kind_of(row) for row in attempts]
    for row, kind in zip(attempts, planted, strict=True):
        status, outcome, whose, said = ON_THE_WAY.get(kind, (200, "ok", None, ""))
        found = row["status"], row["outcome"], row["responsibility"]
        assert found == (status, outcome, whose), kind
        assert (row["error"] or "").startswith(said), row["error"]
    count = Counter(planted)
    assert set(ON_THE_WAY) <= set(count)
    assert ledger["attempts"] == len(attempts) == CALLS + sum(count[name] for name in ON_THE_WAY)
    assert ledger["attempts"] == ledger["response"] + ledger["transport"] + ledger["unresolved"]
    assert ledger["transport"] == sum(count[name] for name in ("dropped", "cut", "timeout"))
    assert ledger["unresolved"] == 0

    finish = {(row["call_id"], row["attempt"]): row["finish_reason"] for row in attempts}
    bodies = {row["call_id"]: row["body_sha256"] for row in attempts}
    spoiled = Counter()
    for row in readings:
        kind = invalidity(scenario(ROUGH), SEED, bodies[row["call_id"]])
        reason, told = IN_THE_ANSWER.get(kind, (None, "stop"))
        assert row["reason"] == reason
        assert finish[row["call_id"], row["attempt"]] == told
        spoiled[kind] += 1
    assert set(IN_THE_ANSWER) <= set(spoiled)

    assert len(calm_attempts) == len(readings) == CALLS
    assert [read(row) for row in readings] == [read(row) for row in calm]


def kind_of(row):
    """Return the fault that the simulated judge planted in an attempt, "" for none."""
    when = Virtual(row["sent_at"].value, row["attempt"], 1)
    fault = planted_fault(scenario(ROUGH), SEED, row["body_sha256"], when)
    return fault.kind if fault else ""


def read(row):
    return row["call_id"], row["status"], row["reason"], row["category"]
