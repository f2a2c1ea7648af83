"""Where calls go, and what a harness is pointed at."""

import pytest

from judgeaudit.errors import InputError
from judgeaudit.gateway.address import check_host, environment, route, targets_of

HERE = "http://127.0.0.1:1"


@pytest.mark.parametrize(
    ("to", "openai", "anthropic"),
    [
        ("https://api.openai.com", "/v1", ""),
        ("https://api.openai.com/v1/", "/v1", ""),
        ("https://openrouter.ai/api/v1", "/api/v1", "/api"),
        ("https://x.example/v1beta/openai", "/v1beta/openai", "/v1beta/openai"),
    ],
)
def test_one_target_serves_both_sdks_at_its_own_path(to, openai, anthropic):
    found = environment(HERE, targets_of([to]), {"NO_PROXY": "a.b", "X": "1"})

    assert found["OPENAI_BASE_URL"] == HERE + openai
    assert found["ANTHROPIC_BASE_URL"] == HERE + anthropic
    assert found["NO_PROXY"] == "a.b,127.0.0.1,localhost"
    assert found["X"] == "1"


def test_several_targets_are_told_apart_by_path():
    targets = targets_of(["anthropic=https://api.anthropic.com", "or=https://openrouter.ai/api/v1"])
    found = environment(HERE, targets, {})

    assert found["OPENAI_BASE_URL"] == f"{HERE}/or/api/v1"
    assert found["ANTHROPIC_BASE_URL"] == f"{HERE}/anthropic"
    target, path = route("/or/api/v1/chat/completions?x=1", targets)
    assert (target.origin, path) == ("https://openrouter.ai", "/api/v1/chat/completions?x=1")
    assert route("/else/v1", targets) is None


@pytest.mark.parametrize(
    ("to", "found"),
    [
        ([], "missing"),
        (["ftp://x"], "ftp"),
        (["a=https://x", "a=https://y"], "two targets of one name"),
        (["https://x", "a=https://y"], "has no name"),
        (["A B=https://x"], "name 'A B'"),
        (["https://x/v1?api-version=1"], "a query"),
        (["https://user:pw123456@x"], "--to"),
    ],
)
def test_what_is_no_target_is_refused(to, found):
    with pytest.raises(InputError, match="--to") as error:
        targets_of(to)
    assert found in str(error.value)


@pytest.mark.parametrize("host", ["127.0.0.1", "::1", "localhost", "127.9.9.9"])
def test_loopback_needs_no_token(host):
    check_host(host, "")


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.2", "example.org"])
def test_an_address_that_others_reach_needs_a_token(host):
    """15 characters are too few, 16 will do."""
    for token in ("", "a" * 15):
        with pytest.raises(InputError, match="no token"):
            check_host(host, token)
    check_host(host, "a" * 16)


def test_a_token_stands_first_in_every_path():
    targets = targets_of(["https://x"])

    assert route("/v1/models", targets, "t" * 16) is None
    assert route(f"/{'t' * 16}/v1/models", targets, "t" * 16)[1] == "/v1/models"
