"""Prompt templates: `{field}`, doubled braces, and nothing else."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgeaudit.errors import InputError
from judgeaudit.instrument.readout import Prompt
from judgeaudit.model import Message


def user(template: str, **fields) -> str:
    return Prompt(None, template).render(fields)[0].content


def test_strings_are_inserted_verbatim_and_everything_else_as_json():
    filled = user("{a}|{b}|{c}|{d}", a='say "{x}"\n', b=3, c=[1, "é"], d=None)

    assert filled == 'say "{x}"\n|3|[1, "é"]|null'


def test_doubled_braces_stand_for_braces():
    assert user('{{"ranking": [{aliases}]}}', aliases="A, B") == '{"ranking": [A, B]}'


def test_system_and_user_parts_become_two_messages():
    rendered = Prompt("Judge {what}.", "Go.").render({"what": "fairly"})

    assert rendered == (Message("system", "Judge fairly."), Message("user", "Go."))


def test_a_missing_field_names_placeholder_and_line():
    with pytest.raises(InputError) as caught:
        Prompt("s", "one\ntwo {answer}").render({"input": "x"})

    assert str(caught.value) == (
        "prompt: user, line 2: placeholder {answer} has no field; fields here: input"
    )


@pytest.mark.parametrize(
    ("template", "line", "found"),
    [
        ("a\n{b", 2, "unpaired '{'"),
        ("a\nb\nc}", 3, "unpaired '}'"),
        ("{a\n}", 1, "unpaired '{'"),
        ("{{{a}", 1, None),
        ("{a.b}", 1, "placeholder '{a.b}' is no field name"),
        ("\n{a[0]}", 2, "placeholder '{a[0]}' is no field name"),
        ("{a!r}", 1, "placeholder '{a!r}' is no field name"),
        ("{a:>9}", 1, "placeholder '{a:>9}' is no field name"),
        ("{}", 1, "placeholder '{}' is no field name"),
        ("{0}", 1, "placeholder '{0}' is no field name"),
    ],
)
def test_a_template_that_means_something_else_is_refused_with_its_line(template, line, found):
    if found is None:
        assert user(template, a=1) == "{1"
        return
    with pytest.raises(InputError) as caught:
        Prompt(None, template)

    assert f"user, line {line}: {found}" in str(caught.value)


def test_a_field_that_json_cannot_hold_is_named():
    with pytest.raises(InputError, match=r"user, line 1: field 'a'"):
        user("{a}", a=float("nan"))


def test_places_say_where_each_placeholder_stands_first():
    prompt = Prompt("{a}", "\n{b} {a}\n{b}")

    assert prompt.places() == {"a": "system, line 1", "b": "user, line 2"}
    assert prompt.placeholders() == {"a", "b"}


@given(st.text())
def test_any_text_survives_when_its_braces_are_doubled(text):
    assert user(text.replace("{", "{{").replace("}", "}}")) == text


@given(st.text())
def test_any_text_survives_as_a_field(text):
    assert user("<{field}>", field=text) == f"<{text}>"
