"""Registrations of sequential gates and of monitoring: each fault is named with its key."""

import hashlib

import pytest

from judgeaudit.analysis.catalogue import NAMES
from judgeaudit.design.base import read_toml
from judgeaudit.design.check.sequential import sequential_problems
from judgeaudit.design.document import Registration
from judgeaudit.design.plan import block_of
from judgeaudit.design.reasking import registration_findings
from judgeaudit.evidence.lock.gate_run import run_name, run_seed
from judgeaudit.model import Item

SOUND = """
[study]
id = "s"
title = "A study"
authors = ["N. N."]
claim = "verdict"
[[endpoints]]
id = "judge"
api = "openai.chat"
base_url = "embedded:stable"
model = "m"
[schedule]
seed = 1
cap = 1000
repeats = 2
block = 20
windows_per_day = 5
[sequential]
design = "flip_within"
[[gates]]
id = "flips"
statistic = "flip_rate"
over = "same_window"
at_most = 0.10
"""
WATCHED = (
    SOUND.split("[sequential]")[0].replace("block = 20\nwindows_per_day = 5", "days = 30")
    + "[watch]\ncalibration = 19\n"
)


def document(text):
    return Registration.model_validate(read_toml("registration.toml", text.encode()))


def keys(text):
    return [problem.key for problem in sequential_problems(document(text))]


@pytest.mark.parametrize("text", [SOUND, WATCHED])
def test_a_sound_design_has_no_problem(text):
    assert keys(text) == []


@pytest.mark.parametrize(
    ("change", "key"),
    [
        (("block = 20\n", ""), "schedule.block"),
        (("repeats = 2", "repeats = 3"), "schedule.repeats"),
        (("cap = 1000", "cap = 1000\ndays = 2"), "schedule.days"),
        (("cap = 1000", "cap = 1000\nrepeat_share = 0.5"), "schedule.repeat_share"),
        (('"flip_within"', '"flip_within"\nbaseline = "b"'), "sequential.baseline"),
        (('"flip_rate"', '"category_exact"'), "gates[0].statistic"),
        (("at_most = 0.10", "at_least = 0.10"), "gates[0].at_most"),
        (("at_most = 0.10", "at_most = 0"), "gates[0].at_most"),
        (('"same_window"', '"all"'), "gates[0].over"),
        (("at_most = 0.10", 'at_most = 0.10\ndecide = "point"'), "gates[0].decide"),
        (("at_most = 0.10", 'at_most = 0.10\nwhere = { window = "d1w1" }'), "gates[0].where"),
    ],
)
def test_each_fault_of_a_sequential_design_is_named(change, key):
    assert keys(SOUND.replace(*change)) == [key]


def test_a_design_against_a_baseline_needs_the_baseline_and_its_digest():
    text = SOUND.replace("flip_within", "flip_vs_baseline").replace("repeats = 2", "repeats = 1")

    assert keys(text.replace('"same_window"', '"all"')) == [
        "sequential.baseline",
        "sequential.digest",
    ]


@pytest.mark.parametrize(
    ("change", "key"),
    [
        (("calibration = 19", "calibration = 19\nalpha = 0.04"), "watch.alpha"),
        (("days = 30", "days = 30\nwindows_per_day = 2"), "watch.calibration"),
        (("days = 30", "days = 21"), "schedule.days"),
    ],
)
def test_each_fault_of_monitoring_is_named(change, key):
    """19 calibration runs promise no alpha below 1/20, one a day, and a day more to watch."""
    assert keys(WATCHED.replace(*change)) == [key]


def test_blocks_share_no_item_and_the_last_may_be_short():
    items = [Item(f"q{n}", f"q{n}", f"q{n}") for n in range(25)]

    blocks = [[item.id for item in block_of(items, 10, index, 3)] for index in (1, 2, 3)]

    assert [len(block) for block in blocks] == [10, 10, 5]
    assert sorted(name for block in blocks for name in block) == sorted(i.id for i in items)


def test_a_runs_seed_is_that_of_lock_and_key_and_fits_a_file_name():
    """The first 62 bits of SHA-256 of "lock\\nkey"; any text may be a key."""
    expected = int(hashlib.sha256(b"sha256:aa\nkey").hexdigest()[:16], 16) >> 2

    assert run_seed("sha256:aa", "key") == expected
    assert run_seed("sha256:aa", "key2") != expected
    assert run_name("../a b/c", 10) == "a-b-c-000000000000000a"


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (
            ('claim = "verdict"', 'claim = "verdict"\nnotes = "Re-run until it passes."'),
            "study.notes",
        ),
        (("at_most = 0.10", 'at_most = 0.10\nsource = "minimum over attempts"'), "gates flips"),
        (("at_most = 0.10", 'at_most = 0.10\nwhere = { window = "d1w1" }'), "alone decides"),
    ],
)
def test_a_registration_that_asks_until_it_passes_is_found(change, says):
    found = list(registration_findings(document(SOUND.replace(*change)), NAMES))

    assert found
    assert says in found[0]


def test_a_prohibition_of_it_is_no_finding():
    text = SOUND.replace(
        'claim = "verdict"', 'claim = "verdict"\nprohibitions = ["no re-run until it passes"]'
    )

    assert list(registration_findings(document(text), NAMES)) == []
