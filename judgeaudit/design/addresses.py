"""Addresses of endpoints: what a base URL may be, and where a request goes below it.

* `http://` or `https://`, a host, an optional port from 1 to 65535, a path, a query. No user, no
  password, no fragment, no blank or control character, ASCII alone (a host of another script in its
  `xn--` form).
* A query (`?api-version=2024-10-21`, as Azure has it) is kept, and stands after the API's own path.
  It is registered and frozen with the rest of the address, so that it carries no key.
* A key travels over `http://` to this machine alone, unless the endpoint says `plain_http = true`.
"""

from __future__ import annotations

from ipaddress import ip_address
from urllib.parse import SplitResult, urlsplit

FORM = "http(s)://HOST/... or embedded:SCENARIO"


def address_fault(url: str) -> tuple[str, str] | None:
    """Return what is wrong with a base URL and what to write; None where nothing is."""
    shown = f"found {url!r}"
    if not (url.isascii() and url.isprintable()) or any(mark in url for mark in ' \\"<>^`{|}'):
        return f"{shown}: a blank, a control character or one that no URL holds", FORM
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        return f"{shown}: {error}", "a port is a number from 1 to 65535"
    if parts.scheme not in ("http", "https") or not parts.hostname:
        return shown, FORM
    if port == 0 or parts.netloc.endswith(":"):
        return f"{shown}: no port after the colon", "a port is a number from 1 to 65535"
    if "#" in url:
        return f"{shown}: a fragment is never sent", "leave out # and what follows"
    return None


def full_url(base_url: str, path: str) -> str:
    """Return where a request goes: the API's path below the base URL, its query after it."""
    address, mark, query = base_url.partition("?")
    return f"{address.rstrip('/')}{path}{mark}{query}"


def sends_in_the_clear(url: str) -> bool:
    """Return whether what is sent to a sound URL can be read on the way: http to another host."""
    parts = urlsplit(url)
    return parts.scheme == "http" and not _is_this_machine(parts)


def _is_this_machine(parts: SplitResult) -> bool:
    host = (parts.hostname or "").rstrip(".")
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
