"""Bodies: every request rendered once, with the one serializer, before anything is sent.

One frozen body belongs to one (endpoint, stage, item, arm); repeats, draws, windows and conditions
send its bytes again. `prompt_sha256` covers the messages alone, so that one prompt can be followed
over endpoints whose bodies must differ.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from judgeaudit.canonical import digest, digest_of
from judgeaudit.design.asking import Asker
from judgeaudit.design.base import plain
from judgeaudit.design.document import EndpointSpec
from judgeaudit.design.protocol import Decoding
from judgeaudit.errors import InputError
from judgeaudit.instrument.provider import provider
from judgeaudit.instrument.spoken import said
from judgeaudit.model import JSON, Ask, FrozenBody, Item

BodyKey = tuple[str, int, str, str]
"""(endpoint, stage, item, arm)."""


@dataclass(frozen=True)
class Composer:
    """Composes the request of any call of a study."""

    asker: Asker
    endpoints: Mapping[str, EndpointSpec]

    @classmethod
    def of(cls, asker: Asker, endpoints: Sequence[EndpointSpec]) -> Composer:
        """Return the composer of a study's endpoints."""
        return cls(asker, {endpoint.id: endpoint for endpoint in endpoints})

    def compose(
        self,
        endpoint: str,
        stage: int,
        item: Item,
        arm: str,
        taken: Mapping[str, str] | None = None,
        instead: Mapping[str, str] | None = None,
    ) -> FrozenBody:
        """Return one frozen body, with texts `instead` of the cell's own.

        Raises `InputError` for what this API cannot be asked.
        """
        asking = self.asker.find(stage, arm)
        ask = asking.readout.ask(asking.item(item, taken, instead), asking.readout_arm(arm))
        spec = self.endpoints[endpoint]
        if asking.prompt.recorded:
            return freeze_recorded(spec, item.id, ask, asking.decoding)
        return freeze_ask(spec, ask, asking.decoding)

    def keys(self, stage: int, items: Iterable[Item]) -> Iterator[tuple[BodyKey, Item]]:
        """Yield what has a body in `stage`: every endpoint, item and arm."""
        shown = list(items)
        for endpoint in self.endpoints:
            for item in shown:
                for asking in self.asker.stages[stage - 1]:
                    for arm in asking.readout.arms(item):
                        yield (endpoint, stage, item.id, asking.arm_of(arm)), item


def compose_stage(
    composer: Composer, stage: int, items: Iterable[Item]
) -> dict[BodyKey, FrozenBody]:
    """Return the bodies of a stage that takes nothing from an earlier one."""
    return {
        key: composer.compose(key[0], key[1], item, key[3])
        for key, item in composer.keys(stage, items)
    }


def freeze_ask(spec: EndpointSpec, ask: Ask, decoding: Decoding) -> FrozenBody:
    """Return what one endpoint is sent for `ask`."""
    request = provider(spec.api).compose(spec.to_endpoint(), ask, decoding_for(spec, decoding))
    messages = [{"role": m.role, "content": m.content} for m in ask.messages]
    return FrozenBody(digest(request.body), digest_of(messages), spec.id, request)


def freeze_recorded(spec: EndpointSpec, item: str, ask: Ask, decoding: Decoding) -> FrozenBody:
    """Return a recorded body as it is: path and headers are the API's, not a byte is composed.

    Raises `InputError` for one that is no request of the endpoint's API, names another model, or
    asks for a stream or for several answers: one call is one reply, received whole.
    """
    text = ask.messages[-1].content
    body = text.encode("utf-8", "surrogatepass")
    found = said(spec.api, body)
    if found is None:
        raise InputError(f"item {item!r}", found="its recorded request is no JSON object")
    wrong = next(
        (
            what
            for what, holds in (
                (f"names the model {found.model!r}, not {spec.model!r}", found.model != spec.model),
                ("asks for a stream", found.stream),
                (f"asks for {found.count} answers", found.count != 1),
            )
            if holds
        ),
        None,
    )
    if wrong is not None:
        remedy = "leave the item out, or register an endpoint that fits"
        raise InputError(f"item {item!r}", found=f"its recorded request {wrong}", remedy=remedy)
    request = provider(spec.api).compose(spec.to_endpoint(), ask, decoding_for(spec, decoding))
    messages = [{"role": m.role, "content": m.content} for m in found.messages]
    return FrozenBody(digest(body), digest_of(messages), spec.id, replace(request, body=body))


def decoding_for(spec: EndpointSpec, decoding: Decoding) -> dict[str, JSON]:
    """Return the decoding parameters in API-neutral names, the endpoint's own word last."""
    common: dict[str, Any] = decoding.model_dump(exclude_none=True)
    merged: dict[str, JSON] = plain({**common, **spec.decoding})
    return merged


def digests(bodies: Mapping[BodyKey, FrozenBody]) -> dict[BodyKey, str]:
    """Return each body's digest by its key."""
    return {key: body.body_sha256 for key, body in bodies.items()}


def distinct(bodies: Iterable[FrozenBody]) -> list[FrozenBody]:
    """Return each (endpoint, body) once, in order of its first use."""
    return list({(body.endpoint, body.body_sha256): body for body in bodies}.values())
