"""One record a readout and a provider: no defaults, and no second table of names."""

import ast
from dataclasses import MISSING, fields
from pathlib import Path

import pytest

import judgeaudit
from judgeaudit.analysis.catalogue import NAMES
from judgeaudit.endpoint.simulated.scenarios import SCENARIOS
from judgeaudit.instrument.provider import CATALOGUE, ProviderRecord
from judgeaudit.instrument.readout import READOUTS, ReadoutRecord, options_problems

ROOT = Path(judgeaudit.__file__).parent


@pytest.mark.parametrize("record", [ReadoutRecord, ProviderRecord])
def test_a_record_leaves_nothing_to_a_default(record):
    assert all(f.default is MISSING and f.default_factory is MISSING for f in fields(record))


@pytest.mark.parametrize("kind", READOUTS)
def test_what_a_readouts_record_names_is_there(kind):
    """A record speaks of statistics, judges and options of other catalogues."""
    record = READOUTS[kind].record

    assert record.name == kind
    assert any(record.analysed_as in statistic.defaults for statistic in NAMES.values())
    assert any(one.example and record.analysed_as in one.example.readouts for one in NAMES.values())
    assert record.simulated.removeprefix("embedded:") in SCENARIOS
    assert record.claim in record.claims
    wrong = [p.key for p in options_problems(kind, record.structured)]
    assert not set(wrong) & set(record.structured)


def strings(node):
    found = node.keys if isinstance(node, ast.Dict) else getattr(node, "elts", ())
    return {key.value for key in found if isinstance(key, ast.Constant)}


@pytest.mark.parametrize(
    ("names", "distinct"),
    [(set(CATALOGUE), 1), ({"label_logprob", "label_pair", "choice"}, 2)],
)
def test_no_other_room_keeps_a_table_by_these_names(names, distinct):
    """A dict, set, list or tuple with such names would have to learn of every new one."""
    # An embedded judge is the other side of the wire; `formats` is what 0.1 was, for ever.
    allowed = ("instrument/", "endpoint/", "evidence/formats/")
    tables = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in ROOT.rglob("*.py")
        if not path.relative_to(ROOT).as_posix().startswith(allowed)
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Dict | ast.Set | ast.List | ast.Tuple)
        if len(strings(node) & names) >= distinct
    ]

    assert tables == []
