"""Requests sorted into kinds by what their prompts share, whatever their order."""

import pytest

from judgeaudit.gateway.kinds import is_of, kinds_of, slug
from judgeaudit.instrument.spoken.interface import Said
from judgeaudit.model import Message

GRADER = (
    "You are assessing a submitted answer on a given task.\n[BEGIN DATA]\nTask: {q}\n"
    "Submission: {a}\n[END DATA]\nCompare the answers. End with GRADE: C or GRADE: I."
)
METRIC = (
    "Given the evaluation steps below, assess the response.\n\nEvaluation Steps:\n1. {step}\n\n"
    "Test Case:\n{a}\n\nReturn a JSON object."
)


def prompts(*texts, model="m", system=None):
    first = () if system is None else (Message("system", system),)
    return [Said(model, (*first, Message("user", text))) for text in texts]


def kinds(*said):
    return kinds_of({f"b{n}": (one.shape("openai.chat"), one) for n, one in enumerate(said)})


QUESTIONS = [f"What is the {n}-th word of the story about number {n * n}?" for n in range(20)]


def test_a_judge_is_told_from_the_questions_that_the_harness_asks():
    """20 free questions and 30 graded answers of one model, without a system message."""
    graded = [GRADER.format(q=QUESTIONS[n % 20], a=f"Word {n}") for n in range(30)]

    found = kinds(*prompts(*QUESTIONS, *graded))

    assert [(kind.name, len(kind.bodies)) for kind in found] == [
        ("m:you-are-assessing-a-submitted-answer-on-a-given", 30),
        ("m:(free)", 20),
    ]


def test_metrics_that_differ_by_their_criteria_are_kinds_of_their_own():
    steps = ["Check the facts against the expected output", "Check whether the tone is polite"]
    said = prompts(*(METRIC.format(step=s, a=f"Case {n}.") for s in steps for n in range(10)))

    found = kinds(*said)

    assert [(kind.name, len(kind.bodies)) for kind in found] == [
        ("m:check-the-facts-against-the-expected-output", 10),
        ("m:check-whether-the-tone-is-polite", 10),
    ]


def test_questions_that_come_with_many_answers_do_not_split_a_judge():
    """20 questions of 3 answers: each is in 5 % of the bodies, under the tenth that splits."""
    said = prompts(*(GRADER.format(q=q, a=f"{n}.") for q in QUESTIONS for n in range(3)))

    assert len(kinds(*said)) == 1


def test_another_model_or_system_message_is_another_kind():
    texts = [GRADER.format(q=q, a="x") for q in QUESTIONS]

    found = kinds(
        *prompts(*texts), *prompts(*texts, model="n"), *prompts(*texts, system="You are strict.")
    )

    assert sorted((k.model, len(k.bodies)) for k in found) == [("m", 20), ("m", 20), ("n", 20)]
    assert len({k.name for k in found}) == 3


def test_order_does_not_matter():
    said = prompts(*QUESTIONS, *(GRADER.format(q=q, a="x") for q in QUESTIONS))
    named = {f"b{n}": (one.shape("x"), one) for n, one in enumerate(said)}

    assert kinds_of(named) == kinds_of(dict(reversed(named.items())))


def test_a_name_chooses_its_requests_and_no_others():
    graded, free = prompts(GRADER.format(q="q", a="a"))[0], prompts(QUESTIONS[0])[0]
    graded_all = [GRADER.format(q=q, a="x") for q in (*QUESTIONS, "one more")]
    [name, _] = [kind.name for kind in kinds(*prompts(*QUESTIONS, *graded_all))]

    assert is_of(graded, name)
    assert not is_of(free, name)
    assert is_of(graded, "you are ASSESSING")
    assert not is_of(graded, "n:you-are-assessing")
    assert not is_of(free, "m:(free)")


@pytest.mark.parametrize(
    ("text", "slugged"), [("A  b-C_d!", "a-b-c-d"), ("…", ""), ("Größe 1", "grösse-1")]
)
def test_words_are_joined_by_hyphens(text, slugged):
    assert slug(text) == slugged
