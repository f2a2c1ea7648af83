"""The pre-commit hook: a frozen study that a commit touches stays as it was frozen."""

from judgeaudit.cli.precommit import main, studies_of


def test_a_file_belongs_to_the_nearest_frozen_study_above_it(frozen, tmp_path):
    root = frozen()
    other = tmp_path / "notes.jsonl"

    files = [root / "items.jsonl", root / "frozen" / "lock.json", other]

    assert studies_of(map(str, files)) == [root]


def test_an_untouched_study_passes(frozen, capsys):
    assert main([str(frozen() / "registration.toml")]) == 0
    assert capsys.readouterr().out == ""


def test_an_edited_registration_is_named(frozen, capsys):
    root = frozen()
    registration = root / "registration.toml"
    registration.write_text(registration.read_text().replace("at_most = 0.20", "at_most = 0.50"))

    code = main([str(registration)])

    said = capsys.readouterr()
    assert code in (1, 2)
    assert "registration.toml" in said.out + said.err
