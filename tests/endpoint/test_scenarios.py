"""Each scenario's planted truth lies in the exact 99 % interval of its estimate.

Items are independent (their texts are hashed), so counts over items are binomial.
"""

import json
import math
from itertools import combinations

import pytest
from scipy.stats import binom, binomtest, chi2

from judgeaudit.canonical import body_bytes, digest
from judgeaudit.endpoint.simulated import SCENARIOS, Virtual, quality, reply, scenario
from judgeaudit.endpoint.simulated.planted import (
    kendall,
    memory_luck,
    order_chances,
    ranking_agreement,
    score_sd,
    verdict_agreement,
)
from judgeaudit.errors import InputError

DAY_NS = 86_400_000_000_000
SEED = 7

LABEL = (
    'Problem {n}: is the proof right?\n"{plus}" means correct, "{minus}" means incorrect.\n'
    "Answer with exactly one of: A, B"
)
VERDICT = (
    "A: answer one of item {n}\n\nB: answer two of item {n}\n\nAnswer with exactly one of: A, B"
)


def raw(name, prompt, t=0, *, attempt=1, load=1, seed=SEED, api="openai.chat", **params):
    """The whole `SimReply`; `prompt` is a user message."""
    body = {"model": "judge", "messages": [{"role": "user", "content": prompt}], **params}
    if api == "anthropic.messages":
        body.setdefault("max_tokens", 300)
    name_of_body = digest(body_bytes(body))
    judge = scenario(name) if isinstance(name, str) else name
    return reply(judge, seed, body, name_of_body, Virtual(t, attempt, load), api=api)


def content(sim):
    """The answer's text in an OpenAI reply."""
    return json.loads(sim.body)["choices"][0]["message"]["content"]


def ranking_prompt(number, n=10):
    """Item `number`, n candidates under bracketed aliases."""
    shown = "\n\n".join(
        f"[{alias}] candidate {alias} of item {number}" for alias in "ABCDEFGHIJ"[:n]
    )
    return f'{shown}\n\nRank them. Answer with one JSON object: {{"ranking": [...]}}'


def ranked(text):
    return json.loads(text)["ranking"]


def inside(planted, count, total, *, of=1):
    """Whether the planted share lies in the exact (Clopper-Pearson) 99 % interval of count/total.

    Where one estimate has several shares, `of` of them, the 99 % are for all together (Bonferroni).
    """
    found = binomtest(count, total).proportion_ci(1 - 0.01 / of, "exact")
    return found.low <= planted <= found.high


def pairs_of(name, items, *, n=10, t=(1, 2), load=1):
    """The two rankings of each item at two moments."""
    return [
        tuple(
            ranked(content(raw(name, ranking_prompt(item, n), moment, load=load))) for moment in t
        )
        for item in range(items)
    ]


def logit(n, plus, minus, name, t=0):
    """ln p(plus) - ln p(minus) in one arm of item n."""
    prompt = LABEL.format(n=n, plus=plus, minus=minus)
    sim = raw(name, prompt, t, logprobs=True, top_logprobs=5)
    entries = json.loads(sim.body)["choices"][0]["logprobs"]["content"][0]["top_logprobs"]
    found = {entry["token"]: entry["logprob"] for entry in entries}
    return found[plus] - found[minus]


@pytest.mark.parametrize("n", [2, 4, 10])
def test_one_layer_of_swaps_has_its_closed_form(n):
    """f = .104: full (1-f)^2 + f^2/(n-1), top-1 with q = f/(n-1), pairwise by expected distance."""
    f, q = 0.104, 0.104 / (n - 1)
    found = ranking_agreement(scenario("shared-floor"), n)

    distance = 2 * f * (1 - f) + 2 * f**2 * (n - 2) / (n - 1)
    assert found.full == pytest.approx((1 - f) ** 2 + f**2 / (n - 1))
    assert found.top1 == pytest.approx((1 - q) ** 2 + q**2)
    assert found.pairwise == pytest.approx(1 - distance / math.comb(n, 2))


def test_stable_repeats_every_answer_at_any_time_attempt_and_load():
    prompts = [ranking_prompt(1), LABEL.format(n=1, plus="A", minus="B"), VERDICT.format(n=1)]
    for prompt in [*prompts, "Give a number from 1 to 5.", "Say why."]:
        moments = [(0, 1, 1), (5 * DAY_NS, 2, 8)]
        answers = {content(raw("stable", prompt, t, attempt=a, load=w)) for t, a, w in moments}
        assert len(answers) == 1


def test_stable_ranks_by_planted_quality():
    """The public `quality` of each candidate's text recomputes the truth."""
    answer = ranked(content(raw("stable", ranking_prompt(3))))
    worth = {a: quality(7, f"candidate {a} of item 3") for a in answer}

    assert answer == sorted(worth, key=worth.get, reverse=True)


def test_shared_floor_agreement_at_three_granularities():
    pairs = pairs_of("shared-floor", 1000)
    planted = ranking_agreement(scenario("shared-floor"), 10)
    distances = [kendall(tuple(a), tuple(b)) for a, b in pairs]

    assert inside(planted.full, distances.count(0), 1000)
    assert inside(planted.top1, sum(a[0] == b[0] for a, b in pairs), 1000)
    orders = order_chances(10, [0.104])
    for d in (1, 2):  # the pairwise agreement is 1 - E[distance]/45, and distance is 0, 1 or 2
        chance = sum(
            p * q for a, p in orders.items() for b, q in orders.items() if kendall(a, b) == d
        )
        assert inside(chance, distances.count(d), 1000)


def test_shared_floor_is_the_same_within_and_between_days():
    pairs = pairs_of("shared-floor", 600, t=(1, 3 * DAY_NS))

    assert inside(ranking_agreement(scenario("shared-floor"), 10).full, matches(pairs), 600)


def matches(pairs):
    return sum(a == b for a, b in pairs)


def test_drift_day_agrees_less_between_days_than_within():
    judge = scenario("drift-day")
    within = ranking_agreement(judge, 10)
    between = ranking_agreement(judge, 10, same_day=False)

    assert within.full - between.full >= 0.15
    assert inside(within.full, matches(pairs_of("drift-day", 600, t=(1, 2))), 600)
    assert inside(between.full, matches(pairs_of("drift-day", 600, t=(1, DAY_NS + 1))), 600)


def test_drift_day_moves_verdicts_by_its_planted_chances():
    judge, count = scenario("drift-day"), 1500
    for t, same_day in ((2, True), (DAY_NS + 1, False)):
        same = sum(
            content(raw("drift-day", VERDICT.format(n=n), 1))
            == content(raw("drift-day", VERDICT.format(n=n), t))
            for n in range(count)
        )
        assert inside(verdict_agreement(judge, same_day=same_day), same, count)


def test_load_dependent_is_exact_alone_and_noisy_in_company():
    assert matches(pairs_of("load-dependent", 200, n=4)) == 200
    planted = ranking_agreement(scenario("load-dependent"), 4, loaded=True).full

    assert inside(planted, matches(pairs_of("load-dependent", 1000, n=4, load=8)), 1000)


def test_label_bias_has_its_planted_median():
    """b_map = (z_fwd - z_rev)/2; exact 99 % sign interval of the median of 400 items."""
    b = [
        (logit(n, "A", "B", "label-bias") - logit(n, "B", "A", "label-bias")) / 2
        for n in range(400)
    ]
    below = sum(value < 0.3125 for value in b)

    assert binom.ppf(0.005, 400, 0.5) <= below <= binom.ppf(0.995, 400, 0.5)


def test_a_judge_without_label_bias_agrees_with_itself_under_either_mapping():
    for n in range(20):
        assert logit(n, "A", "B", "stable") == pytest.approx(logit(n, "B", "A", "stable"))


def test_labels_carry_the_planted_mass():
    prompt = LABEL.format(n=1, plus="A", minus="B")
    body = json.loads(raw("stable", prompt, logprobs=True, top_logprobs=20).body)
    position = body["choices"][0]["logprobs"]["content"][0]
    shares = {e["token"]: math.exp(e["logprob"]) for e in position["top_logprobs"]}

    assert shares["A"] + shares["B"] == pytest.approx(0.999)
    assert sum(shares.values()) == pytest.approx(1)
    assert position["token"] == max(shares, key=shares.get)


def test_noisy_flips_verdicts_by_its_planted_chance():
    count = 1000
    same = sum(
        content(raw("noisy", VERDICT.format(n=n), 1))
        == content(raw("noisy", VERDICT.format(n=n), 2))
        for n in range(count)
    )

    assert inside(verdict_agreement(scenario("noisy")), same, count)
    assert verdict_agreement(scenario("noisy")) == pytest.approx(0.82)  # .9^2 + .1^2


def test_noisy_scores_have_their_planted_deviation():
    """A step up or down with chance .16: variance .16, and 0 deviation in the stable twin."""
    count, moved = 1000, 0
    for n in range(count):
        prompt = f"Item {n}. Answer with a number from 1 to 5."
        gap = int(content(raw("noisy", prompt))) - int(content(raw("stable", prompt)))
        assert gap in (-1, 0, 1)
        moved += abs(gap)

    assert score_sd(scenario("noisy")) == pytest.approx(0.4)
    assert inside(0.4**2, moved, count)


def test_noisy_logits_have_their_planted_deviation():
    """Exact chi-square interval of the variance of 400 normal shifts around the stable logit."""
    shifts = [logit(n, "A", "B", "noisy") - logit(n, "A", "B", "stable") for n in range(400)]
    total = sum(shift**2 for shift in shifts)

    assert total / chi2.ppf(0.995, 400) <= 0.3**2 <= total / chi2.ppf(0.005, 400)


def test_fingerprint_churn_changes_fingerprints_and_nothing_else():
    sims = [json.loads(raw("fingerprint-churn", ranking_prompt(1), t).body) for t in range(400)]

    assert len({sim["system_fingerprint"] for sim in sims}) == 19
    assert len({sim["choices"][0]["message"]["content"] for sim in sims}) == 1


def test_alias_move_changes_the_returned_model_from_day_to_day():
    models = [
        json.loads(raw("alias-move", "Say why.", t).body)["model"]
        for t in (0, DAY_NS - 1, DAY_NS, 2 * DAY_NS)
    ]

    assert models[0] == models[1]
    assert len(set(models)) == 3


def test_bare_array_is_bare_ten_times_of_ten_for_the_same_bodies():
    """CE's incident: one probe answered with a bare array on each of ten windows."""
    shapes = [
        {content(raw("bare-array", ranking_prompt(n), t))[0] for t in range(10)} for n in range(200)
    ]

    assert all(len(shape) == 1 for shape in shapes)
    assert inside(0.1, shapes.count({"["}), 200)


def test_invalid_some_spoils_planted_shares_of_bodies_every_time():
    count = 2000
    kinds = [kind_of(n, t=0) for n in range(count)]

    for kind, planted in (("unparsed", 0.04), ("refused", 0.03), ("cut", 0.02), ("empty", 0.01)):
        assert inside(planted, kinds.count(kind), count, of=4)
    assert kinds[:300] == [kind_of(n, t=5) for n in range(300)]


def kind_of(n, t):
    choice = json.loads(raw("invalid-some", ranking_prompt(n, 4), t).body)["choices"][0]
    text = choice["message"]["content"]
    if choice["message"]["refusal"] is not None:
        return "refused"
    if choice["finish_reason"] == "length":
        return "cut"
    if text == "":
        return "empty"
    return "valid" if text.startswith("{") else "unparsed"


def test_rate_limited_refuses_its_share_of_first_attempts_and_no_second_one():
    count = 1000
    first = [raw("rate-limited", f"Say why {n}.") for n in range(count)]
    limited = [sim for sim in first if sim.status == 429]

    assert inside(0.2, len(limited), count)
    assert all(dict(sim.headers)["retry-after"] == "1" for sim in limited)
    assert all(raw("rate-limited", f"Say why {n}.", attempt=2).status == 200 for n in range(200))


def test_flaky_transport_fails_its_shares_of_first_attempts_and_no_second_one():
    count = 2000
    sims = [raw("flaky-transport", f"Say why {n}.") for n in range(count)]
    wires = [sim.wire for sim in sims]

    for wire, planted in (("drop", 0.05), ("late", 0.02), ("cut", 0.05)):
        assert inside(planted, wires.count(wire), count, of=4)
    assert inside(0.05, sum(sim.status == 503 for sim in sims), count, of=4)
    again = [raw("flaky-transport", f"Say why {n}.", attempt=2) for n in range(300)]
    assert {(sim.status, sim.wire) for sim in again} == {(200, "")}


def test_a_late_answer_has_a_virtual_latency_beyond_any_timeout():
    sims = [raw("flaky-transport", f"Say why {n}.") for n in range(300)]
    late = next(sim for sim in sims if sim.wire == "late")

    assert int(dict(late.headers)["x-judgeaudit-virtual-latency-ms"]) == 3_600_000


def test_order_bias_favours_the_candidate_shown_first():
    """Quality differs by N(0, 2): the first of two wins with chance Phi(.5 / sqrt 2)."""
    wins = sum(content(raw("order-bias", VERDICT.format(n=n))) == "A" for n in range(1000))

    assert inside(0.5 * (1 + math.erf(0.5 / 2)), wins, 1000)


@pytest.mark.parametrize(
    ("name", "status", "code"),
    [
        ("quota", 429, "insufficient_quota"),
        ("auth", 401, "invalid_api_key"),
        ("notfound", 404, "model_not_found"),
        ("badrequest", 400, "unsupported_parameter"),
    ],
)
def test_error_injectors_fail_every_attempt(name, status, code):
    for attempt in (1, 2, 9):
        sim = raw(name, "Say why.", attempt=attempt)
        assert sim.status == status
        assert json.loads(sim.body)["error"]["code"] == code


def test_a_reply_does_not_depend_on_the_attempt():
    """A call sent again after its reply was lost gets the reply that was lost."""
    for name in ("noisy", "shared-floor", "drift-day"):
        first, second = (
            [content(raw(name, ranking_prompt(n), attempt=a)) for n in range(50)] for a in (1, 2)
        )
        assert first == second


def test_another_seed_is_another_judge():
    answers = [content(raw("stable", ranking_prompt(1), seed=seed)) for seed in range(5)]

    assert all(a != b for a, b in combinations(answers, 2))


@pytest.mark.parametrize("name", sorted(SCENARIOS))
def test_every_reply_says_that_it_is_simulated(name):
    sim = raw(name, "Say why.", attempt=2)

    assert dict(sim.headers)["x-judgeaudit-simulated"] == name
    if sim.wire != "hang":
        assert b"simulated" in sim.body.lower()


def test_a_name_can_set_parameters():
    assert scenario("superstitious-agent:0.352").carry == 0.352
    assert scenario("superstitious-agent:0.2,base=0.01").base == 0.01
    assert scenario("shared-floor:call.swap=0.5,call.flip=0").call.swap == 0.5
    assert scenario("fingerprint-churn:fingerprints=3").fingerprints == 3


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("stabel", "no scenario 'stabel'; one of alias-move"),
        ("stable:speed=2", "no parameter 'speed'"),
        ("stable:2", "'2'; write key=value"),
        ("shared-floor:call.swap=much", "call.swap: 'much' is no number"),
        ("shared-floor:call.swap=1.5", "call.swap: 1.5 is no share"),
        ("fingerprint-churn:fingerprints=0.5", "fingerprints: 0.5 is no whole number"),
    ],
)
def test_a_wrong_name_is_told_in_one_line(name, words):
    with pytest.raises(InputError) as caught:
        scenario(name)

    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_agents_have_their_planted_carry():
    assert memory_luck(scenario("bayes-agent"))["carry"] == 0
    assert memory_luck(scenario("superstitious-agent:0.181"))["carry"] == 0.181
    assert memory_luck(scenario("random-agent"))["other"] == 0.5
