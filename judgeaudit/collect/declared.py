"""What a provider states of a model before anything is measured, asked through its own SDK.

A call to a model list is no measurement: it is made once, by the provider's SDK (`openai`,
`anthropic`, imported on first use), and its answer is *declared* identity: the provider's word, not
what the bytes of a reply show. One of these outcomes comes back for each endpoint:

* `listed`: the list has the registered name; what it states (id, creation date, owner, name) is
  kept. An id that differs from the registered name is stated beside it.
* `not_listed`: the list answered and does not have the name; the nearest names are told.
* `no_list`: this server has no model list, so nothing can be told.
* `refused`: the key was not accepted. `no_answer`: no connection, a time-out, or a server error.

The SDK's own retries, proxy settings and base-URL variables are switched off: what is asked is the
registered address, with the registered key, once.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.metadata import version
from itertools import islice
from typing import Any, Literal

from judgeaudit.model import JSON
from judgeaudit.printable import printable

Outcome = Literal["listed", "not_listed", "no_list", "refused", "no_answer"]

MOST_LISTED = 1000
"""How many names of a model list are looked at when the registered one is not among them."""

STATED = ("id", "created", "created_at", "owned_by", "display_name", "type")
NO_KEY = "no-key-registered"
CLIENTS = {"openai": "OpenAI", "anthropic": "Anthropic"}
"""The client class of each SDK."""


@dataclass(frozen=True, slots=True)
class Declared:
    """What one endpoint's provider says of the registered model.

    `stated` holds the fields of the list's entry, verbatim; `near` the names most like the
    registered one where it is not listed; `detail` the server's word where there was no answer.
    """

    endpoint: str
    model: str
    sdk: str
    outcome: Outcome
    stated: Mapping[str, JSON] = field(default_factory=dict)
    near: tuple[str, ...] = ()
    detail: str = ""

    def as_json(self) -> dict[str, JSON]:
        """Return JSON values."""
        return {
            "endpoint": self.endpoint,
            "model": self.model,
            "sdk": self.sdk,
            "outcome": self.outcome,
            "stated": dict(self.stated),
            "near": list(self.near),
            "detail": self.detail,
        }


def ask(
    sdk: str, endpoint: str, base_url: str, model: str, key: str | None, *, timeout_s: float = 20.0
) -> Declared:
    """Return what the server at `base_url` states of `model`, asked once through `sdk`.

    `sdk` is "openai" or "anthropic"; `key` None stands for an endpoint without one. Never raises
    for what a server does; the outcome says it.
    """
    module = _sdk(sdk)
    with getattr(module, CLIENTS[sdk])(
        api_key=key or NO_KEY,
        base_url=base_url,
        max_retries=0,
        timeout=timeout_s,
        http_client=module.DefaultHttpxClient(trust_env=False, follow_redirects=False),
    ) as client:
        found = _answer(module, client, model, key)
    return Declared(endpoint, model, f"{sdk} {version(sdk)}", **found)


def _sdk(name: str) -> Any:
    if name == "openai":
        import openai

        return openai
    import anthropic

    return anthropic


def _answer(sdk: Any, client: Any, model: str, key: str | None) -> dict[str, Any]:
    try:
        return _entry(client.models.retrieve(model))
    except sdk.NotFoundError:
        return _from_list(sdk, client, model, key)
    except (sdk.AuthenticationError, sdk.PermissionDeniedError) as error:
        return {"outcome": "refused", "detail": _told(error, key)}
    except (sdk.APIError, ValueError) as error:  # ValueError: a body that is no JSON
        return {"outcome": "no_answer", "detail": _told(error, key)}


def _entry(entry: Any) -> dict[str, Any]:
    """Return `listed`, or `no_list` where a 200 is no entry: the SDKs take any document for one."""
    stated = _stated(entry)
    if not isinstance(stated.get("id"), str):
        return {"outcome": "no_list", "detail": "the answer is no entry of a model list"}
    return {"outcome": "listed", "stated": stated}


def _from_list(sdk: Any, client: Any, model: str, key: str | None) -> dict[str, Any]:
    """Return what the whole list says: many servers have one and no page for a single model."""
    try:
        entries = list(islice(client.models.list(), MOST_LISTED))
        known = {str(entry.id): entry for entry in entries}
    except (sdk.APIError, ValueError, AttributeError, TypeError) as error:
        return {"outcome": "no_list", "detail": _told(error, key)}
    if model in known:
        return _entry(known[model])
    if not known:
        return {"outcome": "no_list", "detail": "the list of models is empty"}
    near = difflib.get_close_matches(model, known, n=3, cutoff=0.5)
    return {"outcome": "not_listed", "near": tuple(printable(name) for name in near)}


def _stated(entry: Any) -> dict[str, JSON]:
    """Return the entry's known fields as JSON values; a field that is not sent is not there."""
    document = entry.model_dump(mode="json", warnings=False) if hasattr(entry, "model_dump") else {}
    return {name: document[name] for name in STATED if document.get(name) is not None}


def _told(error: Exception, key: str | None) -> str:
    """Return an error's word on one line, without the key that was sent."""
    text = " ".join(str(error).split())
    if key:
        text = text.replace(key, "[key]")
    return printable(text)[:300]
