"""The studies and recording servers of `tests/collect` and `tests/cli`, which these tests share."""

import importlib.util
import json
from pathlib import Path

import pytest


def _shared(room):
    path = Path(__file__).parents[1] / room / "conftest.py"
    spec = importlib.util.spec_from_file_location(f"judgeaudit_tests_{room}_shared", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


_collecting, _commands = _shared("collect"), _shared("cli")

study, run, recording = _collecting.study, _collecting.run, _collecting.recording
make_registration = _collecting.make_registration

frozen, text, by_item = _commands.frozen, _commands.text, _commands.by_item
scores = _commands.scores
recorder = _commands.recorder


@pytest.fixture
def served():
    """Answer every request by `answer(body, number)`: a text, or a document and headers.

    A text becomes a whole reply with an id and a time of its own.
    """
    running = []

    def serve(answer):
        def reply(request, number):
            said = answer(request.body, number)
            body, headers = said if isinstance(said, tuple) else (document(said, number), {})
            return recorder.Answer(headers=headers, body=json.dumps(body).encode())

        server = recorder.Recorder(reply)
        running.append(server)
        return server.__enter__().base_url

    yield serve
    for server in running:
        server.__exit__()


def document(content, number, model="judge-1"):
    """Return a chat completion made as the server's reply of that number."""
    choice = {"index": 0, "message": {"content": content}, "finish_reason": "stop"}
    return {
        "id": f"c-{number}",
        "created": 1_700_000_000 + number,
        "model": model,
        "choices": [choice],
    }


@pytest.fixture
def chat():
    """Return `document`: a reply's content, its number and the model it names."""
    return document


@pytest.fixture(scope="session")
def tables():
    """One table in every format, and the commands on it: `tabling.py`."""
    spec = importlib.util.spec_from_file_location(
        "judgeaudit_tests_tabling", Path(__file__).with_name("tabling.py")
    )
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
