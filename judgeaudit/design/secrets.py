"""Texts that look like a secret, so that none is frozen.

A guess by form: known prefixes of keys, a bearer token, a name that says so with a value that is
not empty, a password in a URL. A false alarm costs a renamed value; a miss publishes a key.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from judgeaudit.design.walk import leaves
from judgeaudit.instrument.provider.body import SECRET_HEADERS

_VALUE = re.compile(
    r"\b(?:sk|pk|rk)-[A-Za-z0-9_-]{16,}"  # OpenAI, Anthropic, OpenRouter and others
    r"|\bAIza[A-Za-z0-9_-]{30,}"  # Google
    r"|\b(?:ghp|gho|ghs|github_pat|hf|gsk|xai|nvapi|pplx|AKIA)[_-]?[A-Za-z0-9_]{16,}"
    r"|\bBearer\s+[A-Za-z0-9._~+/=-]{8,}"
    r"|\beyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}",  # a JSON web token
)
_NAME = re.compile(
    r"(?:^|[_-])(?:api[_-]?key|apikey|secret|password|passwd|authorization|auth[_-]?token"
    r"|access[_-]?token|bearer|credential\w*|cookie)$",
    re.I,
)


def looks_secret(text: str) -> bool:
    """Return whether a text has the form of a key or token."""
    return _VALUE.search(text) is not None


def names_secret(name: str) -> bool:
    """Return whether a key's name says that its value is a secret."""
    return _NAME.search(name) is not None or name.lower() in SECRET_HEADERS


def secrets_in(key: str, document: Any) -> Iterator[str]:
    """Yield the key path of every text inside `document` that looks like a secret."""
    for path, value in leaves(key, document):
        name = path.rsplit(".", 1)[-1]
        if isinstance(value, str) and value and (looks_secret(value) or names_secret(name)):
            yield path


def secret_in_url(url: str) -> str:
    """Return which part of a URL carries a secret; empty where none does."""
    parts = urlsplit(url)
    if parts.password or (parts.username and parts.netloc):
        return "user name or password"
    for name, value in parse_qsl(parts.query):
        if names_secret(name) or name.lower() in ("key", "token") or looks_secret(value):
            return f"query parameter {name!r}"
    return "a key in the path" if looks_secret(parts.path) else ""
