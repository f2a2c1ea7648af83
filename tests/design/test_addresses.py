"""Base URLs: what is refused at check, where a request goes, when a key could be read."""

import pytest

from judgeaudit.design.addresses import address_fault, full_url, sends_in_the_clear


@pytest.mark.parametrize(
    "url",
    [
        "https://api.openai.com/v1",
        "http://127.0.0.1:8000",
        "https://x.openai.azure.com/openai/deployments/d?api-version=2024-10-21",
        "https://xn--bcher-kva.example/v1/",
        "http://[::1]:9/v1",
        "https://host:65535/a%20b",
    ],
)
def test_a_sound_address_is_taken(url):
    assert address_fault(url) is None


@pytest.mark.parametrize(
    "url",
    [
        "127.0.0.1:9",
        "ftp://host/v1",
        "https:///v1",
        "https://host:0/v1",
        "https://host:/v1",
        "https://host:65536/v1",
        "https://host:port/v1",
        "https://host/v1#",
        "https://host/v1#top",
        "https://host/v1\r\nx: y",
        "https://host/v1\n",
        "https://ho st/v1",
        "https://host\\@other/v1",
        "https://bücher.example/v1",
        "https://[::1/v1",
        "",
    ],
)
def test_what_is_no_address_is_refused(url):
    assert address_fault(url) is not None


def test_the_apis_path_stands_before_a_registered_query():
    """case R3: Azure's `api-version` belongs to every request."""
    azure = "https://x.azure.com/openai/deployments/d"

    assert full_url(f"{azure}?api-version=1&a=b", "/chat/completions") == (
        f"{azure}/chat/completions?api-version=1&a=b"
    )
    assert full_url(f"{azure}/", "/chat/completions") == f"{azure}/chat/completions"


@pytest.mark.parametrize(
    ("url", "clear"),
    [
        ("http://example.invalid/v1", True),
        ("http://10.0.0.7/v1", True),
        ("http://localhost.example/v1", True),
        ("https://example.invalid/v1", False),
        ("http://127.0.0.1:9", False),
        ("http://127.8.9.10", False),
        ("http://[::1]", False),
        ("http://localhost:8000", False),
        ("http://judge.localhost", False),
    ],
)
def test_only_http_to_another_machine_is_in_the_clear(url, clear):
    """case H8; RFC 6761 keeps `localhost` and names below it on this machine."""
    assert sends_in_the_clear(url) is clear
