"""Where calls go: `--to URL` as a harness would be given it, and the variables that point here.

* Paths pass unchanged: with `--to https://api.openai.com/v1` a harness is given
  `http://127.0.0.1:PORT/v1`, and what it asks below goes to the same path of `api.openai.com`. A
  URL without a path serves both APIs of the usual servers: `/v1` for OpenAI's SDK, nothing for
  Anthropic's, which adds `/v1` itself.
* With several targets each has a name, and its name stands before the path: `--to a=URL` is reached
  at `http://127.0.0.1:PORT/a/...`.
* On an address that other machines reach, the first part of every path is a token.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from judgeaudit.design.addresses import address_fault
from judgeaudit.design.secrets import secret_in_url
from judgeaudit.errors import InputError

_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,40}")
SOLE = "upstream"
"""The name of a target without one."""


@dataclass(frozen=True, slots=True)
class Target:
    """One upstream: its name in the log, its origin, the path of its base, its prefix here."""

    name: str
    origin: str
    path: str
    prefix: str = ""

    @property
    def is_anthropic(self) -> bool:
        """Whether Anthropic's SDK is what speaks to it."""
        return "anthropic" in self.name or "anthropic" in self.origin


def targets_of(given: Sequence[str]) -> tuple[Target, ...]:
    """Return the targets of `--to`; raises `InputError` for what is no address or no name."""
    if not given:
        raise InputError("--to", found="missing", remedy="name the judge's base URL")
    found = [_target(text, several=len(given) > 1) for text in given]
    names = [target.name for target in found]
    if len(set(names)) < len(names):
        raise InputError("--to", found="two targets of one name", remedy="write NAME=URL for each")
    return tuple(found)


def _target(text: str, *, several: bool) -> Target:
    name, sign, url = text.partition("=")
    if not sign or "/" in name:
        name, url = SOLE, text
        if several:
            remedy = "write NAME=URL for each of several targets"
            raise InputError("--to", found=f"{text!r} has no name", remedy=remedy)
    elif not _NAME.fullmatch(name):
        raise InputError("--to", found=f"name {name!r}", remedy="use a-z, 0-9, - and _")
    url = url.rstrip("/")
    if (fault := address_fault(url)) is not None:
        raise InputError("--to", "", *fault)
    if secret := secret_in_url(url):
        remedy = "leave it out: the harness sends its own key, which is passed on"
        raise InputError("--to", found=f"{secret} in the URL", remedy=remedy)
    parts = urlsplit(url)
    if parts.query:
        remedy = "leave it out: what the harness adds is passed on"
        raise InputError("--to", found=f"a query in {url!r}", remedy=remedy)
    return Target(
        name, f"{parts.scheme}://{parts.netloc}", parts.path, f"/{name}" if several else ""
    )


def route(path: str, targets: Sequence[Target], token: str = "") -> tuple[Target, str] | None:
    """Return the target of a request's path and the path there; None where there is none.

    `path` may carry a query, which stays.
    """
    if token:
        if not path.startswith(f"/{token}/"):
            return None
        path = path[len(token) + 1 :]
    for target in targets:
        if not target.prefix:
            return target, path
        if path.startswith(f"{target.prefix}/"):
            return target, path[len(target.prefix) :]
    return None


def openai_base(here: str, target: Target) -> str:
    """Return what OPENAI_BASE_URL must be: with `/v1` where the target's base has no path."""
    return f"{here}{target.prefix}{target.path or '/v1'}"


def anthropic_base(here: str, target: Target) -> str:
    """Return what ANTHROPIC_BASE_URL must be: without `/v1`, which the SDK adds."""
    return f"{here}{target.prefix}{target.path.removesuffix('/v1')}"


def environment(here: str, targets: Sequence[Target], before: Mapping[str, str]) -> dict[str, str]:
    """Return a harness's environment: `before` with the variables that point it here.

    Where several targets are named, OpenAI's variables name the first that is not Anthropic's.
    """
    changed = dict(before)
    openai = next((t for t in targets if not t.is_anthropic), None)
    anthropic = next((t for t in targets if t.is_anthropic), None)
    if len(targets) == 1:
        openai = anthropic = targets[0]
    if openai is not None:
        changed["OPENAI_BASE_URL"] = changed["OPENAI_API_BASE"] = openai_base(here, openai)
    if anthropic is not None:
        changed["ANTHROPIC_BASE_URL"] = anthropic_base(here, anthropic)
    for name in ("NO_PROXY", "no_proxy"):
        known = [part for part in before.get(name, "").split(",") if part.strip()]
        changed[name] = ",".join([*known, "127.0.0.1", "localhost"])
    return changed


def check_host(host: str, token: str) -> None:
    """Raise `InputError` for an address that others reach, without a token that keeps them out."""
    try:
        loopback = ipaddress.ip_address(host).is_loopback
    except ValueError:
        loopback = host == "localhost"
    if not loopback and len(token) < 16:
        raise InputError(
            "--host",
            found=f"{host} is reached from other machines, and there is no token",
            remedy="give --token-env VAR with a token of 16 characters or more, or keep 127.0.0.1",
        )
    if token and not re.fullmatch(r"[\w.~-]+", token, re.ASCII):
        found = "a token with characters that no path carries"
        raise InputError("--token-env", found=found, remedy="use letters, digits, - . _ ~")
