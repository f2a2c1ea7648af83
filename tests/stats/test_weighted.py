"""Agreement with partial credit, and intervals by leaving out tasks."""

import numpy as np
import pytest
from statsmodels.stats.inter_rater import cohens_kappa

from judgeaudit.errors import InputError
from judgeaudit.stats.agreement import gwet_ac1, krippendorff_alpha
from judgeaudit.stats.clustered import deletion_units, jackknife
from judgeaudit.stats.interval import Undefined
from judgeaudit.stats.scaled import few_tasks
from judgeaudit.stats.weighted import alpha_estimate, gwet_ac2, weight_table, weighted_kappa


def grades(rng, n=120, repeats=2, q=5):
    level = rng.integers(0, q, n)[:, None]
    return np.clip(level + rng.integers(-1, 2, (n, repeats)), 0, q - 1)


@pytest.mark.parametrize(("ours", "theirs"), [("linear", "linear"), ("quadratic", "quadratic")])
def test_weighted_kappa_is_that_of_statsmodels(rng, ours, theirs):
    codes = grades(rng)
    table = np.zeros((5, 5))
    np.add.at(table, (codes[:, 0], codes[:, 1]), 1)
    found = weighted_kappa(codes[:, 0], codes[:, 1], 5, ours)

    assert found.value == pytest.approx(cohens_kappa(table, wt=theirs).kappa)
    assert found.interval().low < found.value < found.interval().high


def test_ac2_by_hand():
    """Grades A B C; readings (A, A), (A, B), (B, C): linear weights 1, 1/2, 0.

    po = (1 + .5 + .5)/3; shares A 1/2, B 1/3, C 1/6; pe = T/(q(q-1)) sum pi (1 - pi) with
    T = 3 + 4 * .5 = 5: 5/6 (1/4 + 2/9 + 5/36).
    """
    codes = np.array([[0, 0], [0, 1], [1, 2]])
    expected = 5 / 6 * (1 / 4 + 2 / 9 + 5 / 36)

    assert gwet_ac2(codes, 3, "linear").value == pytest.approx((2 / 3 - expected) / (1 - expected))


def test_identity_weights_are_the_unweighted_coefficients(rng):
    codes = grades(rng)
    codes[:4, 1] = -1

    assert gwet_ac2(codes, 5, "identity").value == pytest.approx(gwet_ac1(codes, 5).value)
    assert gwet_ac2(codes, 5, np.eye(5)).value == pytest.approx(gwet_ac1(codes, 5).value)


def test_alpha_keeps_its_value_and_gains_an_interval(rng):
    codes = grades(rng, repeats=3)
    found = alpha_estimate(codes, 5, "ordinal")

    assert found.value == pytest.approx(krippendorff_alpha(codes, 5, "ordinal"))
    assert found.interval().low < found.value < found.interval().high


def test_nine_items_that_differ_are_too_few_for_an_interval():
    codes = np.zeros((100, 2), int)
    codes[50:] = 1
    codes[:9, 1] = 1

    assert alpha_estimate(codes, 2).no_interval == "fewer than 10 items whose readings differ"
    codes[9, 1] = 1
    assert alpha_estimate(codes, 2).no_interval == ""


def test_tasks_widen_the_interval(rng):
    tasks = np.arange(120) % 10
    codes = (rng.random(10)[tasks][:, None] < rng.random((120, 2)) * 1.2).astype(int)
    one, other = (gwet_ac2(codes, 2, "identity", t) for t in (tasks, None))

    assert one.n == 10
    assert one.df == 9
    assert one.se > other.se


@pytest.mark.parametrize(
    "weights", ["cubic", np.eye(2), np.array([[1, 0.2, 0], [0.3, 1, 0], [0, 0, 1]]), 2 * np.eye(3)]
)
def test_weights_that_are_no_agreement_are_refused(weights):
    with pytest.raises(InputError, match="weights"):
        weight_table(weights, 3)


def test_a_jackknife_of_a_mean_is_its_standard_error(rng):
    x = rng.normal(size=40)
    found = jackknife(lambda kept: float(x[kept].mean()), 40)

    assert found.se == pytest.approx(x.std(ddof=1) / np.sqrt(40))
    assert (found.df, found.n) == (39, 40)


def test_whole_tasks_are_left_out_and_five_are_too_few(rng):
    """Ten tasks of four items: the standard error is that of the ten task means."""
    x = rng.normal(size=40)
    tasks = np.repeat(np.arange(10), 4)
    found = jackknife(lambda kept: float(x[kept].mean()), 40, tasks)

    assert found.se == pytest.approx(x.reshape(10, 4).mean(axis=1).std(ddof=1) / np.sqrt(10))
    few = jackknife(lambda kept: float(x[kept].mean()), 40, tasks // 2)
    assert few.no_interval == "fewer than 6 tasks"
    assert few.value == found.value


def test_many_units_are_dealt_into_groups():
    assert deletion_units(300, None).max() == 299
    units = deletion_units(5_000, None)
    assert units.max() == 199
    assert np.bincount(units).tolist() == [25] * 200


def test_a_statistic_that_rests_on_one_item_has_no_interval():
    x = np.zeros(20)
    x[0] = 1

    found = jackknife(lambda kept: np.nan if not x[kept].any() else 1.0, 20)
    assert found.no_interval == "no disagreement, or no value, without one item"
    assert isinstance(jackknife(lambda kept: float("nan"), 20), Undefined)


def test_six_to_twelve_tasks_are_told():
    assert "12 tasks" in few_tasks(12)
    assert few_tasks(13) == few_tasks(None) == ""
