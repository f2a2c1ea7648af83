"""Label readouts and rankings within groups: gate I-3S by hand."""

import math
from fractions import Fraction

import numpy as np
import pytest

from judgeaudit.analysis import exact
from judgeaudit.analysis.agreement.labels import symmetrised
from judgeaudit.analysis.catalogue import compute
from judgeaudit.analysis.question import Question


def arms(item, fwd, rev, **more):
    """The two arms of one item; None is a missing label."""
    reason = {"reason": "label_missing"}
    return [
        {"item": item, "arm": arm, "number": r, "mass": None if r is None else 0.9}
        | ({} if r is not None else reason)
        | more
        for arm, r in (("fwd", fwd), ("rev", rev))
    ]


def expit(z):
    return 1 / (1 + math.exp(-z))


def test_two_arms_join_on_the_logit_scale(build):
    """z = 2 and 1: z_sym = 1.5, b_map = .5."""
    joined = symmetrised(build.table(arms("q", expit(2), expit(1))))

    assert joined["number"].tolist() == pytest.approx([expit(1.5)])
    assert joined["b_map"].tolist() == pytest.approx([0.5])
    assert joined["arm"].tolist() == ["sym"]


def test_r_is_clipped_at_1e_4_before_the_logit(build):
    joined = symmetrised(build.table(arms("q", 1.0, 0.5)))

    assert joined["b_map"].iloc[0] == pytest.approx(math.log(0.9999 / 0.0001) / 2)


def test_coverage_counts_arms_and_completeness_counts_pairs(build):
    """Of 6 arms 5 have both labels; of 3 pairs 2 are whole."""
    found = build.table(arms("a", 0.9, 0.8) + arms("b", 0.7, None) + arms("c", 0.6, 0.5))

    (coverage,) = compute("label_coverage", found, Question(denominator="planned"))
    (complete,) = compute("pair_completeness", found, Question(denominator="planned"))

    assert coverage.exact == Fraction(5, 6)
    assert complete.exact == Fraction(2, 3)
    assert coverage.excluded == {"label_missing": 1}


def test_an_arm_without_a_reply_is_no_label_missing_but_is_bounded(build):
    """Valid denominator: 1 of 1; of the 2 planned the other may have gone either way."""
    rows = [
        {"item": "a", "number": 0.9},
        {"item": "b", "reason": "no_reply"},
    ]

    (estimate,) = compute("label_coverage", build.table(rows), Question())

    assert estimate.exact == Fraction(1)
    assert estimate.missing == 0.5
    assert estimate.worst == (0.5, 1.0)


def test_mass_quantiles_are_those_of_the_valid_arms(build):
    rows = [{"item": f"i{k}", "number": 0.5, "mass": k / 100} for k in range(101)]
    rows.append({"item": "invalid", "reason": "label_missing"})

    (median,) = compute("label_mass_median", build.table(rows), Question())
    (low,) = compute("label_mass_p01", build.table(rows), Question())

    assert (median.value, low.value) == (pytest.approx(0.5), pytest.approx(0.01))
    assert median.low < 0.5 < median.high
    assert median.missing == pytest.approx(1 / 102)


def test_delta_r_is_taken_over_repeats_of_one_point(build):
    """|.6 - .5| = .1, |.9 - .6| = .3; the point asked once has no pair."""
    rows = [
        {"item": i, "repeat": k, "number": r}
        for i, given in {"a": (0.5, 0.6), "b": (0.9, 0.6), "c": (0.2,)}.items()
        for k, r in enumerate(given)
    ]

    (estimate,) = compute("median_abs_delta_r", build.table(rows), Question())

    assert estimate.value == pytest.approx(0.2)
    assert estimate.n["pairs"] == 2
    assert estimate.details["max"] == pytest.approx(0.3)


def groups_of_four(build, *pairs, tasks=None):
    """One group a pair of score vectors, each candidate an item."""
    rows = [
        {
            "item": f"g{g}c{c}",
            "group": f"g{g}",
            "task": tasks[g] if tasks else f"t{g}",
            "repeat": k,
            "number": scores[c] / 10,
        }
        for g, pair in enumerate(pairs)
        for k, scores in enumerate(pair)
        for c in range(len(scores))
    ]
    return build.table(rows)


def test_spearman_of_1234_and_1243_is_eight_tenths_exactly(build):
    """In floats it is .7999999999999999 and would miss a threshold of .8."""
    found = groups_of_four(build, ((1, 2, 3, 4), (1, 2, 4, 3)))

    (estimate,) = compute("group_rank_spearman_median", found, Question())

    assert estimate.exact == Fraction(4, 5)
    assert estimate.details["attainable_untied"] == [
        "-1.0", "-0.8", "-0.6", "-0.4", "-0.2", "0.0", "0.2", "0.4", "0.6", "0.8", "1.0",
    ]  # fmt: skip


def test_a_constant_group_is_counted_and_bounded_both_ways(build):
    """Defined 1 and .8: median .9. With the constant group at -1: .8; at +1: 1."""
    same, moved, constant = (1, 2, 3, 4), (1, 2, 4, 3), (5, 5, 5, 5)
    found = groups_of_four(build, (same, same), (same, moved), (same, constant))

    (estimate,) = compute("group_rank_spearman_median", found, Question())

    assert estimate.exact == Fraction(9, 10)
    assert estimate.worst == (0.8, 1.0)
    assert estimate.excluded == {"constant_group": 1}
    assert estimate.n["groups"] == 3
    assert estimate.n["defined_groups"] == 2


def test_the_share_of_groups_at_the_threshold_has_tasks_for_units(build):
    """Four groups of two tasks; three at or above .9."""
    same, moved = (1, 2, 3, 4), (1, 2, 4, 3)
    pairs = [(same, same)] * 3 + [(same, moved)]
    found = groups_of_four(build, *pairs, tasks=["a", "a", "b", "b"])
    from decimal import Decimal

    _, share = compute("group_rank_spearman_median", found, Question(threshold=Decimal(".9")))

    assert share.analysis == "group_rank_spearman_share"
    assert share.exact == Fraction(3, 4)
    assert share.cluster == "task"
    assert share.n["tasks"] == 2


def test_spearman_with_ties_is_the_midrank_one_and_of_a_constant_undefined():
    """[1,1,1,1,2] against [5,4,3,2,1]: -.7071."""
    value = exact.spearman(np.array([1.0, 1, 1, 1, 2]), np.array([5.0, 4, 3, 2, 1]))

    assert float(value) == pytest.approx(-math.sqrt(0.5))
    assert exact.spearman(np.array([1.0, 1, 1]), np.array([1.0, 2, 3])) is None


def test_mapping_bias_is_split_by_truth(build):
    """b_map .5 on the correct candidates, -.25 on the incorrect ones."""
    rows = []
    for k in range(10):
        rows += arms(f"c{k}", expit(1.0), expit(0.0), correct=True)
        rows += arms(f"w{k}", expit(-0.5), expit(0.0), correct=False)

    whole, correct, wrong = compute("b_map", build.table(rows), Question())

    assert (correct.scope, wrong.scope) == ("correct=true", "correct=false")
    assert correct.value == pytest.approx(0.5)
    assert wrong.value == pytest.approx(-0.25)
    assert whole.value == pytest.approx(0.125)


def test_group_concordance_leaves_out_pairs_that_neither_reading_separates(build):
    """Gaps .1, .4, .5; with delta .2 two pairs are informative and both keep their order."""
    found = groups_of_four(build, ((1, 2, 6), (2, 1, 6)))

    (all_pairs,) = compute("group_concordance", found, Question())
    (informative,) = compute("group_concordance", found, Question(params={"delta": 0.2}))

    assert all_pairs.value == pytest.approx(2 / 3)
    assert informative.value == 1
    assert informative.details["share_below_delta"] == pytest.approx(1 / 3)


def test_estimates_by_a_column_stand_beside_the_whole(build):
    rows = [
        {"item": f"{p}{k}", "number": 0.5, "mass": 0.9, "meta.prefix": p}
        for p in ("25%", "50%")
        for k in range(3)
    ]

    found = compute("label_mass_median", build.table(rows), Question(params={"by": "prefix"}))

    assert [e.scope for e in found] == ["all", "prefix=25%", "prefix=50%"]
