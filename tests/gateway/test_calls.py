"""What a harness meant by sending the same bytes again, and what is told of each kind."""

import pandas as pd
import pytest

from judgeaudit.analysis.exploratory import Wish
from judgeaudit.analysis.shadow.calls import CALLS, classes
from judgeaudit.analysis.shadow.kinds import reports

S = 10**9


def call(name, body, start, end, **more):
    row = dict.fromkeys(CALLS)
    row |= {
        "session": "s001", "day": 1, "call_id": f"c{name}", "origin": f"c{name}",
        "condition": "harness", "repeat": 0, "endpoint": "up", "kind": "m:judge", "body": body,
        "answered": True, "status": "ok", "category": "C", "reserved_at": start * S,
        "ended_at": end * S, "in_flight": 1, "model_returned": "m-1", **more,
    }  # fmt: skip
    return row


def frame(*rows):
    found = pd.DataFrame(list(rows), columns=list(CALLS))
    for name in ("number", "in_flight", "prompt_tokens", "cached_tokens", "retry_count"):
        found[name] = pd.to_numeric(found[name])
    return found


OTHERS = [call(90 + n, f"other{n}", 0, 1) for n in range(5)]


def classed(*rows):
    return list(classes(frame(*rows, *OTHERS)).sort_index())[: len(rows)]


def test_the_first_answer_is_first_however_often_it_failed_before():
    rows = [call(1, "b", 0, 1, answered=False), call(2, "b", 2, 3, retry_count=1)]

    assert classed(*rows) == ["failed", "first"]


def test_a_call_sent_while_the_first_was_under_way_is_a_repeat():
    assert classed(call(1, "b", 0, 5), call(2, "b", 4, 6)) == ["first", "repeat"]


def test_a_call_after_an_unread_answer_is_told_as_that():
    rows = [call(1, "b", 0, 1, status="invalid", reason="unparsed"), call(2, "b", 2, 3)]

    assert classed(*rows) == ["first", "after_unparsed"]


def test_a_call_after_a_read_answer_is_unclear_in_a_kind_of_single_calls():
    assert classed(call(1, "b", 0, 1), call(2, "b", 2, 3)) == ["first", "unclear"]


def test_where_nine_tenths_of_the_bodies_come_twice_it_is_by_design():
    """Ten bodies: nine of them twice is .9, a repeat; eight is .8, unclear."""

    def last_class(twice):
        rows = [call(n, f"b{n}", n, n) for n in range(10)]
        rows += [call(20 + n, f"b{n}", 50 + n, 50 + n) for n in range(twice)]
        return classes(frame(*rows)).iloc[-1]

    assert last_class(9) == "repeat"
    assert last_class(8) == "unclear"


def test_sessions_are_apart():
    rows = [call(1, "b", 0, 1), call(2, "b", 2, 3, session="s002")]

    assert classed(*rows) == ["first", "first"]


def asked(number, body, answers, kind="m:judge", **more):
    """A call and its two re-asks, ten and twenty seconds later."""
    rows = [call(number, body, number, number + 1, category=answers[0], kind=kind, **more)]
    for k, answer in enumerate(answers[1:], 1):
        rows.append(
            call(f"{number}.{k}", body, number + 1 + 10 * k, number + 2 + 10 * k, kind=kind,
                 category=answer, condition="reask", repeat=k, origin=f"c{number}",
                 status="ok" if answer else "invalid", reason=None if answer else "unparsed")
        )  # fmt: skip
    return rows


def test_flips_are_counted_by_kind_and_never_pooled():
    """Kind judge: CCC, CCI, CII: pairs that differ 0/3, 2/3, 2/3, mean 4/9. Kind other: none."""
    rows = [*asked(1, "a", "CCC"), *asked(2, "b", "CCI"), *asked(3, "c", "CII")]
    rows += asked(4, "d", "CCC", kind="m:other")

    judge, other = reports(frame(*rows), Wish(), {})

    assert (judge.name, judge.calls, judge.chosen, judge.reasked) == ("m:judge", 3, 3, 6)
    assert judge.part.get("flip_rate").value == pytest.approx(4 / 9)
    assert other.part.get("flip_rate").value == 0
    assert judge.lags == (10.0, 15.0, 20.0)


def test_original_against_re_ask_minus_re_ask_against_re_ask():
    """CCC 0, CCI 1/2 - 1, CII 1 - 0: mean 1/6."""
    rows = [*asked(1, "a", "CCC"), *asked(2, "b", "CCI"), *asked(3, "c", "CII")]

    [judge] = reports(frame(*rows), Wish(), {})

    assert judge.later.value == pytest.approx(1 / 6)


def test_what_is_unclear_enters_no_rate():
    """The second call with the bytes of the first flips with its re-asks; it is left out."""
    rows = [*asked(1, "a", "CCC"), *asked(30, "a", "CII"), *asked(3, "c", "CCC")]

    [judge] = reports(frame(*rows), Wish(), {})

    assert judge.classes == {"first": 2, "unclear": 1}
    assert judge.part.items == 2
    assert judge.part.get("flip_rate").value == 0


def test_calls_with_equal_bytes_are_one_cluster():
    """Two repeats by design of each of ten bodies: 20 calls, 10 independent units."""
    rows = [r for n in range(10) for r in asked(n, f"b{n}", "CCI" if n < 3 else "CCC")]
    rows += [r for n in range(10) for r in asked(100 + n, f"b{n}", "CCC")]

    [judge] = reports(frame(*rows), Wish(), {})

    flips = judge.part.get("flip_rate")
    assert judge.classes == {"first": 10, "repeat": 10}
    assert flips.cluster == "task"
    assert flips.value == pytest.approx(3 * (2 / 3) / 20)


def test_an_unread_answer_is_missing_and_counted():
    rows = [*asked(1, "a", ["C", "C", ""]), *asked(2, "b", "CCC")]

    [judge] = reports(frame(*rows), Wish(), {})

    assert judge.readings == {"ok": 5, "unparsed": 1}
    assert judge.part.excluded == {"unparsed": 1}


@pytest.mark.parametrize("column", ["reply_id", "request_id"])
def test_a_cache_that_answered_is_told_by_an_id(column):
    rows = asked(1, "a", "CCC")
    for row, name in zip(rows, ("x", "x", "y"), strict=True):
        row[column] = name

    assert reports(frame(*rows), Wish(), {})[0].equal_ids == 1


def test_bodies_of_several_sessions_are_compared_between_these():
    """Three bodies on two days, first answers C/C, C/I, I/I: one of three differs."""
    rows = []
    for day, answers in ((1, "CCI"), (2, "CII")):
        for n, answer in enumerate(answers):
            rows.append(
                call(f"{day}.{n}", f"b{n}", n, n + 1, session=f"s00{day}", day=day, category=answer)
            )

    [judge] = reports(frame(*rows), Wish(), {})

    assert judge.part is None
    between = {e.analysis: e for e in judge.between.estimates}
    assert between["flip_rate"].value == pytest.approx(1 / 3)


def systems(times_a, times_b):
    rows = []
    for name, times, number in (("a", times_a, 4.0), ("b", times_b, 2.0)):
        for t in times:
            rows.append(call(f"{name}{t}", f"{name}{t}", t, t + 1, system=name, number=number,
                             category=None))  # fmt: skip
    again = [
        {**row, "call_id": f"{row['call_id']}.{k}", "condition": "reask", "repeat": k,
         "number": row["number"] + (k == 2)}
        for row in rows for k in (1, 2)
    ]  # fmt: skip
    return reports(frame(*rows, *again), Wish(), {})[0].systems.contrasts[0]


def test_two_systems_one_after_the_other_are_confounded_with_time():
    found = systems(range(10), range(10, 20))

    assert (found.before, found.difference) == (1.0, None)
    assert "confounded" in found.why


def test_interleaved_systems_are_held_against_the_judges_own_noise():
    """Means 4 and 2. Each call reads x, x, x + 1: s_w = sqrt(1/3) = .5774; with ten calls a system
    two runs differ by less than 1.96 * .5774 * sqrt(2/10) = .506."""
    found = systems(range(0, 20, 2), range(1, 20, 2))

    assert found.difference == pytest.approx(2.0)
    assert found.noise == pytest.approx(0.506, abs=1e-3)
