"""The stop rule of a sequential gate, on tables: who counts, in which order, and when it ends."""

import numpy as np
import pandas as pd
import pytest

from judgeaudit.design.base import read_toml
from judgeaudit.design.document import Registration
from judgeaudit.readings.table import checked
from judgeaudit.stats.sequential import stop_flip_gates
from judgeaudit.verdict.flips import drawn, within
from judgeaudit.verdict.stopping import decided, progress, sequence_bounds, verdicts_of
from judgeaudit.verdict.verdicts import Outcome


def registration(design="flip_within", threshold="at_most = 0.1", statistic="flip_rate", more=""):
    text = f"""
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
design = "{design}"
{more}
[[gates]]
id = "g"
statistic = "{statistic}"
over = "same_window"
{threshold}
"""
    return Registration.model_validate(read_toml("registration.toml", text.encode()))


def verdicts(flips):
    """Two readings an item: equal for 0, unlike for 1, the second invalid for NaN."""
    rows = [
        {
            "endpoint": "judge",
            "item": f"q{n}",
            "repeat": k,
            "category": None if k and np.isnan(flip) else ["a", "b"][int(bool(k and flip == 1))],
            "status": "invalid" if k and np.isnan(flip) else "ok",
            "reason": "unparsed" if k and np.isnan(flip) else None,
        }
        for n, flip in enumerate(flips)
        for k in range(2)
    ]
    return checked(pd.DataFrame(rows))


def scores(rng, n, noise):
    truth = rng.normal(size=n)
    values = truth[:, None] + rng.normal(0, noise, size=(n, 2))
    rows = [
        {"endpoint": "judge", "item": f"q{i}", "repeat": k, "number": values[i, k], "status": "ok"}
        for i in range(n)
        for k in range(2)
    ]
    return checked(pd.DataFrame(rows))


def one(found):
    [only] = found
    return only


@pytest.mark.parametrize("rate", [0.0, 0.05, 0.2, 0.3])
def test_it_stops_where_the_measured_gate_stops(rng, rate):
    """The same items and outcomes as `stop_flip_gates`, whose error rates the benchmark shows."""
    flips = (rng.random((12, 100)) < rate).astype(float)
    flips[rng.random(flips.shape) < 0.03] = np.nan
    stops = stop_flip_gates(flips, 0.1)

    found = [one(progress(registration(), verdicts(row), 100)) for row in flips]

    names = {1: Outcome.PASS, -1: Outcome.FAIL, 0: Outcome.INCONCLUSIVE}
    assert [f.outcome for f in found] == [names[code] for code in stops.outcome.tolist()]
    assert [f.items for f in found] == stops.items.tolist()
    assert all(f.done for f in found)


def test_before_the_cap_an_open_gate_goes_on_and_at_the_cap_it_is_inconclusive(rng):
    flips = (rng.random(40) < 0.1).astype(float)

    going, ended = (progress(registration(), verdicts(flips), cap) for cap in (100, 40))

    assert not decided(going)
    assert decided(ended)
    assert one(ended).outcome is Outcome.INCONCLUSIVE


def test_items_count_in_the_order_in_which_they_were_asked():
    """Flips first: three in a row fail at .10; at the end of 43 quiet ones they come too late."""
    quiet, flips = np.zeros(43), np.ones(3)

    first = one(progress(registration(), verdicts(np.append(flips, quiet)), 46))
    last = one(progress(registration(), verdicts(np.append(quiet, flips)), 46))

    assert (first.outcome, first.items) == (Outcome.FAIL, 2)
    assert (last.outcome, last.items) == (Outcome.PASS, 43)


def test_only_silence_is_undefined():
    found = one(progress(registration(), verdicts(np.full(50, np.nan)), 50))

    assert found.outcome is Outcome.UNDEFINED
    assert one(verdicts_of([found], False)).outcome is Outcome.UNDEFINED


def test_no_gate_at_all_is_not_decided():
    assert not decided([])


def test_one_reading_of_an_item_is_no_flip_and_no_repeat():
    table = verdicts([0, 1])

    assert within(table[table["repeat"].eq(0)]) == [None, None]


def test_the_bounds_are_valid_at_every_look_and_agree_with_the_decision():
    """43 items without a flip pass at .10 (42 do not), so the upper bound is .10 there."""
    assert sequence_bounds(0, 42, 0, 0.05)[1] > 0.1 >= sequence_bounds(0, 43, 0, 0.05)[1]
    assert sequence_bounds(0, 43, 5, 0.05)[1] > sequence_bounds(0, 43, 0, 0.05)[1]
    assert sequence_bounds(10, 20, 0, 0.05)[0] > 0.1


def test_a_baselines_reply_is_drawn_evenly_and_anew_by_each_run():
    """Of five stored replies one differs; runs draw it in a fifth of the cases."""
    replies = ["a", "a", "a", "a", "b"]

    found = [drawn(replies, seed, "q1") for seed in range(2000)]

    assert np.mean([reply == "b" for reply in found]) == pytest.approx(0.2, abs=0.036)  # 4 SE
    assert drawn(replies, 7, "q1") == drawn(replies, 7, "q1")
    assert drawn([], 7, "q1") is None


@pytest.mark.parametrize(("noise", "outcome"), [(0.05, Outcome.PASS), (2.0, Outcome.FAIL)])
def test_spearman_is_decided_at_a_planned_look(rng, noise, outcome):
    looked = registration("spearman_looks", "at_least = 0.8", "spearman")

    found = one(progress(looked, scores(rng, 100, noise), 100))

    assert found.outcome is outcome
    assert found.items in (40, 60, 80, 100)


def test_before_the_first_look_spearman_decides_nothing(rng):
    looked = registration("spearman_looks", "at_least = 0.8", "spearman")

    assert not decided(progress(looked, scores(rng, 39, 0.05), 100))


def test_an_order_that_is_repeated_exactly_has_no_standard_error_and_no_verdict(rng):
    looked = registration("spearman_looks", "at_least = 0.8", "spearman")

    found = one(progress(looked, scores(rng, 100, 0.0), 100))

    assert (found.outcome, found.done) == (Outcome.INCONCLUSIVE, True)
