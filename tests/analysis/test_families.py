"""Families beyond the first studies, against tables worked by hand and published numbers."""

import dataclasses
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from judgeaudit.analysis.build import Context
from judgeaudit.analysis.catalogue import NAMES, compute
from judgeaudit.analysis.noise.rescue import simulated_medians
from judgeaudit.analysis.question import Question
from judgeaudit.analysis.truth.constructed import EDGES, _cell, bins, name_reading
from judgeaudit.errors import InputError

ALL = Question("all")


def repeats(build, values, **more):
    """`values` {item: (reading, ...)}; one window, one group unless `more` says otherwise."""
    return build.table(
        {"item": item, "repeat": k, "number": value}
        | {name: fill[item] for name, fill in more.items()}
        for item, given in values.items()
        for k, value in enumerate(given)
    )


# Constructed errors (A-S3)


@pytest.mark.parametrize(
    ("judged", "won", "low", "high"),
    [
        (96, 73, 0.6661, 0.8347),
        (556, 440, 0.7556, 0.8231),
        (932, 752, 0.7803, 0.8309),
        (1068, 1053, 0.9770, 0.9915),
        (408, 368, 0.8692, 0.9272),
    ],
)
def test_the_five_published_wilson_intervals_stand_beside_ours(judged, won, low, high):
    """CE's A-S3, four readings of each slip; ours clusters and is wider."""
    rows = pd.DataFrame(
        {
            "item": [f"v{i // 12}" for i in range(judged)],
            "task": [f"t{i // 12}" for i in range(judged)],
            "candidate": [f"c{i // 4}" for i in range(judged)],
            "won": [i < won for i in range(judged)],
        }
    )

    cell = _cell(Context("separation", ALL), rows, "bin")

    assert cell.details["wilson"] == pytest.approx([low, high], abs=5e-5)
    assert cell.high - cell.low > high - low
    assert cell.cluster == "task"


def slips(build, outcomes):
    """`outcomes` {(type, error): (won, ...)}: one variant a slip, one reading an outcome."""
    rows, candidates = [], []
    for number, ((kind, error, copy), wins) in enumerate(outcomes.items()):
        item = f"v{number}"
        candidates += [
            {"item": item, "candidate": "right", "correct": True},
            {
                "item": item,
                "candidate": "slip",
                "correct": False,
                "type": kind,
                "relative_error": error,
            },
        ]
        rows += [
            {
                "item": item,
                "task": f"t{copy}",
                "repeat": k,
                "ranking": ("right", "slip") if won else ("slip", "right"),
            }
            for k, won in enumerate(wins)
        ]
    question = dataclasses.replace(ALL, candidates=pd.DataFrame(candidates))
    return build.table(rows), question


def test_separation_is_counted_by_bin_and_by_type_within_bins(build):
    """Forty slips of each type at .5: carry always seen, sign seen by 10 of 40."""
    outcomes = {("carry", 0.5, c): (True, True) for c in range(40)}
    outcomes |= {("sign", 0.5, c): (c < 10, c < 10) for c in range(40)}
    found, question = slips(build, outcomes)

    by_scope = {e.scope: e for e in compute("separation", found, question)}

    assert by_scope["all"].value == pytest.approx(50 / 80)
    assert by_scope["bin=[0.1,1)"].n["judgments"] == 160
    assert by_scope["type=carry, bin=[0.1,1)"].value == 1
    assert by_scope["type=sign, bin=[0.1,1)"].value == pytest.approx(0.25)
    assert by_scope["all"].details["replay_disagreement"] == "0/80"


def test_replay_disagreement_counts_slips_judged_both_ways(build):
    found, question = slips(
        build, {("carry", 0.5, 0): (True, False), ("carry", 0.5, 1): (True, True)}
    )

    whole = compute("separation", found, question)[0]

    assert whole.details["replay_disagreement"] == "1/2"


def resolved(*states):
    stretches = bins(ALL)
    cells = [dataclasses.replace(_ESTIMATE, low=0.6 if s else 0.4) for s in (False, *states)]
    return name_reading(stretches, cells, 1e-3)[0]


_ESTIMATE = Context("separation", ALL).plain(0.7, "", low=0.6, high=0.8)


def test_the_pattern_of_bins_has_four_frozen_names():
    """The bin below .001 is outside the claim."""
    assert len(bins(ALL)) == len(EDGES) + 1
    assert resolved(True, True, True, True) == "limit_below_smallest_bin_tested"
    assert resolved(False, False, False, False) == "none_resolved"
    assert resolved(False, False, True, True) == "limit_bracketed"
    assert resolved(False, True, False, True) == "not_monotone"


def test_a_detection_limit_is_the_smallest_size_from_which_on_all_reach_95(build):
    """120 slips each at .05 and .5, one task a slip, all seen; at .005 half are missed."""
    outcomes = {("carry", e, c): (True,) for e in (0.05, 0.5) for c in range(120)}
    outcomes |= {("carry", 0.005, c): (c % 2 == 0,) for c in range(120)}
    found, question = slips(build, outcomes)

    (limit,) = compute("detection_limit", found, question)

    assert limit.scope == "type=carry"
    assert limit.value == 0.01


def test_without_constructed_candidates_there_is_no_separation(build):
    (estimate,) = compute("separation", build.rankings([("ab", "ba")]), ALL)

    assert estimate.undefined == "needs candidates with correct, relative_error, type"


# Gaps


def test_delta_is_on_the_gap_not_on_the_scores(build):
    """Both points move by .3 together: the gap of the pair does not move at all."""
    found = repeats(build, {"a": (0.1, 0.4), "b": (0.2, 0.5)}, group={"a": "g", "b": "g"})

    (delta,) = compute("gap_delta", found, Question("same_window"))

    assert delta.value == pytest.approx(0)
    assert delta.n["gaps"] == 1


def test_neighbours_gaps_and_ties_are_told_by_group(build):
    found = repeats(
        build,
        {"a": (0.1,), "b": (0.1,), "c": (0.2,), "d": (0.5,)},
        group={"a": "one", "b": "one", "c": "two", "d": "two"},
    )

    (adjacent,) = compute("gap_adjacent", found, ALL)
    (spread,) = compute("group_range", found, ALL)

    assert adjacent.value == pytest.approx(0.15)
    assert adjacent.details["tied_groups"] == 1
    assert spread.value == pytest.approx(0.15)


def test_mixed_correctness_counts_groups_with_right_and_wrong(build):
    found = repeats(
        build,
        {"a": (0.1,), "b": (0.1,), "c": (0.2,), "d": (0.5,)},
        group={"a": "one", "b": "one", "c": "two", "d": "two"},
        correct={"a": True, "b": False, "c": True, "d": True},
    )

    (mixed,) = compute("mixed_correctness", found, ALL)

    assert mixed.exact == Fraction(1, 2)
    assert mixed.details["share_correct"] == 0.75


# Sampling, sizing


def test_more_draws_rescue_no_order_that_does_not_exist(build):
    """All four points of each of 25 tasks have r = .5: nothing passes, for any M."""
    found = build.table(
        {"item": f"t{t}c{c}", "group": f"t{t}", "task": f"t{t}", "number": 0.5}
        for t in range(25)
        for c in range(4)
    )

    estimates = compute("sampling_rescue", found, Question("all", params={"repeats": 100}))

    assert [e.scope for e in estimates] == [f"draws={m}" for m in (8, 16, 32, 64, 100, 200, 500)]
    assert [e.value for e in estimates] == [0] * 7
    assert [round(e.details["se_at_half"], 3) for e in estimates] == [
        0.157, 0.118, 0.086, 0.062, 0.050, 0.035, 0.022,
    ]  # fmt: skip


def test_an_order_that_exists_is_found_by_enough_draws(rng):
    """p of .1, .4, .6, .9 differ by far more than the sampling error of 500 draws."""
    groups = [np.array([0.1, 0.4, 0.6, 0.9])] * 9

    assert (simulated_medians(groups, 500, 50, rng) >= 0.9).all()


def test_aggregation_is_sized_on_the_pilots_own_spectrum(build):
    found = build.rankings([("abcd", "abcd")] * 6 + [("abcd", "abdc")] * 4)
    question = Question("next_day", params={"k": [1, 5]}, seed=3)

    one, five = compute("aggregation_agreement", found, question)

    assert one.details["pilot_exact"] == 0.6
    assert (one.unit, five.unit) == ("single", "borda of 5")
    assert five.value > one.value
    assert "coin split" in one.details["surrogate"]


# Providers, identity, funnel


def two_windows(build, endpoints, **more):
    return build.table(
        {"item": f"i{i}", "endpoint": e, "window": w, "category": c} | fill
        for e, given in endpoints.items()
        for w, answers, fill in zip(("w1", "w2"), given, more.get("fills", ({}, {})), strict=True)
        for i, c in enumerate(answers)
    )


def test_the_platform_reading_needs_every_provider_below(build):
    """Agreement of two windows .8 and .9: the greatest is .9, below .95."""
    same = "A" * 10
    found = two_windows(build, {"one": (same, "BB" + same[2:]), "two": (same, "B" + same[1:])})

    (estimate,) = compute("max_same_day_median", found, ALL)

    assert estimate.exact == Fraction(9, 10)
    assert estimate.details["reading"] == "platform_class"
    assert estimate.details["same_day_medians"] == {"one": 0.8, "two": 0.9}


def test_a_provider_with_few_valid_readings_leaves_the_reading_undefined(build):
    same = "A" * 10
    found = two_windows(build, {"one": (same, same), "two": ([None] * 3 + ["A"] * 7, same)})

    (estimate,) = compute("max_same_day_median", found, ALL)

    assert estimate.undefined == "valid rate below 0.95 at two"


def test_fingerprints_are_compared_within_probe_and_lag(build):
    """Four windows, fingerprints x x y y. At lag 1: xx and yy agree always, xy never."""
    rows = [
        {
            "item": f"i{i}",
            "window": f"w{w}",
            "category": "A" if w < 2 else "B",
            "fingerprint": "x" if w < 2 else "y",
        }
        for i in range(12)
        for w in range(4)
    ]

    (estimate,) = compute("fingerprint_difference", build.table(rows), ALL)

    assert estimate.value == 1
    assert estimate.details["same_fingerprint"] == 1
    assert estimate.details["different_fingerprint"] == 0
    assert estimate.n["strata"] == 12


@pytest.mark.parametrize(
    ("values", "status"),
    [
        ((None, None, None), "absent"),
        (("x", "x", "x"), "stable"),
        (("x", "y", "x"), "churning"),
        (("x", "x", "y"), "changing"),
    ],
)
def test_a_fingerprints_status_is_what_was_recorded(build, values, status):
    """Two readings on day 1, one on day 2."""
    rows = [
        {"item": "i", "day": day, "window": f"w{k}", "category": "A", "fingerprint": value}
        for k, (day, value) in enumerate(zip((1, 1, 2), values, strict=True))
    ]

    (estimate,) = compute("fingerprints", build.table(rows), ALL)

    assert estimate.details["status"] == status


def test_the_funnel_tells_coverage_from_conversion(build):
    """Ten planned, nine answered, six read, three right."""
    rows = [{"item": "lost", "reason": "no_reply", "gold": "A"}]
    rows += [{"item": f"u{k}", "reason": "unparsed", "gold": "A"} for k in range(3)]
    rows += [{"item": f"r{k}", "category": "AB"[k % 2], "gold": "A"} for k in range(6)]

    stages = compute("funnel", build.table(rows), ALL)

    assert [(e.scope, e.exact) for e in stages] == [
        ("stage=answered", Fraction(9, 10)),
        ("stage=read", Fraction(6, 9)),
        ("stage=right", Fraction(3, 6)),
    ]
    assert stages[1].details["of_all"] == 0.6


# Consumers, components


def test_best_of_n_and_advantages_are_taken_within_groups(build):
    """Group one always picks b; group two picks c, then d: 1 of 2 changes."""
    found = repeats(
        build,
        {"a": (1, 1), "b": (2, 2), "c": (2, 1), "d": (1, 2)},
        group={"a": "one", "b": "one", "c": "two", "d": "two"},
    )

    (estimate,) = compute("best_of_n_change", found, ALL)

    assert estimate.value == 0.5
    assert estimate.details["candidates"] == 2


def test_the_sign_of_an_advantage_flips_by_the_arc_cosine_of_the_reliability(build, rng):
    """arccos(rho)/pi at the reliability that `shrinkage_weight` gives, whatever the group means."""
    signal = rng.normal(0, 1, 80)
    scores = {f"i{k}": tuple(signal[k] + rng.normal(0, 0.6, 2) + 10 * (k // 4)) for k in range(80)}
    found = repeats(build, scores, group={f"i{k}": f"g{k // 4}" for k in range(80)})

    (weight,) = compute("shrinkage_weight", found, ALL)
    (flip,) = compute("advantage_sign_flip", found, ALL)

    assert flip.value == pytest.approx(np.arccos(weight.value) / np.pi)
    assert flip.low < flip.value < flip.high
    assert weight.low < 1 / 1.36 < weight.high


def test_a_pass_mark_flips_items_near_it(build):
    """a passes once of two (flips), b always, c never."""
    found = repeats(build, {"a": (2, 4), "b": (5, 5), "c": (1, 1)})

    (estimate,) = compute("pass_fail_flip", found, Question("all", params={"mark": 3}))

    assert estimate.value == pytest.approx(1 / 3)


def test_a_leaderboard_changes_its_leader_as_often_as_two_passes_say(build):
    """Two systems on 2 tasks, readings swap the leader: each pass takes another reading."""
    values = {"a1": (2.0, 1.0), "a2": (2.0, 1.0), "b1": (1.0, 2.0), "b2": (1.0, 2.0)}
    found = repeats(
        build,
        values,
        task={"a1": "t1", "a2": "t2", "b1": "t1", "b2": "t2"},
        system={"a1": "A", "a2": "A", "b1": "B", "b2": "B"},
    )

    (estimate,) = compute("leaderboard_top_change", found, ALL)

    assert 0.5 < estimate.value <= 1
    assert estimate.n["systems"] == 2


def test_components_of_items_windows_and_repeats(build, rng):
    """Variances 1, .1 (item by window), .3: recovered within their 99.9 % intervals."""
    rows = []
    for i in range(150):
        item = rng.normal(0, 1)
        for w in range(5):
            crossed = item + rng.normal(0, np.sqrt(0.1))
            rows += [
                {"item": f"i{i}", "window": f"w{w}", "repeat": k, "number": value}
                for k, value in enumerate(crossed + rng.normal(0, np.sqrt(0.3), 2))
            ]
    found = build.table(rows)

    by_scope = {e.scope: e for e in compute("component", found, Question("all", level=0.999))}
    designs = compute("design_reliability", found, Question("all", params={"calls": 4}))

    for name, truth in (("items", 1), ("items_by_window", 0.1), ("repeats", 0.3)):
        assert by_scope[f"component={name}"].low < truth < by_scope[f"component={name}"].high
    assert designs[0].scope == "windows=4, repeats=1"


def test_two_windows_flag_the_windows_own_variance(build, rng):
    rows = [
        {"item": f"i{i}", "window": f"w{w}", "repeat": k, "number": rng.normal()}
        for i in range(20)
        for w in range(2)
        for k in range(2)
    ]

    by_scope = {e.scope: e for e in compute("component", build.table(rows), ALL)}

    assert "fewer than 5 windows: not estimable" in by_scope["component=windows"].caveats


# The catalogue


def test_an_unknown_name_lists_those_that_are_known(build):
    with pytest.raises(InputError, match="no such statistic; one of ac1, "):
        compute("nope", build.verdicts(q="AA"), ALL)


@pytest.mark.parametrize("name", sorted(n for n in NAMES if not n.startswith("luck_")))
@pytest.mark.parametrize("readings", ["valid", "invalid", "single", "constant"])
def test_every_family_says_something_of_hard_input(build, name, readings):
    """Never a traceback, never nan: a value, or the reason why there is none."""
    fills = {
        "valid": lambda i, k: {"category": "AB"[(i + k) % 2], "number": 0.1 * ((i + k) % 9)},
        "invalid": lambda i, k: {"reason": "unparsed"},
        "single": lambda i, k: {"category": "A", "number": 0.5} if k == 0 else {},
        "constant": lambda i, k: {"category": "A", "number": 0.5},
    }
    found = build.table(
        {"item": f"i{i}", "group": f"g{i // 2}", "task": f"g{i // 2}", "window": f"w{k}"}
        | fills[readings](i, k)
        for i in range(12)
        for k in range(3)
    )

    question = Question(NAMES[name].over[0], params={"delta": 0.05})
    for estimate in compute(name, found, question):
        assert (estimate.value is None) == bool(estimate.undefined)
        numbers = [estimate.value, estimate.low, estimate.high]
        assert all(v is None or np.isfinite(v) for v in numbers)
