"""Every problem at once, each with its key path: one study a class of problem."""

import pytest

from judgeaudit.analysis.catalogue import NAMES
from judgeaudit.design.check.study import check, lines
from judgeaudit.errors import RegistrationError
from judgeaudit.evidence.lock.sources import load_study
from judgeaudit.study.sound import sound

GATE = '\n[[gates]]\nid = "g"\nstatistic = "number_exact"\nat_least = 0.9\n'


@pytest.fixture
def problems(make):
    """The problems of the small study with changes, as text."""

    def _problems(statistics=NAMES, **changes):
        report = check(load_study(make(**changes)), statistics)
        return [str(problem) for problem in report.problems]

    return _problems


def test_the_small_study_is_sound(make):
    report = check(load_study(make()), NAMES)

    assert report.problems == ()
    assert report.numbers.calls == 68


def test_every_problem_is_listed_at_once(problems):
    """Four faults in four places, none hiding another: clock, header, claim, gate."""
    found = problems(
        replace={
            "seed = 7": 'seed = 7\nclock = "virtual"',
            'model = "judge-a"': 'model = "judge-a"\nheaders = { Authorization = "x" }',
            'claim = "score"': 'claim = "choice"',
            "[controls]": GATE.replace("number_exact", "ranking_exact") + "[controls]",
        }
    )

    assert sorted(line.split(":")[0] for line in found) == [
        "endpoints[0].headers.Authorization",
        "gates[0].statistic",
        "schedule.clock",
        "study.claim",
    ]


ONE_PROBLEM = {
    "unknown key": (
        {"cap = 1000": "cap = 1000\ncapp = 3"},
        "schedule.capp: unknown key; known here: block, budget, cap, chunk",
    ),
    "missing key": ({"cap = 1000": ""}, "schedule.cap: missing"),
    "wrong type": ({"cap = 1000": 'cap = "many"'}, "schedule.cap: found 'many'"),
    "not an integer": ({"cap = 1000": "cap = 1000.5"}, "schedule.cap: found 1000.5"),
    "out of range": ({"repeats = 2": "repeats = 0"}, "schedule.repeats: found 0"),
    "no such choice": (
        {"seed = 7": 'seed = 7\norder = "random"'},
        "schedule.order: found 'random'; Input should be 'interleaved' or 'blocked'",
    ),
    "no duration": (
        {"seed = 7": 'seed = 7\nmin_gap = "2 hours"'},
        "schedule.min_gap: '2 hours' is no duration",
    ),
    "two endpoints with one id": (
        {'id = "b"': 'id = "a"'},
        "endpoints[0] and endpoints[1] share the id 'a'",
    ),
    "unknown claim": ({'claim = "score"': 'claim = "quality"'}, "study.claim: found 'quality'"),
    "no protocol file": (
        {"[controls]": '[protocol]\nfile = "none.toml"\n[controls]'},
        "protocol.file: none.toml: No such file",
    ),
    "claim that the readout cannot carry": (
        {'claim = "score"': 'claim = "choice"'},
        "study.claim: 'choice', but the protocol's readout is score; readouts for this claim",
    ),
    "secret in params": (
        {'model = "judge-a"': 'model = "judge-a"\nparams = { user = "sk-abcdefghijklmnopqrstu" }'},
        "endpoints[0].params.user: looks like a secret",
    ),
    "secret by its name": (
        {'model = "judge-a"': 'model = "judge-a"\nparams = { api_key = "plain" }'},
        "endpoints[0].params.api_key: looks like a secret",
    ),
    "secret in notes": (
        {'claim = "score"': 'claim = "score"\nnotes = "Bearer abcdefghijkl"'},
        "study.notes: looks like a secret",
    ),
    "secret header": (
        {'model = "judge-a"': 'model = "judge-a"\nheaders = { X-Api-Key = "" }'},
        "endpoints[0].headers.X-Api-Key: a header that carries a secret; name it in key_env",
    ),
    "key instead of its variable": (
        {'model = "judge-a"': 'model = "judge-a"\nkey_env = "sk-abcdefghijklmnopqrstuvw"'},
        "endpoints[0].key_env: not the name of an environment variable",
    ),
    "password in the URL": (
        {"http://127.0.0.1:9/v1": "http://me:pw@127.0.0.1:9/v1"},
        "endpoints[1].base_url: user name or password in the URL",
    ),
    "key in the query": (
        {"http://127.0.0.1:9/v1": "http://127.0.0.1:9/v1?key=abc"},
        "endpoints[1].base_url: query parameter 'key' in the URL",
    ),
    "no URL": (
        {"http://127.0.0.1:9/v1": "127.0.0.1:9"},
        "endpoints[1].base_url: found '127.0.0.1:9'; http(s)://HOST",
    ),
    "NaN in params": (
        {'model = "judge-a"': 'model = "judge-a"\nparams = { x = [1.5, nan] }'},
        "endpoints[0].params.x[1]: found NaN; JSON has no such number",
    ),
    "infinity in params": (
        {'model = "judge-a"': 'model = "judge-a"\nparams = { x = inf }'},
        "endpoints[0].params.x: found Infinity; JSON has no such number",
    ),
    "unknown decoding": (
        {'model = "judge-a"': 'model = "judge-a"\ndecoding = { top_k = 3 }'},
        "endpoints[0].decoding.top_k: not an API-neutral parameter",
    ),
    "parameter that is set twice": (
        {'model = "judge-a"': 'model = "judge-a"\nparams = { temperature = 1 }'},
        "endpoint a: params.temperature: the field is set from the protocol already",
    ),
    "API version missing": (
        {
            'api = "openai.chat"\nbase_url = "embedded': (
                'api = "anthropic.messages"\nbase_url = "embedded'
            )
        },
        "endpoint a: api_version: missing",
    ),
    "a number for a table": (
        {'model = "judge-a"': 'model = "judge-a"\nprices = 0.01'},
        "endpoints[0].prices: found 0.01; give a table with keys of: completion, currency, prompt",
    ),
    "cap below the plan": (
        {"cap = 1000": "cap = 67"},
        "schedule.cap: 67 attempts, but the plan has 68 calls with its controls; at least 68",
    ),
    "virtual clock over a real endpoint": (
        {"seed = 7": 'seed = 7\nclock = "virtual"'},
        "schedule.clock: virtual, but endpoint 'b' is at 'http://127.0.0.1:9/v1'",
    ),
    "days without a gap": (
        {"days = 1": 'days = 2\nday_gap = "0s"'},
        "schedule.day_gap: 0 between 2 days",
    ),
    "start without a time zone": (
        {"seed = 7": "seed = 7\nstart = 2026-12-01T06:00:00"},
        "schedule.start: no time zone",
    ),
    "draws that nothing aggregates": (
        {"cap = 1000": "cap = 1000\ndraws = 3"},
        "unit.k: 1 draws in one reading, but schedule.draws = 3",
    ),
    "aggregate missing": (
        {"cap = 1000": "cap = 1000\ndraws = 3", "[controls]": "[unit]\nk = 3\n[controls]"},
        "unit.aggregate: none, with k above 1",
    ),
    "unknown statistic": (
        {"[controls]": GATE.replace("number_exact", "goodness") + "[controls]"},
        "gates[0].statistic: unknown statistic 'goodness'; known: ",
    ),
    "unknown sensitivity": (
        {"[controls]": GATE + 'sensitivity = ["goodness"]\n[controls]'},
        "gates[0].sensitivity[0]: unknown statistic 'goodness'",
    ),
    "unknown analysis": (
        {"analyses = []": 'analyses = ["goodness"]'},
        "analyses[0]: unknown statistic 'goodness'",
    ),
    "day gate without days": (
        {"[controls]": GATE + 'over = "next_day"\n[controls]'},
        "gates[0].over: 'next_day' compares different days, of which there is one; "
        "set schedule.days to 2",
    ),
    "repeat gate without repeats": (
        {"[controls]": GATE + "[controls]", "repeats = 2": "repeats = 1"},
        "gates[0].over: 'same_window' compares repeats within a window, of which there are none",
    ),
    "condition gate with one condition": (
        {"[controls]": GATE + 'over = "conditions"\n[controls]'},
        "gates[0].over: 'conditions' compares conditions, of which there is one",
    ),
    "comparison that a statistic cannot make": (
        {"[controls]": GATE + 'over = "gold"\n[controls]'},
        "gates[0].over: 'number_exact' cannot be taken over 'gold'",
    ),
    "gate at another granularity than the claim": (
        {"[controls]": GATE.replace("number_exact", "ranking_top1") + "[controls]"},
        "gates[0].statistic: 'ranking_top1' speaks of top1, the claim is score; "
        "gate at the claim's granularity",
    ),
    "statistic that may not gate": (
        {"[controls]": GATE.replace("number_exact", "controls") + "[controls]"},
        "gates[0].statistic: 'controls' cannot gate",
    ),
    "gate with two thresholds": (
        {"[controls]": GATE + "at_most = 0.99\n[controls]"},
        "gates[0]: give exactly one of at_least, at_most, band",
    ),
    "gate over an endpoint that is not there": (
        {"[controls]": GATE + 'where = { endpoint = "z" }\n[controls]'},
        "gates[0].where.endpoint: found 'z'; one of a, b",
    ),
    "gate over a condition that is not there": (
        {"[controls]": GATE + 'where = { condition = "z" }\n[controls]'},
        "gates[0].where.condition: found 'z'; one of quiet",
    ),
}


@pytest.mark.parametrize("case", ONE_PROBLEM)
def test_a_registration_with_one_fault_has_one_problem(problems, case):
    changes, expected = ONE_PROBLEM[case]

    found = problems(replace=changes)

    assert len(found) == 1, found
    assert expected in found[0]


def test_a_file_that_is_not_toml_is_told_with_its_line(problems):
    (found,) = problems(replace={"[schedule]": "[schedule"})

    assert found.startswith("registration.toml: not TOML 1.0:")
    assert "line" in found


def test_log_probabilities_on_an_api_that_gives_none_are_refused(problems):
    """CE's D1 readout cannot be had from Anthropic; the finding names the endpoint once."""
    found = problems(
        protocol="label-pair",
        replace={
            'claim = "score"': 'claim = "probability"',
            'api = "openai.chat"\nbase_url = "embedded': (
                'api_version = "2023-06-01"\napi = "anthropic.messages"\nbase_url = "embedded'
            ),
        },
    )

    assert found == [
        "endpoint a: top_logprobs: the Messages API gives no log-probabilities; "
        "choose another readout or another API"
    ]


def protocol_toml(prompt='"{question} {candidate}"', readout="score", options=None):
    options = options or "scale = { low = 1, high = 5 }"
    return (
        f'name = "p"\nversion = "1"\nreadout = "{readout}"\n[options]\n{options}\n'
        f"[prompt]\nuser = {prompt}\n"
    )


def test_more_alternatives_than_the_api_shows_are_refused(problems):
    options = 'labels = { correct = "A", incorrect = "B" }\ntop_logprobs = 50'
    prompt = '"{question} {candidate} {label_correct} {label_incorrect}"'
    toml = protocol_toml(prompt, "label_logprob", options)

    found = problems(toml=toml, replace={'claim = "score"': 'claim = "probability"'})

    assert "endpoint a: top_logprobs: 50; this API gives 0 to 20" in found


def test_a_placeholder_without_a_field_is_named_with_its_line(problems):
    (found,) = problems(toml=protocol_toml("'''\n{question}\n{candidate}\n{hint}'''"))

    assert found == (
        "items 'i0', 'i1', 'i2' and 6 more: prompt: user, line 3: "
        "placeholder {hint} has no field in this item"
    )


def test_an_unpaired_brace_is_named_with_its_line(problems):
    (found,) = problems(toml=protocol_toml('"{question} {candidate}\\nanswer {"'))

    assert found.startswith("protocol.prompt, user, line 2: unpaired '{'")


def test_options_of_a_readout_are_checked_with_their_key(problems):
    (found,) = problems(toml=protocol_toml(options="scale = { low = 5, high = 1 }"))

    assert found.startswith("protocol.options.scale: ")
    assert "low must be below high" in found


def test_an_unknown_readout_is_named(problems):
    found = problems(toml=protocol_toml(readout="vibes"))

    assert any(line.startswith("protocol.readout: no readout 'vibes'; one of") for line in found)


def test_a_protocol_with_an_unknown_key_is_named_with_its_file(problems):
    (found,) = problems(toml='colour = "red"\n' + protocol_toml())

    assert found.startswith("protocol.toml: colour: unknown key; known here: battery_defaults")


def test_nan_in_the_protocol_is_named(problems):
    (found,) = problems(toml=protocol_toml() + "[decoding]\ntemperature = nan\n")

    assert found.endswith("decoding.temperature: found NaN; JSON has no such number")


def test_a_template_that_shows_nothing_of_the_item_is_refused(problems):
    """Eight items with one prompt would be one item asked eight times."""
    (found,) = problems(toml=protocol_toml('"How good is it?"'))

    assert found == "prompt: all 8 items give the same prompt; show {fields} of them"


def test_a_template_that_hides_what_its_arms_vary_is_refused(problems, an_item):
    pairs = [{"id": "c1", "text": "yes"}, {"id": "c2", "text": "no"}]
    items = [an_item(n, candidates=pairs) for n in range(2)]
    options = 'categories = ["A", "B"]\norders = "both"'
    toml = protocol_toml('"{question} A or B?"', "verdict", options)
    claim = {'claim = "score"': 'claim = "verdict"'}

    (found,) = problems(toml=toml, items=items, controls=[], replace=claim)

    assert found.startswith("items 'i0', 'i1': prompt: arms as-given and swapped read the same")


def test_candidates_that_read_the_same_fail_the_battery(problems, an_item):
    """CE's gate I-2R: candidates of one item are pairwise distinct as rendered."""
    twins = [{"id": "c1", "text": "42"}, {"id": "c2", "text": "42"}]
    items = [an_item(n, candidates=twins) for n in range(2)]
    ranking = {'claim = "score"': 'claim = "ranking"'}

    found = problems("ranking", protocol="ranking", items=items, controls=[], replace=ranking)

    assert found == ["items 'i0', 'i1': two candidates read the same: '42'"]


def test_an_identical_control_may_have_candidates_that_read_the_same(problems, an_item):
    two = [{"id": "c1", "text": "41"}, {"id": "c2", "text": "42"}]
    same = [{"id": "c1", "text": "42"}, {"id": "c2", "text": "42"}]
    control = an_item(0, id="x", candidates=same, meta={"control": "identical"})
    items = [an_item(n, candidates=two) for n in range(2)]
    ranking = {'claim = "score"': 'claim = "ranking"'}

    assert problems(protocol="ranking", items=items, controls=[control], replace=ranking) == []


def test_a_lone_surrogate_is_refused(problems, an_item):
    """JSON can write half a character; UTF-8 cannot, so no body could be made."""
    items = [an_item(n) for n in range(3)]
    items[1]["fields"] = {"question": "What is \ud800?"}

    (found,) = problems(items=items)

    assert found.startswith("item 'i1': ")
    assert "surrogate" in found


def test_a_duplicate_id_is_named_with_both_lines(problems, an_item):
    (found,) = problems(items=[an_item(0), an_item(1), an_item(0)])

    assert found.startswith("items.jsonl, line 3: id 'i0' is taken by line 1")


def test_a_control_with_an_items_id_is_refused(problems, an_item):
    (found,) = problems(controls=[an_item(3, meta={"control": "gold"})])

    assert found == "item 'i3': duplicate id; give every item an id of its own"


def test_a_control_that_says_not_which_is_refused(problems, an_item):
    (found,) = problems(controls=[an_item(3, id="x")])

    assert found.startswith("control 'x': meta.control is missing")


def test_a_cell_that_takes_from_no_earlier_stage_is_refused(problems):
    toml = """
name = "p"
version = "1"
[[stages]]
readout = "score"
options = { scale = { low = 1, high = 5 } }
prompt = { user = "{question} {memory}" }
[[stages.cells]]
name = "x"
take = [{ field = "memory", cell = "y" }]
"""
    (found,) = problems(toml=toml)

    assert found == "protocol.stages[0].cells[0].take[0].stage: found 1; a stage before 1"


def test_statistics_that_nobody_could_check_are_noted(make):
    report = check(load_study(make(replace={"[controls]": GATE + "[controls]"})), None)

    assert report.ok
    assert "the names of statistics were not checked" in report.notes


def test_what_weakens_a_study_is_noted_and_stops_nothing(make):
    changes = {
        "[controls]": GATE + "[controls]",
        "cap = 1000": "cap = 69",
        "[[schedule.conditions]]": (
            '[[schedule.conditions]]\nname = "loaded"\nin_flight = 4\n[[schedule.conditions]]'
        ),
        "seed = 7": 'seed = 7\norder = "blocked"',
        "windows_per_day = 2": "windows_per_day = 1",
    }
    report = check(load_study(make(replace=changes)), NAMES)
    text = "\n".join(report.notes)

    assert report.ok
    assert "order is blocked" in text
    assert "every gate frozen like this is exploratory" in text
    assert "leaves 1 attempts for retries" in text
    assert "nothing says what instability is tolerable" in text


def test_a_study_with_problems_is_refused_with_all_of_them(make):
    draft = load_study(make(replace={"cap = 1000": 'cap = "many"', "seed = 7": ""}))

    with pytest.raises(RegistrationError) as caught:
        sound(draft)

    assert {problem.key for problem in caught.value.problems} == {"schedule.cap", "schedule.seed"}


def test_a_report_reads_as_lines(make):
    report = check(load_study(make(replace={"cap = 1000": "cap = 9"})), NAMES)

    assert next(lines(report)).startswith("problem: schedule.cap: 9 attempts")
