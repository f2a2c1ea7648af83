"""Rules that every request body keeps, whatever the API.

* A field comes from one place. `params` of an endpoint are added last and may not repeat a field
  that is there already: a parameter that is silently replaced never reached the wire.
* `model`, `messages`, `stream` and `n` belong to the study: one call is one reply, received whole.
* What an API has no name for is refused, never dropped.
* Headers that carry secrets, or that the transport sets, cannot be frozen.
"""

from __future__ import annotations

from collections.abc import Mapping

from judgeaudit.canonical import body_bytes
from judgeaudit.errors import InputError
from judgeaudit.model import JSON, Composed, Endpoint

DECODING = ("temperature", "top_p", "max_tokens", "seed", "stop", "max_tokens_field")
"""The API-neutral names. `max_tokens_field` renames the field that carries `max_tokens`."""

UNSET = "unset"
OWNED = frozenset({"model", "messages", "stream", "n"})
SECRET_HEADERS = frozenset(
    {
        "authorization",
        "proxy-authorization",
        "x-api-key",
        "api-key",
        "x-goog-api-key",
        "cookie",
        "set-cookie",
        "openai-organization",
    }
)
TRANSPORT_HEADERS = frozenset(
    {
        "accept",
        "accept-encoding",
        "connection",
        "content-length",
        "content-type",
        "host",
        "transfer-encoding",
        "user-agent",
        "x-judgeaudit-virtual",
    }
)


def wanted(endpoint: Endpoint, decoding: Mapping[str, JSON]) -> dict[str, JSON]:
    """Return the decoding parameters to send; raises `InputError` for a name that is not known."""
    unknown = sorted(set(decoding) - set(DECODING))
    if unknown:
        raise refusal(
            endpoint,
            f"decoding.{unknown[0]}",
            "not an API-neutral parameter",
            f"put it into params, in the API's own name; known here: {', '.join(DECODING)}",
        )
    return {name: value for name, value in decoding.items() if value is not None and value != UNSET}


def refusal(endpoint: Endpoint, place: str, found: str, remedy: str) -> InputError:
    """Return the error for a request that this endpoint cannot be asked."""
    return InputError(f"endpoint {endpoint.id}", place, found, remedy)


def merged(endpoint: Endpoint, body: Mapping[str, JSON]) -> dict[str, JSON]:
    """Return `body` with the endpoint's params after it; raises `InputError` on a collision."""
    for name in endpoint.params:
        if name in OWNED:
            raise refusal(
                endpoint, f"params.{name}", "the study sets this field", "leave it out of params"
            )
        if name in body:
            raise refusal(
                endpoint,
                f"params.{name}",
                "the field is set from the protocol already",
                'say it once: change the decoding, or set the decoding to "unset" here',
            )
    return {**body, **endpoint.params}


def composed(
    endpoint: Endpoint, path: str, body: Mapping[str, JSON], *headers: tuple[str, str]
) -> Composed:
    """Return the request to freeze: JSON headers, the API's own, then the endpoint's."""
    base = (("accept", "application/json"), ("content-type", "application/json"), *headers)
    taken = TRANSPORT_HEADERS | {name for name, _ in base}
    own = tuple((name.lower(), value) for name, value in endpoint.headers.items())
    for name, value in own:
        _check_header(endpoint, name, value, taken)
    return Composed(path, base + own, body_bytes(merged(endpoint, body)))


def _check_header(endpoint: Endpoint, name: str, value: str, taken: frozenset[str]) -> None:
    place = f"headers.{name}"
    if name in SECRET_HEADERS:
        raise refusal(endpoint, place, "a header that carries a secret", "name it in key_env")
    if name in taken:
        raise refusal(endpoint, place, "the tool sets this header", "leave it out")
    if not (value.isascii() and value.isprintable() and name.isascii() and name.isprintable()):
        raise refusal(endpoint, place, "not printable ASCII", "HTTP headers carry nothing else")
