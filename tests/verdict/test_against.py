"""Against a baseline: only an anchor, the same bytes in both, tells whether the judge has moved."""

import numpy as np
import pandas as pd
import pytest

from judgeaudit.readings.table import checked
from judgeaudit.verdict.baseline import compare


def table(values, *, body="b", column="number", start=0, model="judge-1"):
    """One row a reading of `values` (items x repeats); an item's body is named after it."""
    rows = [
        {
            "endpoint": "judge",
            "item": f"q{n}",
            "repeat": k,
            "status": "ok",
            "model_returned": model,
            "body_sha256": f"{body}{n}",
            column: value,
        }
        for n, row in enumerate(np.asarray(values).tolist(), start)
        for k, value in enumerate(row)
    ]
    return checked(pd.DataFrame(rows))


def scores(rng, n=60, shift=0.0, noise=1.0):
    truth = np.random.default_rng(1).normal(50, 10, size=(n, 1))
    return truth + shift + rng.normal(0, noise, size=(n, 2))


@pytest.mark.parametrize(
    ("shift", "outcome"), [(0.0, "pass"), (5.0, "fail"), (1.0, "inconclusive")]
)
def test_scores_on_the_same_anchors_are_held_against_the_margin(rng, shift, outcome):
    """SD 1, two readings of 60 anchors each: SE of the shift is sqrt((1/2 + 1/2)/60) = .13."""
    found = compare(table(scores(rng, shift=shift)), table(scores(rng)), margin=1.0)

    assert found["outcome"] == outcome
    assert found["anchors"] == 60
    assert found["judge"][0]["estimate"] == pytest.approx(shift, abs=0.5)
    assert "the items have not moved" in found["says"]


def test_without_a_margin_finding_no_move_is_no_pass(rng):
    found = compare(table(scores(rng)), table(scores(rng)), margin=None)

    assert found["outcome"] == "inconclusive"
    assert "register watch.margin" in found["says"]


def test_changed_items_are_the_items_move_and_not_the_judges(rng):
    """Twenty items have other bodies and score 30 higher; the judge's own anchors stay."""
    before = scores(rng)
    after = scores(rng)
    after[:20] += 30
    now = pd.concat([table(after[:20], body="new"), table(after[20:], start=20)], ignore_index=True)

    found = compare(checked(now), table(before), margin=1.0)

    assert found["outcome"] == "pass"
    assert found["anchors"] == 40
    assert found["items"] == {"changed": 20, "added": 0, "removed": 0}
    assert "the items have moved: 20 asked with another body" in found["says"]
    assert "the mean of all items went from" in found["says"]


def test_no_anchor_in_common_cannot_tell(rng):
    found = compare(table(scores(rng), body="x"), table(scores(rng)), margin=1.0)

    assert found["outcome"] == "undefined"
    assert "no request is the same in both" in found["says"]


def test_a_baseline_without_a_valid_reading_has_no_mean(rng):
    before = table(scores(rng), body="x").assign(status="invalid", reason="unparsed", number=None)

    found = compare(table(scores(rng)), checked(before), margin=1.0)

    assert found["outcome"] == "undefined"
    assert "the mean of all items" not in found["says"]


def verdicts(rng, p):
    return np.where(rng.random((len(p), 4)) < p[:, None], "pass", "fail")


@pytest.mark.parametrize(("moved", "outcome"), [(False, "pass"), (True, "fail")])
def test_verdicts_move_by_their_excess_disagreement_however_noisy(rng, moved, outcome):
    """Half of 200 anchors go from P(pass) = .9 to .1: the excess is (.8)^2 there, .32 in all."""
    p = np.full(200, 0.9)
    q = np.where(np.arange(200) < 100, 0.1, 0.9) if moved else p

    found = compare(
        table(verdicts(rng, q), column="category"), table(verdicts(rng, p), column="category"), 0.1
    )

    assert found["outcome"] == outcome
    assert found["judge"][0]["estimate"] == pytest.approx(0.32 if moved else 0.0, abs=0.06)


def test_a_judge_that_answers_every_anchor_exactly_as_before_has_not_moved(rng):
    same = scores(rng, noise=0.0)

    found = compare(table(same), table(same), margin=1.0)

    assert found["outcome"] == "pass"
    assert "fewer than 4.9% of such requests differ" in found["says"]  # 1 - .05^(1/60)


def test_another_model_behind_the_name_is_told(rng):
    found = compare(table(scores(rng), model="judge-2"), table(scores(rng)), margin=1.0)

    assert found["models"] == ["replies name judge-2, in the baseline judge-1"]
