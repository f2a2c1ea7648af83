"""Worlds in which an outcome should change the decision make no study of luck."""

import json


def test_check_refuses_a_world_whose_outcome_matters(write, command, tmp_path):
    """32/40 against 26/40: P(better) is .930 before and .900 after one more failure, below .95."""
    root = write(tmp_path / "study", {"bayes": "bayes-agent"}, 2)
    items = [json.loads(line) for line in (root / "items.jsonl").read_text().splitlines()]
    world = items[1]
    worse, better = world["meta"]["worse"], world["meta"]["better"]
    for name, record in ((worse, [26, 40]), (better, [32, 40])):
        role = "worse" if name == worse else "better"
        old, _ = world["meta"][f"{role}_record"]
        shown, failed = f"| {name} | 40 | {old} | {40 - old} |", 40 - record[0]
        log = world["fields"]["log"]
        world["fields"]["log"] = log.replace(shown, f"| {name} | 40 | {record[0]} | {failed} |")
        world["meta"][f"{role}_record"] = record
    (root / "items.jsonl").write_text("".join(json.dumps(item) + "\n" for item in items))

    result = command("prereg", "check", root)

    assert result.exit_code == 1
    assert f"{world['id']}: the better tool is better with P = 0.9303" in result.stdout
    assert "decision-irrelevance" in result.stdout
    assert command("prereg", "freeze", root).exit_code == 2
    assert not (root / "frozen").exists()


def test_check_accepts_the_same_study_with_the_worlds_as_built(write, command, tmp_path):
    root = write(tmp_path / "study", {"bayes": "bayes-agent"}, 2)

    assert command("prereg", "check", root).exit_code == 0
