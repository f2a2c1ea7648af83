"""Memory luck against a small table worked by hand (`luck_small.csv`).

Three endpoints, twelve worlds, one call a cell; w is a choice of the worse tool. Worlds counted
from 1, CARRY in a world is D = (FF - FU) - (SS - SU):

    a  FF w in 1-4, FU w in 5, SS w in 6           D: 1-4 +1, 5 -1, 6 -1          sum 2,  2/12
    b  FF w in 1 2 7, SS and SU w in 1             D: 1 +1, 2 +1, 7 +1            sum 3,  3/12
    c  FF w in 8-10, SU w in 12                    D: 8-10 +1, 12 +1              sum 4,  4/12

These endpoints: (2/12 + 3/12 + 4/12)/3 = 1/4. Sums over endpoints by world: 2 2 1 1 -1 -1 1 1 1 1
0 1, squares 17, variance of the worlds' means (17 - 81/12)/11/9 = .1035354, SE sqrt(that/12) =
.0928869; eleven worlds have an event, so no pseudo-worlds; t(11) = 2.200985. Skew of the sums:
deviations from .75 are 1.25 twice, .25 seven times, -1.75 twice, -.75; m2 = 10.25/12, m3 =
-7.125/12, gamma = m3/m2^1.5 = -.752125; the lower end moves out by gamma (2 z² + 1)/(6 sqrt 12) =
.417757 gamma = .314206 SE.

Endpoints like these: endpoint means 1/6, 1/4, 1/3 have variance 1/144, over 3: .0023148. Worlds:
.1035354/12 = .0086280. Squares of all 36 D: 13; total 13 - 36/16 = 10.75, endpoints 12 x 2/144 =
1/6, worlds 3 (17/9 - 12/16) = 3.4166667, residual 7.1666667/22/36 = .0090488. The sum .0018939 is
less than the worlds' part alone, so SE is .0928869 again, with t(2) = 4.302653.

Harm FF - FU: a (4 - 1)/12, b 3/12, c 3/12, all 1/4. Sums by world 2 2 1 1 -1 0 1 1 1 1 0 0, nine
events: two pseudo-worlds. Means: sum 3, squares 15/9; with +1 and -1: centre 3/14, sum of squares
5/3 + 2 - 14 (3/14)² = 127/42, SE sqrt(127/42/13/14) = .1288959, t(11). Deviations 1.25 twice, .25
six times, -1.75, -.75 three times: m2 = 8.25/12, m3 = -2.625/12, gamma -.383742, .160311 SE.
"""

import math

import numpy as np
import pytest
from scipy import optimize, stats

from judgeaudit.analysis.catalogue import compute
from judgeaudit.analysis.luck.answers import answers_of
from judgeaudit.analysis.question import Question
from judgeaudit.errors import InputError

ALL = Question(over="all")
Z = stats.norm.ppf(0.975)
T11, T2 = 2.200985, 4.302653


def asked(**params):
    return Question(over="all", params=params)


def named(found, analysis, **fields):
    """The only estimate of that name and those fields."""
    (one,) = [
        e for e in found
        if e.analysis == analysis and all(getattr(e, k) == v for k, v in fields.items())
    ]  # fmt: skip
    return one


def brute_force_tango(b, c, n, z=Z):
    """Both ends where the score of b - c, at the likeliest table with that difference, is +-z.

    The multinomial likelihood of (b, c, rest) is maximised under p10 - p01 = delta by search.
    """

    def score(delta):
        def minus_log_likelihood(p01):
            cells = ((b, p01 + delta), (c, p01), (n - b - c, 1 - delta - 2 * p01))
            return -sum(k * math.log(max(p, 1e-300)) for k, p in cells if k)

        low, high = max(0.0, -delta), (1 - delta) / 2
        inner = optimize.minimize_scalar(
            minus_log_likelihood, bounds=(low, high), method="bounded", options={"xatol": 1e-12}
        ).x
        p01 = min((inner, low, high), key=minus_log_likelihood)
        sd = math.sqrt(max(n * (2 * p01 + delta - delta * delta), 1e-300))
        return (b - c - n * delta) / sd

    value = (b - c) / n
    return (
        optimize.brentq(lambda delta: score(delta) - z, -1 + 1e-9, value),
        optimize.brentq(lambda delta: score(delta) + z, value, 1 - 1e-9),
    )


def newcombe_by_hand(a, b, c, d, z):
    """Newcombe's method 10 written out: Wilson ends, phi with its correction, square and add."""
    n = a + b + c + d

    def wilson(s):
        centre, half = s + z * z / 2, z * math.sqrt(s * (n - s) / n + z * z / 4)
        return (centre - half) / (n + z * z), (centre + half) / (n + z * z)

    (l1, u1), (l2, u2) = wilson(a + b), wilson(a + c)
    p1, p2, cross = (a + b) / n, (a + c) / n, a * d - b * c
    cross = max(cross - n / 2, 0) if cross > 0 else cross
    margins = (a + b) * (c + d) * (a + c) * (b + d)
    phi = cross / math.sqrt(margins) if margins else 0

    def reach(x, y):
        return math.sqrt(x * x - 2 * phi * x * y + y * y)

    return p1 - p2 - reach(p1 - l1, u2 - p2), p1 - p2 + reach(u1 - p1, p2 - l2)


def test_carry_at_each_endpoint_is_the_hand_count(luck):
    found = compute("luck_carry", luck.small(), ALL)

    assert [(e.endpoint, str(e.exact)) for e in found[:3]] == [
        ("a", "1/6"), ("b", "1/4"), ("c", "1/3"),
    ]  # fmt: skip
    assert found[0].details["cells"] == {
        "unlucky.FF": 4 / 12, "unlucky.FU": 1 / 12, "unlucky.SS": 1 / 12, "unlucky.SU": 0.0,
    }  # fmt: skip
    assert found[0].n == {"items": 12, "contrasts": 12, "worlds": 12, "calls": 48, "endpoints": 1}


@pytest.mark.parametrize(
    ("statistic", "first", "second", "values"),
    [
        ("luck_harm", "FF", "FU", ["1/4", "1/4", "1/4"]),
        ("luck_lesson_effect", "FF", "FS", ["1/3", "1/6", "1/4"]),
        ("luck_total", "FF", "SS", ["1/4", "1/6", "1/4"]),
        ("luck_protection", "FU", "FS", ["1/12", "-1/12", "0"]),
    ],
)
def test_paired_contrasts_are_the_hand_count_with_a_brute_force_tango(
    luck, statistic, first, second, values
):
    """b and c are counted from the strings; the ends come from the constrained likelihood."""
    table = luck.small()
    found = compute(statistic, table, ALL)[:3]
    answers = answers_of(table)
    places = [answers.cells.index(f"unlucky.{x}") for x in (first, second)]

    assert [str(e.exact) for e in found] == values
    for e, estimate in enumerate(found):
        x, y = (answers.worse[e, at] for at in places)
        b, c = int(((x == 1) & (y == 0)).sum()), int(((x == 0) & (y == 1)).sum())
        assert (estimate.low, estimate.high) == pytest.approx(brute_force_tango(b, c, 12), abs=1e-6)
        assert estimate.method == "Tango score"


def test_carry_of_one_endpoint_has_mover_of_the_brute_force_ends(luck):
    """a: halves 4 - 1 and 1 - 0 of 12; half differences correlate at r, used where negative.

    First half +1 in 1-4, -1 in 5, second +1 in 6: covariance -(3/12)(1/12) of means; r from the
    sums of squares 5 - 9/12 and 1 - 1/12, cross 0 - 3/12.
    """
    estimate = compute("luck_carry", luck.small(), ALL)[0]
    d1, d2 = 3 / 12, 1 / 12
    (l1, u1), (l2, u2) = brute_force_tango(4, 1, 12), brute_force_tango(1, 0, 12)
    r = (0 - 3 / 12) / math.sqrt((5 - 9 / 12) * (1 - 1 / 12))

    def reach(one, other):
        return math.sqrt(one**2 + other**2 - 2 * r * one * other)

    assert estimate.low == pytest.approx(d1 - d2 - reach(d1 - l1, u2 - d2), abs=1e-6)
    assert estimate.high == pytest.approx(d1 - d2 + reach(u1 - d1, d2 - l2), abs=1e-6)


def test_a_gates_interval_and_the_claims_are_newcombes(luck):
    """Harm at a: a 0, b 4, c 1, d 7; a gate at alpha .05 gets the interval of level .90."""
    from decimal import Decimal

    gate = Question(over="all", level=0.9, threshold=Decimal("0.1"))
    estimate = compute("luck_harm", luck.small(), gate)[0]
    low, high = newcombe_by_hand(0, 4, 1, 7, stats.norm.ppf(0.95))
    claims = estimate.details["claims"]

    assert (estimate.low, estimate.high) == pytest.approx((low, high))
    assert (claims["lower"], claims["upper"]) == pytest.approx((low, high))
    assert (claims["present"], claims["large"], claims["negligible"]) == (low > 0, False, False)
    assert "not shown to be negligible" in claims["says"]
    assert "does not make it safe" in claims["says"]


def test_these_endpoints_by_hand(luck):
    found = named(compute("luck_carry", luck.small(), ALL), "luck_carry_these")

    assert found.value == pytest.approx(1 / 4)
    assert found.low == pytest.approx(0.25 - (T11 + 0.314206) * 0.0928869, abs=1e-5)
    assert found.high == pytest.approx(0.25 + T11 * 0.0928869, abs=1e-5)
    assert (found.endpoint, found.target, found.method) == (
        "all", "these endpoints", "t over worlds, widened for skew",
    )  # fmt: skip


def test_endpoints_like_these_by_hand(luck):
    found = named(compute("luck_carry", luck.small(), ALL), "luck_carry_like")

    assert found.value == pytest.approx(1 / 4)
    assert found.low == pytest.approx(0.25 - T2 * 0.0928869, abs=1e-5)
    assert found.target == "endpoints like these"
    assert found.details["tau"] == 0.0


def test_rare_events_bring_two_pseudo_worlds_into_the_pool(luck):
    found = named(compute("luck_harm", luck.small(), ALL), "luck_harm_these")

    assert found.value == pytest.approx(1 / 4)
    assert found.low == pytest.approx(3 / 14 - (T11 + 0.160311) * 0.1288959, abs=1e-5)
    assert found.high == pytest.approx(3 / 14 + T11 * 0.1288959, abs=1e-5)
    assert found.method == "t over worlds, two pseudo-worlds, widened for skew"


def test_leaving_out_one_endpoint_and_one_world(luck):
    """Without a (3 + 4)/24, without b 6/24, without c 5/24; without world 1 (9 - 2)/33."""
    details = named(compute("luck_carry", luck.small(), ALL), "luck_carry_these").details
    without = {e: found[0] for e, found in details["without_endpoint"].items()}

    assert without == pytest.approx({"a": 7 / 24, "b": 6 / 24, "c": 5 / 24})
    assert details["without_a_world"] == pytest.approx([7 / 33, 10 / 33])


def test_which_endpoints_is_told_after_holm(luck):
    """Holm by hand: the smallest of three p values times 3, the next times 2, never less."""
    found = compute("luck_carry", luck.small(), ALL)
    p = np.array([e.details["p_present"] for e in found[:3]])
    smallest, middle, largest = np.sort(p)
    one = min(1, 3 * smallest)
    two = max(one, min(1, 2 * middle))
    share = named(found, "luck_carry_endpoints")

    assert sorted(e.details["p_present_holm"] for e in found[:3]) == pytest.approx(
        [one, two, max(two, largest)]
    )
    assert share.details["present"] == [
        e.endpoint for e in found[:3] if e.details["p_present_holm"] <= 0.05
    ]
    assert share.exact * 3 == len(share.details["present"])


def test_p_of_a_claim_is_the_alpha_at_which_its_bound_makes_it(luck):
    """At alpha = p the one-sided lower bound of harm at a is 0, the upper bound the margin."""
    details = compute("luck_harm", luck.small(), asked(margin=0.6))[0].details

    for claim, end, margin in (("present", 0, 0.0), ("negligible", 1, 0.6)):
        z = -stats.norm.ppf(details[f"p_{claim}"])
        assert newcombe_by_hand(0, 4, 1, 7, z)[end] == pytest.approx(margin, abs=1e-6)
    assert details["p_large"] == 1.0


def test_what_pool_names_comes_first_and_under_the_plain_name(luck):
    for pool, others in (("these", {"each", "like"}), ("like", {"each", "these"})):
        found = compute("luck_carry", luck.small(), asked(pool=pool))

        assert (found[0].analysis, found[0].endpoint) == ("luck_carry", "all")
        assert [e.analysis for e in found].count("luck_carry") == 1
        assert {f"luck_carry_{o}" for o in others} <= {e.analysis for e in found}


def test_the_judges_own_noise_stands_beside_the_effect(luck):
    """a answered FF again with worlds 4 and 6 changed: 2 of 12."""
    table = luck.small()
    rate = named(compute("luck_again", table, ALL), "luck_again", endpoint="a")
    beside = compute("luck_carry", table, ALL)[0].details["own_noise"]

    assert rate.value == pytest.approx(2 / 12)
    assert beside == {"unlucky.FF": pytest.approx(2 / 12)}
    expected = stats.beta.ppf([0.025, 0.975], [2, 3], [11, 10])
    assert (rate.low, rate.high) == pytest.approx(tuple(expected))


def test_shares_by_cell_have_clopper_pearson_ends(luck):
    found = compute("luck_p", luck.small(), asked(cell="unlucky.FF"))

    assert [e.value for e in found] == pytest.approx([4 / 12, 3 / 12, 3 / 12, 10 / 36])
    expected = stats.beta.ppf([0.025, 0.975], [4, 5], [9, 8])
    assert (found[0].low, found[0].high) == pytest.approx(tuple(expected))
    assert found[3].analysis == "luck_p_these"


def test_a_lucky_success_is_mirrored(luck):
    """(SS - SU) - (FF - FU): worse in worlds 1, 2 after a lucky success, in 3 after a failure."""
    cells = {
        "lucky.SS": "wwbb", "lucky.SU": "bbbb", "lucky.FF": "bbwb", "lucky.FU": "bbbb",
        "lucky.SF": "wbbb",
    }  # fmt: skip
    table = luck.table(a=cells)

    carry = named(compute("luck_carry", table, ALL), "luck_carry", scope="lucky")
    lesson = named(compute("luck_lesson_effect", table, ALL), "luck_lesson_effect", scope="lucky")

    assert str(carry.exact) == "1/4"
    assert str(lesson.exact) == "1/4"


def test_the_outcome_effect_is_taken_at_each_lesson_that_both_outcomes_had(luck):
    cells = {
        "unlucky.FF": "wwbb", "unlucky.SF": "wbbb", "unlucky.FN": "wbbb", "unlucky.SN": "bbbb",
        "unlucky.FD": "bbbb",
    }  # fmt: skip
    found = compute("luck_outcome_effect", luck.table(a=cells), ALL)
    heads = [e for e in found if e.analysis == "luck_outcome_effect"]

    assert [(e.scope, str(e.exact)) for e in heads] == [
        ("unlucky, lesson=F", "1/4"), ("unlucky, lesson=N", "1/4"),
    ]  # fmt: skip
    with pytest.raises(InputError, match="lesson"):
        compute("luck_outcome_effect", luck.table(a=cells), asked(lesson="Q"))


def test_a_world_without_a_choice_is_left_out_and_bounded_both_ways(luck):
    """World 3 named no tool in FF: harm (1 - 0)/3; over four worlds between 1/4 and 2/4."""
    table = luck.table(a={"unlucky.FF": "wb?b", "unlucky.FU": "bbbb"})
    estimate = compute("luck_harm", table, ALL)[0]

    assert str(estimate.exact) == "1/3"
    assert estimate.worst == (1 / 4, 2 / 4)
    assert estimate.missing == 1 / 4
    assert estimate.excluded == {"unparsed": 1}


def test_a_missing_choice_in_the_second_cell_moves_the_bound_down(luck):
    table = luck.table(a={"unlucky.FF": "wbbb", "unlucky.FU": "b?!b"})

    assert compute("luck_harm", table, ALL)[0].worst == (-1 / 4, 1 / 4)


def test_no_memory_is_counted_apart_and_opens_no_bound(luck):
    """World 4 had no lesson: three worlds are asked, and none of them lacks a choice."""
    table = luck.table(a={"unlucky.FF": "wbb-", "unlucky.FU": "bbbb"})
    estimate = compute("luck_harm", table, ALL)[0]

    assert str(estimate.exact) == "1/3"
    assert (estimate.missing, estimate.worst) == (0.0, (1 / 3, 1 / 3))
    assert estimate.excluded == {"no_memory": 1}
    assert any("no memory" in caveat for caveat in estimate.caveats)


def test_counted_a_call_without_a_choice_did_not_choose_the_worse_tool(luck):
    table = luck.table(a={"unlucky.FF": "wb?-", "unlucky.FU": "bbbb"})
    estimate = compute("luck_harm", table, Question(over="all", denominator="planned"))[0]

    assert str(estimate.exact) == "1/3"
    assert estimate.n["items"] == 3


def test_the_third_outcome_is_told_by_cell(luck):
    """w b ? - !: of two tools named one is worse; of four with a memory at least 1, at most 3."""
    (found,) = compute("luck_p", luck.table(a={"unlucky.FF": "wb?-!"}), ALL)
    counts = {k: found.n[k] for k in ("worse", "better", "no_tool", "undelivered", "no_memory")}

    assert found.value == 1 / 2
    assert counts == {"worse": 1, "better": 1, "no_tool": 1, "undelivered": 1, "no_memory": 1}
    assert found.worst == (1 / 4, 3 / 4)
    assert found.missing == 2 / 4


def test_several_draws_give_means_by_world_and_t(luck):
    """Three draws: FF 3/3, 1/3, 0, 0 of four worlds, FU none; rare, so two pseudo-worlds.

    Mean 1/3; six values 1, 1/3, 0, 0, 1, -1: centre 2/9, squares 28/9 - 6 (4/81) = 76/27,
    SE sqrt(76/27/5/6) = .3063107, t(3) = 3.182446. Skew of the four: deviations 2/3, 0, -1/3, -1/3,
    gamma = (1/18)/(1/6)^1.5 = .816497; the upper end moves out by gamma 8.682918/12 = .590798 SE.
    """
    table = luck.table(
        a={"unlucky.FF": ["wwbb", "wbbb", "wbbb"], "unlucky.FU": ["bbbb", "bbbb", "bbbb"]}
    )
    estimate = compute("luck_harm", table, ALL)[0]

    assert estimate.value == pytest.approx(1 / 3)
    assert estimate.exact is None
    assert (estimate.low, estimate.high) == pytest.approx(
        (2 / 9 - 3.182446 * 0.3063107, 2 / 9 + (3.182446 + 0.590798) * 0.3063107), abs=1e-5
    )
    assert estimate.unit == "mean of several calls"


def test_without_a_stated_independence_an_effect_is_descriptive(luck):
    table = luck.table(a={"unlucky.FF.dep": "wb", "unlucky.FU.dep": "bb"})
    first, *rest = compute("luck_harm", table, ALL)
    found = named(rest, "luck_harm", scope="unlucky.dep")

    assert first.undefined == "cells not run: unlucky.FF, unlucky.FU"
    assert any("descriptive" in caveat for caveat in found.caveats)
    asked_alone = compute("luck_harm", table, asked(stratum="unlucky.dep"))
    assert asked_alone[0].value == found.value


def test_one_endpoint_pools_to_itself_and_to_nothing_more(luck):
    table = luck.table(a={"unlucky.FF": "wbbb", "unlucky.FU": "bbbb"})
    found = compute("luck_harm", table, ALL)

    assert named(found, "luck_harm_these").low == found[0].low
    assert named(found, "luck_harm_like").undefined == "needs >= 2 endpoints"


def test_an_endpoint_without_any_choice_is_undefined_and_so_is_the_pool(luck):
    cells = {"unlucky.FF": "wbbb", "unlucky.FU": "bbbb"}
    found = compute("luck_harm", luck.table(a=cells, b=dict.fromkeys(cells, "????")), ALL)

    assert found[1].undefined == "no world has a choice in each of unlucky.FF, unlucky.FU"
    assert named(found, "luck_harm_these").value is None
    assert "b" not in named(found, "luck_harm_endpoints").details["present"]


def test_no_event_anywhere_still_has_an_interval_of_some_width(luck):
    """Tango without events: -+z²/(n + z²); the pools have pseudo-worlds and no width of zero."""
    cells = dict.fromkeys(("unlucky.FF", "unlucky.FU", "unlucky.SS", "unlucky.SU"), "b" * 64)
    table = luck.table(a=cells, b=cells)
    harm = compute("luck_harm", table, ALL)[0]

    assert harm.high == pytest.approx(Z**2 / (64 + Z**2))
    for name in ("luck_carry_these", "luck_carry_like"):
        pool = named(compute("luck_carry", table, ALL), name)
        assert pool.high - pool.low > 0.05


def test_a_table_of_another_design_is_told_so(build):
    (found,) = compute("luck_carry", build.verdicts(q1="AB"), ALL)

    assert "no arm is a cell" in found.undefined


@pytest.mark.parametrize(
    ("params", "named_in_error"),
    [
        ({"pool": "some"}, "pool"),
        ({"stratum": "happy"}, "stratum"),
        ({"interval": "wald"}, "interval"),
        ({"margin": "x"}, "margin"),
    ],
)
def test_parameters_that_mean_nothing_are_refused(luck, params, named_in_error):
    with pytest.raises(InputError, match=named_in_error):
        compute("luck_carry", luck.small(), asked(**params))


def test_comprehension_is_the_share_that_names_the_better_record(luck):
    """One of four probe answers is wrong, one names no tool: 2 of 3, between 2/4 and 3/4."""
    found = compute("luck_comprehension", luck.table(a={"unlucky.SN.probe": "bbw?"}), ALL)

    assert found[0].value == pytest.approx(2 / 3)
    assert found[0].worst == (2 / 4, 3 / 4)
