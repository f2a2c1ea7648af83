"""Prints the bodies that the SDKs of this interpreter would send for the cases on stdin.

Run with any Python that has `openai` and `anthropic`; needs nothing of judgeaudit. Each case is
{"api": ..., "arguments": {...}, "extra": {...}}; the answer is a list of bodies, in order, and the
versions. A mock transport records the request and raises a BaseException, which no SDK retries.
"""

import json
import sys
from importlib.metadata import version


class Captured(BaseException):
    """Carries the request out of the SDK; an `Exception` would be wrapped and retried."""


def http_client(sdk):
    """Return a client of the HTTP library that this SDK version is built on."""
    library = next(
        sys.modules[base.__module__.split(".")[0]]
        for base in sdk.DefaultHttpxClient.__mro__
        if base.__module__.split(".")[0] in ("httpx2", "httpx")
    )

    def capture(request):
        raise Captured(request.read())

    return library.Client(transport=library.MockTransport(capture))


def create(api):
    """Return the SDK's method for an API."""
    if api == "openai.chat":
        import openai

        client = openai.OpenAI(
            api_key="dummy", base_url="http://x/v1", max_retries=0, http_client=http_client(openai)
        )
        return client.chat.completions.create
    import anthropic

    client = anthropic.Anthropic(
        api_key="dummy", base_url="http://x", max_retries=0, http_client=http_client(anthropic)
    )
    return client.messages.create


def body_of(case):
    """Return the body that the SDK would send, as the object it parses to."""
    try:
        create(case["api"])(**case["arguments"], extra_body=case["extra"] or None)
    except Captured as captured:
        return json.loads(captured.args[0])
    raise AssertionError("the SDK returned without sending")


if __name__ == "__main__":
    bodies = [body_of(case) for case in json.load(sys.stdin)]
    versions = {name: version(name) for name in ("openai", "anthropic")}
    json.dump({"bodies": bodies, "versions": versions}, sys.stdout)
