"""Choices among an item's tools, and free text."""

from judgeaudit.model import SOLE_ARM, Candidate, Invalid, Item, Reason, Reply

WORLD = Item(
    "w", "w", "w", candidates=(Candidate("worse", "Marlow"), Candidate("better", "Tessin"))
)


def test_a_tools_name_is_decoded_to_what_it_stands_for(make):
    readout = make("choice", "{tools}")

    value = readout.read(Reply("Tessin\n"), WORLD, SOLE_ARM)

    assert (value.category, value.label) == ("better", "Tessin")
    assert readout.ask(WORLD, SOLE_ARM).messages[0].content == "Marlow, Tessin"
    assert readout.read(Reply("tessin"), WORLD, SOLE_ARM).reason is Reason.UNPARSED
    assert readout.read(Reply("I pick Tessin"), WORLD, SOLE_ARM).reason is Reason.UNPARSED


def test_tools_may_be_listed_in_a_field(make):
    readout = make("choice", "{tools}", tools_field="options", case_sensitive=False)
    item = Item("w", "w", "w", fields={"options": ["search", "code"]})

    assert readout.read(Reply("CODE"), item, SOLE_ARM).category == "code"
    assert readout.problems(WORLD) == ["0 tools in options, a choice needs at least 2"]


def test_tools_that_read_the_same_are_a_problem(make):
    readout = make("choice", "{tools}", tools_field="options", case_sensitive=False)
    item = Item("w", "w", "w", fields={"options": ["Code", "code", " x"]})

    assert readout.problems(item) == [
        "two tools read the same: 'code'",
        "tool ' x' has outer spaces",
    ]


def test_a_json_choice_takes_the_items_tools_alone(make):
    readout = make("choice", "{tools}", pattern="json", structured=True)

    assert readout.read(Reply('{"tool": "Marlow"}'), WORLD, SOLE_ARM).category == "worse"
    assert readout.ask(WORLD, SOLE_ARM).json_schema["properties"]["tool"]["enum"] == [
        "Marlow",
        "Tessin",
    ]


def test_text_is_kept_as_it_stands_up_to_the_registered_length(make, item):
    readout = make("text", "{question}", max_chars=4)

    assert readout.read(Reply(" ab\n"), item(), SOLE_ARM).text == " ab\n"
    assert readout.read(Reply("abcde"), item(), SOLE_ARM) == Invalid(
        Reason.UNPARSED, "5 characters, at most 4 are read"
    )
