"""`judgeaudit analyze` on tables: what it prints, what it refuses, and published numbers."""

import json

import pandas as pd
import pytest
from typer.testing import CliRunner

from judgeaudit.cli import app, commands

commands.register(app)


def run(*arguments):
    return CliRunner().invoke(app, ["analyze", *map(str, arguments)])


def told(*arguments):
    """Run with --json and return each part's estimates by name, and the document."""
    result = run(*arguments, "--json")
    assert result.exit_code == 0, result.output
    document = json.loads(result.stdout)
    parts = {
        part["scope"]: part | {"by_name": {e["analysis"]: e for e in part["estimates"]}}
        for part in document["parts"]
    }
    return parts, document


@pytest.fixture
def scores(tmp_path):
    """Twelve items, three runs; run 2 is one higher on every second item."""
    rows = [
        {"item": f"i{i}", "run": k, "score": i + (k == 2) * (i % 2), "prompt_sha256": f"sha-{i}"}
        for i in range(12)
        for k in range(3)
    ]
    path = tmp_path / "scores.csv"
    pd.DataFrame(rows).to_csv(path, index=False)
    return path


def edited(path, change):
    frame = pd.read_csv(path, dtype=object)
    change(frame).to_csv(path, index=False)
    return path


def test_a_table_with_a_digest_is_a_test_retest(scores):
    result = run(scores, "--item", "item", "--repeat", "run", "--score", "score")

    assert result.exit_code == 0
    assert "Read 36 rows of scores.csv: 1 part." in result.stdout
    assert "test-retest (prompt_sha256 equal over the runs of each item):" in result.stdout
    assert "complete: 36 readings, none missing" in result.stdout


def test_without_a_digest_the_words_test_retest_are_not_printed(scores):
    edited(scores, lambda f: f.drop(columns="prompt_sha256"))

    result = run(scores, "--item", "item", "--repeat", "run", "--score", "score")

    assert "test-retest" not in result.stdout
    assert "agreement of unverified repeats" in result.stdout


def test_a_named_digest_column_verifies_whatever_it_is_called(scores):
    edited(scores, lambda f: f.rename(columns={"prompt_sha256": "h"}))

    result = run(scores, "--repeat", "run", "--score", "score", "--digest", "h")

    assert "test-retest (digest equal over the runs of each item):" in result.stdout


@pytest.mark.parametrize("column", ["prompt", "temperature", "model_returned", "candidate_order"])
def test_a_declared_column_that_differs_between_runs_is_refused_by_name(scores, column):
    edited(scores, lambda f: f.assign(**{column: f["run"]}))

    result = run(scores, "--item", "item", "--repeat", "run", "--score", "score")

    assert result.exit_code == 2
    assert f"column {column!r}: differs between runs of item 'i0'" in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_perfect_agreement_without_separate_calls_may_be_a_cache(scores):
    same = edited(scores, lambda f: f.assign(score=f["item"].str[1:]))

    flagged = run(same, "--item", "item", "--repeat", "run", "--score", "score")
    edited(same, lambda f: f.assign(request_id=range(len(f))))
    evident = run(same, "--item", "item", "--repeat", "run", "--score", "score")

    assert "warning: possible cache" in flagged.stdout
    assert "possible cache" not in evident.stdout


def test_equal_call_ids_between_runs_are_flagged_even_without_agreement(scores):
    edited(scores, lambda f: f.assign(request_id=f["item"]))

    result = run(scores, "--item", "item", "--repeat", "run", "--score", "score")

    assert "possible cache: request_id equal between runs" in result.stdout


def test_words_among_scores_are_counted_not_dropped(scores):
    edited(scores, lambda f: f.assign(score=["n/a!", None, *f["score"][2:]]))

    parts, _ = told(scores, "--item", "item", "--repeat", "run", "--score", "score")

    assert parts["all"]["excluded"] == {"empty": 1, "unparsed": 1}
    assert parts["all"]["valid"] == 34


def test_a_key_that_stands_twice_names_both_rows(scores):
    edited(scores, lambda f: pd.concat([f, f.iloc[[3]]]))

    result = run(scores, "--item", "item", "--repeat", "run", "--score", "score")

    assert result.exit_code == 2
    assert "scores.csv: row 38: item 'i1', run '0' stands already in row 5" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--item", "nope", "--score", "score"], "column 'nope': missing; columns: item, run"),
        (["--item", "item"], "give exactly one of --score, --verdict, --ranking, --probability"),
        (["--item", "item", "--score", "item"], "column 'item': holds no number"),
        (["--score", "score", "--out", "x.txt"], "end it in .parquet or .csv"),
    ],
)
def test_bad_options_are_one_line_with_the_next_step(scores, arguments, message):
    result = run(scores, *arguments)

    assert result.exit_code == 2
    assert message in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_a_constant_column_is_undefined_in_words(scores):
    edited(scores, lambda f: f.assign(score=3, request_id=range(len(f))))

    result = run(scores, "--item", "item", "--repeat", "run", "--score", "score")

    assert result.exit_code == 0
    assert "undefined, constant" in result.stdout
    assert "nan" not in result.stdout


def test_one_run_says_that_nothing_was_repeated(scores):
    edited(scores, lambda f: f[f["run"] == "0"])

    result = run(scores, "--item", "item", "--repeat", "run", "--score", "score")

    assert result.exit_code == 3
    assert "one run: nothing was asked twice" in result.stdout


def test_a_wanted_gap_is_priced_in_repeats_or_called_unresolvable(scores):
    """s_w^2 is 1/3 on every second item, 1/6 over all: 2/6 (1.96 + .84)^2 = 2.617 / gap^2."""
    common = (scores, "--item", "item", "--repeat", "run", "--score", "score", "--gap")

    assert "a gap of 1 between two items takes 3 readings of each" in run(*common, "1").stdout
    assert "unresolvable" in run(*common, "0.0001").stdout


def test_the_written_table_holds_what_was_printed(scores, tmp_path):
    out = tmp_path / "estimates.parquet"

    result = run(scores, "--repeat", "run", "--score", "score", "--out", out)

    frame = pd.read_parquet(out)
    assert result.exit_code == 0
    assert set(frame["analysis"]) >= {"spearman", "icc", "noise", "pass_fail_flip"}
    assert not frame["confirmatory"].any()


def test_rankings_in_text_are_read_at_three_granularities(tmp_path):
    """i0 keeps all; i1 swaps its last two of three: 2/3 of pairs; i2's second is none."""
    path = tmp_path / "r.csv"
    rows = [
        ("i0", 0, "a>b>c"), ("i0", 1, "a>b>c"), ("i1", 0, "a>b>c"), ("i1", 1, '["a","c","b"]'),
        ("i2", 0, "a>b>c"), ("i2", 1, "a>a>b"),
    ]  # fmt: skip
    pd.DataFrame(rows, columns=["item", "run", "ranking"]).to_csv(path, index=False)

    parts, _ = told(path, "--item", "item", "--repeat", "run", "--ranking", "ranking")

    found = parts["all"]["by_name"]
    assert found["ranking_exact"]["exact"] == "1/2"
    assert found["ranking_top1"]["exact"] == "1/1"
    assert found["ranking_pairwise"]["exact"] == "5/6"
    assert parts["all"]["excluded"] == {"not_a_permutation": 1}


def test_probabilities_outside_zero_and_one_are_out_of_scale(scores):
    edited(scores, lambda f: f.assign(p=[1.5, *[0.1 * (i % 9) for i in range(35)]]))

    parts, _ = told(scores, "--item", "item", "--repeat", "run", "--probability", "p")

    assert parts["all"]["excluded"] == {"out_of_scale": 1}


def test_a_cell_with_most_verdicts_invalid_is_warned_of(tmp_path):
    """46 of 48 invalid verdicts in one run."""
    path = tmp_path / "v.csv"
    rows = [
        {"item": i, "run": k, "verdict": None if k == 1 and i < 46 else "A"}
        for i in range(48)
        for k in range(2)
    ]
    pd.DataFrame(rows).to_csv(path, index=False)

    result = run(path, "--item", "item", "--repeat", "run", "--verdict", "verdict")

    assert "warning: run 1 lacks 46 of 48 readings" in result.stdout
    assert "verdict changes between two runs: 0  (0 of 2 items ever changed" in result.stdout
    assert "no valid verdict counted as an answer of its own: 0.958" in result.stdout


def test_windows_are_compared_first_against_last(scores):
    edited(scores, lambda f: f.assign(day=f["run"].map({"0": "a", "1": "a", "2": "b"})))

    parts, _ = told(
        scores, "--item", "item", "--repeat", "run", "--score", "score", "--window", "day"
    )

    assert parts["all"]["windows"] == 2
    assert parts["all"]["by_name"]["window_shift"]["value"] == pytest.approx(0.5)


def test_an_interval_that_is_not_proven_at_this_size_says_so_in_text_and_in_its_caveats(
    scores, tmp_path
):
    """Twelve items: coverage was not measured below thirty."""
    out = tmp_path / "estimates.parquet"

    result = run(scores, "--repeat", "run", "--score", "score", "--out", out)

    frame = pd.read_parquet(out).set_index("analysis")
    assert "coverage was not measured below 30 items, here 12" in result.stdout
    assert "below 30 items" in frame.loc["spearman", "caveats"]
    assert "below 30 items" not in frame.loc["pass_fail_flip", "caveats"]


def test_an_order_column_is_no_repeat(scores):
    edited(scores, lambda f: f.rename(columns={"run": "order"}))

    result = run(scores, "--item", "item", "--repeat", "order", "--score", "score")

    assert result.exit_code == 2
    assert "readings in two orders are no repeats; say --order order" in result.stderr


@pytest.mark.shared
def test_essay_scores_give_the_published_numbers(shared):
    """ICC(2,1) and mean pairwise Spearman of data/README.md; gemini misses 2 cells, 68 complete."""
    parts, _ = told(
        shared / "data/essay-scores/scores.csv",
        "--item", "item", "--repeat", "run", "--score", "score", "--by", "model,prompt",
    )  # fmt: skip

    def of(scope, name):
        return parts[scope]["by_name"][name]

    for prompt, agreement, order in (
        ("zero", 0.968869, 0.958162),
        ("few", 0.953346, 0.953173),
        ("lenient", 0.941737, 0.947980),
    ):
        scope = f"model=chatgpt, prompt={prompt}"
        assert of(scope, "icc_agreement")["value"] == pytest.approx(agreement, abs=5e-7)
        assert of(scope, "spearman")["value"] == pytest.approx(order, abs=5e-7)
    gemini = "model=gemini, prompt=lenient"
    assert of(gemini, "icc_agreement")["value"] == pytest.approx(0.948691, abs=5e-7)
    assert of(gemini, "icc_agreement")["n"]["items"] == 68
    assert of(gemini, "spearman")["value"] == pytest.approx(0.898425, abs=5e-7)
    assert parts[gemini]["excluded"] == {"absent": 2}


@pytest.mark.shared
def test_coin_flips_give_their_definition_and_ours(shared):
    """.0276 and .0793 are shares of runs unlike the majority; q019 and q023 are exact ties."""
    parts, document = told(
        shared / "data/coin-flip/verdicts.csv",
        "--item", "item", "--repeat", "run", "--verdict", "verdict", "--by", "judge",
    )  # fmt: skip

    facts = [part["facts"] for part in parts.values()]
    assert sorted(round(f["unlike_majority"], 4) for f in facts) == [0.0276, 0.0793]
    assert sum(f["tied_majorities"] for f in facts) == 2
    assert "some call this the flip rate" in "\n".join(document["text"])


@pytest.mark.shared
def test_summeval_experts_give_the_published_numbers(shared):
    """ICC(2,1) .573, ICC(2,k) .801; pairwise Spearman .7146 .6292 .6226, mean .65547."""
    parts, _ = told(
        shared / "data/summeval-experts/ratings.csv",
        "--item", "item", "--repeat", "rater", "--score", "score",
    )  # fmt: skip

    found = parts["all"]["by_name"]
    assert found["icc_agreement"]["value"] == pytest.approx(0.573, abs=5e-4)
    assert found["icc_agreement"]["details"]["mean_of_k"] == pytest.approx(0.801, abs=5e-4)
    mean = (0.7146 + 0.6292 + 0.6226) / 3
    assert found["spearman"]["value"] == pytest.approx(mean, abs=5e-5)
    assert found["ordinal_alpha"]["value"] == pytest.approx(0.554, abs=5e-4)


@pytest.mark.shared
def test_llmbar_orders_give_the_published_numbers(shared):
    """GPT-4 / Vanilla 95 of 100, kappa .8977; ChatGPT / CoT 64 of 100, kappa .3521 or .3577."""
    parts, _ = told(
        shared / "data/llmbar-natural/two-order-verdicts.csv",
        "--item", "item", "--order", "order", "--verdict", "verdict", "--gold", "gold",
        "--by", "judge,prompt",
    )  # fmt: skip

    gpt4 = parts["judge=GPT-4, prompt=Vanilla"]["by_name"]
    chatgpt = parts["judge=ChatGPT, prompt=CoT"]["by_name"]
    assert gpt4["order_flip"]["exact"] == "1/20"
    assert gpt4["kappa"]["value"] == pytest.approx(0.8977, abs=5e-5)
    assert chatgpt["order_flip_all_answers"]["exact"] == "9/25"
    assert chatgpt["kappa_all_answers"]["value"] == pytest.approx(0.3521, abs=5e-5)
    assert chatgpt["kappa"]["value"] == pytest.approx(0.3577, abs=5e-5)


@pytest.mark.shared
def test_variance_runs_are_refused_cold_and_flagged_warm(shared):
    folder = shared / "data/variance-runs"
    common = ("--item", "subset,id", "--verdict", "results")

    warm = run(folder / "run1.jsonl", folder / "run2.jsonl", *common)
    cold = run(folder / "cold1.jsonl", folder / "cold2.jsonl", *common)

    assert warm.exit_code == 0
    assert "possible cache" in warm.stdout
    assert "0 of 1763 items ever changed" in warm.stdout
    assert "empty 204" in warm.stdout
    assert cold.exit_code == 2
    assert "the candidate order was drawn anew in each run" in cold.stderr


@pytest.mark.shared
@pytest.mark.parametrize(("a", "b", "differing"), [(1, 2, 527), (1, 3, 536), (2, 3, 517)])
def test_cold_runs_differ_as_published_once_they_are_called_orders(
    shared, tmp_path, a, b, differing
):
    """527, 536 and 517 of 1,763 results differ; as orders they may be compared, not as repeats."""
    lines = []
    for run_ in (a, b):
        text = (shared / f"data/variance-runs/cold{run_}.jsonl").read_text().splitlines()[1:]
        lines += [json.dumps(json.loads(line) | {"order": run_}) for line in text]
    path = tmp_path / "orders.jsonl"
    path.write_text("\n".join(lines))

    parts, _ = told(path, "--item", "subset,id", "--order", "order", "--verdict", "results")

    found = parts["all"]["by_name"]["order_flip"]
    assert found["n"]["comparisons"] == 1763
    assert found["n"]["alike"] == differing
