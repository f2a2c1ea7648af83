"""What a provider states of a model is asked once, by its own SDK, and is never a measurement."""

import json

import pytest

from judgeaudit.collect.declared import ask

ENTRY = {"id": "judge-1", "object": "model", "created": 1_700_000_000, "owned_by": "maker"}
OTHER = {"id": "other", "object": "model", "created": 1, "owned_by": "maker"}
KEY = "sk-secret-000"
SDKS = ["openai", "anthropic"]


@pytest.fixture
def asked(recording):
    """Ask a server that answers by `answer(path)`; gives the finding and the paths asked for."""

    def _asked(sdk, answer, *, model="judge-1", key=KEY):
        def reply(request, _number):
            return answer(request.head.split(b" ")[1].decode().removeprefix("/v1"))

        with recording.Recorder(reply) as server:
            found = ask(sdk, "judge", server.base_url, model, key)
            heads = [request.head for request in server.requests]
        return found, heads

    return _asked


def listing(recording, *, single=True):
    def answer(path):
        if path == "/models/judge-1" and single:
            return recording.Answer(body=json.dumps(ENTRY).encode())
        if path == "/models":
            listed = {"object": "list", "data": [ENTRY, OTHER]}
            return recording.Answer(body=json.dumps(listed).encode())
        return recording.Answer(status=404, body=b'{"error": {"message": "no such page"}}')

    return answer


@pytest.mark.parametrize("sdk", SDKS)
def test_a_listed_model_is_stated_verbatim_with_one_request(asked, recording, sdk):
    found, heads = asked(sdk, listing(recording))

    assert (found.outcome, found.model) == ("listed", "judge-1")
    assert found.stated == {"id": "judge-1", "created": 1_700_000_000, "owned_by": "maker"}
    assert len(heads) == 1
    assert found.sdk.startswith(f"{sdk} ")


@pytest.mark.parametrize("sdk", SDKS)
def test_a_server_without_a_page_for_one_model_is_asked_for_its_list(asked, recording, sdk):
    """llama.cpp and others list their models and have no page for a single one."""
    found, heads = asked(sdk, listing(recording, single=False))

    assert found.outcome == "listed"
    assert found.stated["created"] == 1_700_000_000
    assert len(heads) == 2


@pytest.mark.parametrize("sdk", SDKS)
def test_a_model_that_is_not_listed_is_told_with_the_nearest_names(asked, recording, sdk):
    found, _ = asked(sdk, listing(recording), model="judge-2")

    assert (found.outcome, found.near, found.stated) == ("not_listed", ("judge-1",), {})


@pytest.mark.parametrize("sdk", SDKS)
@pytest.mark.parametrize(
    ("status", "outcome"),
    [(401, "refused"), (403, "refused"), (404, "no_list"), (429, "no_answer"), (500, "no_answer")],
)
def test_a_status_is_an_outcome_and_is_not_retried(asked, recording, sdk, status, outcome):
    """404 costs a second request, for the list; nothing else is asked twice."""
    body = json.dumps({"error": {"message": f"your key {KEY} is bad\n\x1b[2J"}}).encode()
    found, heads = asked(sdk, lambda _: recording.Answer(status=status, body=body))

    assert found.outcome == outcome
    assert len(heads) == (2 if status == 404 else 1)
    assert KEY not in json.dumps(found.as_json())
    assert found.detail.isprintable()


@pytest.mark.parametrize("sdk", SDKS)
@pytest.mark.parametrize("body", [b"<html>", b"[]", b"{}", b"null", b'"x"', b'{"id": 7}'])
def test_a_success_that_is_no_entry_states_nothing(asked, recording, sdk, body):
    found, _ = asked(sdk, lambda _: recording.Answer(body=body))

    assert (found.outcome, found.stated) == ("no_list", {})


@pytest.mark.parametrize("sdk", SDKS)
def test_a_server_that_hangs_up_gives_no_answer(asked, recording, sdk):
    found, _ = asked(sdk, lambda _: recording.Answer(drop=True))

    assert found.outcome == "no_answer"


@pytest.mark.parametrize("sdk", SDKS)
def test_the_environment_changes_neither_address_nor_key(asked, recording, monkeypatch, sdk):
    """Each SDK reads its own variables: the registered address and key must win."""
    for name in ("OPENAI", "ANTHROPIC"):
        monkeypatch.setenv(f"{name}_BASE_URL", "http://127.0.0.1:9/elsewhere")
        monkeypatch.setenv(f"{name}_API_KEY", "sk-of-the-environment")
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    found, heads = asked(sdk, listing(recording))

    assert found.outcome == "listed"
    assert KEY.encode() in heads[0]
    assert b"sk-of-the-environment" not in heads[0]
