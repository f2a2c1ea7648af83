"""Where an answer stands: whole, a line, after a prefix, between marks, past a reasoning block."""

import pytest

from judgeaudit.instrument.readout import options_problems
from judgeaudit.model import Reason, Reply

AB = ["A", "B", "tie"]
THINK = ["<think>", "</think>"]


@pytest.fixture
def verdict(make, item):
    """`verdict(text, **options)` reads a verdict on c1 (A) and c2 (B)."""

    def _read(text, **options):
        readout = make("verdict", "{candidate_1} {candidate_2}", categories=AB, **options)
        return readout.read(Reply(text, "stop"), item("x", "y"), "as-given")

    return _read


STEPS = "Step one ...\nSo it is B.\n[[B]]"


@pytest.mark.parametrize(
    ("text", "options"),
    [
        (STEPS, {"pattern": "marker", "marker": "[[{}]]"}),
        ("Because it adds up.\nB", {"pattern": "last_line"}),
        ("Because.\n\nVerdict: B\n", {"pattern": "last_line", "prefix": "Verdict:"}),
        ("Verdict: B\nIt adds up.", {"pattern": "prefix", "prefix": "Verdict:"}),
        ("Verdict: B\nIt adds up.", {"pattern": "first_line", "prefix": "Verdict:"}),
        ("Verdict: B\nmore\nVerdict: B", {"pattern": "prefix", "prefix": "Verdict:"}),
        ("<think>A or B?</think>\nB", {"reasoning": THINK}),
        ("A or B?</think>\nB", {"reasoning": THINK}),
        ("B", {"reasoning": THINK}),
        (
            "<think>A?</think>So.\n[[B]]",
            {"pattern": "marker", "marker": "[[{}]]", "reasoning": THINK},
        ),
        ('<think>?</think>\n{"verdict": "B"}', {"pattern": "json", "reasoning": THINK}),
    ],
)
def test_the_answer_is_read_where_it_was_registered_to_stand(verdict, text, options):
    """case A5; the third last lacks the opening mark, which vLLM's chat template wrote."""
    assert verdict(text, **options).category == "c2"


@pytest.mark.parametrize(
    ("text", "options", "reason"),
    [
        (STEPS, {}, Reason.UNPARSED),
        (STEPS, {"pattern": "last_line"}, Reason.UNPARSED),
        ("[[A]] no, [[B]]", {"pattern": "marker", "marker": "[[{}]]"}, Reason.UNPARSED),
        ("[[C]] so [[B]]", {"pattern": "marker", "marker": "[[{}]]"}, Reason.UNPARSED),
        ("[[\nB]]", {"pattern": "marker", "marker": "[[{}]]"}, Reason.UNPARSED),
        ("B", {"pattern": "marker", "marker": "[[{}]]"}, Reason.UNPARSED),
        ("Verdict: A\nVerdict: B", {"pattern": "prefix", "prefix": "Verdict:"}, Reason.UNPARSED),
        ("verdict: B", {"pattern": "prefix", "prefix": "Verdict:"}, Reason.UNPARSED),
        ("My Verdict: B", {"pattern": "prefix", "prefix": "Verdict:"}, Reason.UNPARSED),
        ("<think>A or B? B", {"reasoning": THINK}, Reason.TRUNCATED),
        ("<think>B</think>", {"reasoning": THINK}, Reason.EMPTY),
        ("<think>A</think>B<think>", {"reasoning": THINK}, Reason.UNPARSED),
        ("<think>A</think>B</think>", {"reasoning": THINK}, Reason.UNPARSED),
        ("<think>a <think> b</think>B", {"reasoning": THINK}, Reason.UNPARSED),
        ("So <think>A</think>B", {"reasoning": THINK}, Reason.UNPARSED),
        ("<think>A</think>B", {}, Reason.UNPARSED),
    ],
)
def test_anywhere_else_or_twice_differently_it_is_no_answer(verdict, text, options, reason):
    """case A5: of two different marked answers neither is the one."""
    assert verdict(text, **options).reason is reason


def test_two_forms_of_one_category_are_one_answer(verdict):
    found = verdict("[[b]] ... [[B]]", pattern="marker", marker="[[{}]]", case_sensitive=False)

    assert (found.category, found.label) == ("c2", "B")


def test_a_score_is_read_from_the_same_places(make, item):
    scale = {"low": 1, "high": 10}
    rating = make("score", scale=scale, pattern="marker", marker="[[{}]]")
    line = make("score", scale=scale, pattern="prefix", prefix="Score:", reasoning=THINK)

    assert rating.read(Reply("Fine. Rating: [[5]]"), item("x"), "-").number == 5
    assert rating.read(Reply("[[5]] or [[6]]"), item("x"), "-").reason is Reason.UNPARSED
    assert rating.read(Reply("[[5]] so [[5]]"), item("x"), "-").number == 5
    assert rating.read(Reply("[[50]]"), item("x"), "-").reason is Reason.OUT_OF_SCALE
    assert line.read(Reply("<think>3</think>\nScore: 4\nDone"), item("x"), "-").number == 4


def test_a_choice_is_read_from_the_same_places(make, item):
    tools = item("alpha", "beta")
    marked = make("choice", "{tools}", pattern="marker", marker="<{}>")
    last = make("choice", "{tools}", pattern="last_line", reasoning=THINK)

    assert marked.read(Reply("I take <beta>."), tools, "-").category == "c2"
    assert last.read(Reply("<think>alpha</think>Hm.\nbeta"), tools, "-").category == "c2"


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ('<think>A first?</think>\n{"ranking": ["B", "A"]}', {"reasoning": THINK}),
        ("Ranking: B > A", {"pattern": "last_line", "prefix": "Ranking:"}),
        ('Hm.\nRanking: ["B", "A"]\nDone.', {"pattern": "prefix", "prefix": "Ranking:"}),
        ('Hm.\n{"ranking": ["B", "A"]}', {"pattern": "last_line"}),
        ("So [[B>A]].", {"pattern": "marker", "marker": "[[{}]]"}),
    ],
)
def test_a_ranking_is_read_from_the_same_places(make, item, text, options):
    """Aliases A and B stand for c1 and c2 in the order given."""
    readout = make("ranking", "{candidates}", order="as_given", **options)

    assert readout.read(Reply(text), item("x", "y"), "-").ranking == ("c2", "c1")


def test_two_different_rankings_are_no_ranking(make, item):
    readout = make("ranking", "{candidates}", pattern="marker", marker="[[{}]]")

    assert readout.read(Reply("[[A>B]] or [[B>A]]"), item("x", "y"), "-").reason is Reason.UNPARSED
    assert readout.read(Reply("[[A>A]]"), item("x", "y"), "-").reason is Reason.NOT_A_PERMUTATION


def test_free_text_can_leave_a_reasoning_block_out(make, item):
    readout = make("text", reasoning=THINK)

    assert readout.read(Reply("<think>hm</think>\nWell."), item("x"), "-").text == "\nWell."
    assert readout.read(Reply("<think>hm"), item("x"), "-").reason is Reason.TRUNCATED


OPTIONS = {
    "verdict": {"categories": AB},
    "choice": {},
    "ranking": {},
    "score": {"scale": {"low": 1, "high": 5}},
}


@pytest.mark.parametrize("kind", OPTIONS)
@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"pattern": "marker"}, "need each other"),
        ({"marker": "[[{}]]"}, "need each other"),
        ({"pattern": "marker", "marker": "[[]]"}, "one {}"),
        ({"pattern": "marker", "marker": "{}]]"}, "on both sides"),
        ({"pattern": "marker", "marker": "[[{}]] {}"}, "one {}"),
        ({"pattern": "prefix"}, "needs prefix"),
        ({"pattern": "prefix", "prefix": " "}, "needs prefix"),
        ({"pattern": "json", "prefix": "x"}, "prefix needs pattern"),
        ({"reasoning": ["<think>", "<think>"]}, "two different marks"),
        ({"reasoning": ["", "</think>"]}, "two different marks"),
        ({"reasoning": ["<think>"]}, "Field required"),
        ({"pattern": "somewhere"}, "Input should be"),
        ({"pattern": "last_line", "structured": True}, 'pattern = "json"'),
    ],
)
def test_places_that_cannot_be_are_refused_at_check(kind, options, said):
    assert said in options_problems(kind, {**OPTIONS[kind], **options})[0].allowed
