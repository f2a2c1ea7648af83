"""The linter of designs that ask again until they pass."""

import pytest

from judgeaudit.design.reasking import workflow_findings

SOUND = """
jobs:
  gate:
    steps:
      - uses: actions/checkout@v4
      - run: judgeaudit gate evals/judge --run-key ${{ github.sha }} --junit gate.xml
"""


@pytest.mark.parametrize(
    ("spoil", "line", "says"),
    [
        (("- run: judgeaudit", "- run: until judgeaudit"), 6, "in a loop"),
        (("- run: judgeaudit", "- run: for i in 1 2 3; do judgeaudit"), 6, "in a loop"),
        (
            ("- run:", "- uses: nick-fields/retry@v3\n        with:\n          command:"),
            8,
            "inside a retry step",
        ),
        (("gate.xml", "gate.xml || judgeaudit gate evals/judge"), 6, "any pass of two"),
        (("github.sha", "github.run_attempt"), 6, "changes with each attempt"),
        (("${{ github.sha }}", "$RANDOM"), 6, "changes with each attempt"),
        (("gate.xml", "gate.xml || true"), 6, "thrown away"),
        (("gate.xml", "gate.xml\n        continue-on-error: true"), 6, "whatever the gate says"),
    ],
)
def test_each_way_of_asking_until_it_passes_is_named_with_its_line(spoil, line, says):
    [finding] = workflow_findings("ci.yml", SOUND.replace(*spoil))

    assert finding.startswith(f"ci.yml, line {line}: ")
    assert says in finding


def test_a_gate_that_is_asked_once_a_commit_is_sound():
    assert list(workflow_findings("ci.yml", SOUND)) == []


def test_what_a_comment_forbids_is_no_finding():
    text = SOUND + "      # never: until judgeaudit gate evals/judge\n"

    assert list(workflow_findings("ci.yml", text)) == []
