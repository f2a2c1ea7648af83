"""A gateway in front of somebody's harness, for one session."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from judgeaudit.analysis.shadow.kinds import ShadowReport
from judgeaudit.errors import InputError
from judgeaudit.gateway.address import SOLE, Target, targets_of
from judgeaudit.gateway.headers import Pairs
from judgeaudit.gateway.kinds import FREE, is_of
from judgeaudit.gateway.reask import Settings
from judgeaudit.gateway.replay import load_replay
from judgeaudit.gateway.run import Ended, Plan, Tell, replaying, session
from judgeaudit.instrument.spoken import said
from judgeaudit.instrument.value import value_rule
from judgeaudit.study.folders import Folder
from judgeaudit.study.gateway_log import analyze_log
from judgeaudit.study.loops import outside_a_loop

__all__ = ["Ended", "Passed", "gateway"]


@dataclass(frozen=True, slots=True)
class Passed:
    """A session that ended: its counts, the command's exit code, and what its log says."""

    ended: Ended
    report: ShadowReport | None = None


@outside_a_loop
def gateway(
    to: Sequence[str],
    log: Folder,
    *,
    command: Sequence[str] = (),
    reask: float = 0.0,
    seed: int = 0,
    kinds: Sequence[str] = (),
    models: Sequence[str] = (),
    in_flight: int = 4,
    budget: int | None = None,
    value: str | None = None,
    system: str | None = None,
    host: str = "127.0.0.1",
    port: int = 0,
    token: str = "",
    replay: Folder | None = None,
    pass_through: Literal["new"] | None = None,
    tell: Tell = lambda text: None,
    environ: Mapping[str, str] = os.environ,
) -> Passed:
    """Serve a gateway until `command` ends, or until interrupted; the session is sealed on return.

    `to` are the upstreams (`URL` or `NAME=URL`), `log` the folder of the log. `reask` is the share
    of the harness's answered calls that is asked again, twice each, narrowed by `kinds` (names or
    words of a prompt) and `models`. `value` says how answers are read (`$.score`, `GRADE:`; exact
    text without it), `system` what is judged: a header's name, or a pattern with a group.
    With `replay` a log's recorded answers are given; `pass_through="new"` lets unknown requests
    through. Raises `InputError` for what cannot be served, `ExecutorBusy` where another writes.
    """
    if not 0 <= reask <= 1:
        raise InputError("--reask", found=f"{reask:g}", remedy="give a share from 0 to 1")
    root = Path(log)
    rule = value_rule(value)
    answers = None if replay is None else load_replay(Path(replay))
    alone = answers is not None and pass_through is None
    targets = (Target(SOLE, "", ""),) if alone and not to else targets_of(to)
    settings = {
        "value": rule.word,
        "reask": f"{reask:g}",
        "seed": seed,
        "kinds": list(kinds),
        "models": list(models),
        "in_flight": in_flight,
        "budget": budget,
        "system": system,
        "targets": {target.name: target.origin + target.path for target in targets},
    }
    asking = Settings(reask, seed, in_flight, budget, wanted=_wanted(kinds, models))
    plan = Plan(
        root,
        targets,
        asking,
        settings,
        host,
        port,
        token,
        None if system is None else _system(system),
        answers,
        tuple(command),
    )
    if alone:
        return Passed(asyncio.run(replaying(plan, tell, environ)))
    ended = asyncio.run(session(plan, tell, environ))
    if ended.session is None or ended.manifest is None:
        return Passed(ended)
    return Passed(ended, analyze_log(root, sessions=(ended.session,)))


def _wanted(kinds: Sequence[str], models: Sequence[str]) -> Callable[[str, bytes], bool] | None:
    if not kinds and not models:
        return None
    for word in kinds:
        if word.endswith(FREE) or not word.strip():
            remedy = "choose them with --model"
            raise InputError("--kind", found=f"{word!r}: prompts that share no text", remedy=remedy)

    def wanted(api: str, body: bytes) -> bool:
        found = said(api, body)
        if found is None or (models and found.model not in models):
            return False
        return not kinds or any(is_of(found, word) for word in kinds)

    return wanted


def _system(wish: str) -> Callable[[Pairs, bytes], str | None]:
    """Return what reads the system: a header by its name, or the group of a pattern in the body."""
    if re.fullmatch(r"[A-Za-z0-9-]+", wish):
        name = wish.lower()
        return lambda pairs, body: next((v for n, v in pairs if n.lower() == name), None)
    try:
        pattern = re.compile(wish)
    except (re.error, OverflowError, RecursionError) as error:
        found = f"{wish[:80]!r} is neither a header's name nor a pattern: {error}"
        raise InputError(
            "--system", found=found, remedy="write X-System, or 'model=(\\w+)'"
        ) from None
    if pattern.groups != 1:
        found = f"{wish!r} has {pattern.groups} groups"
        raise InputError("--system", found=found, remedy="mark the system with one group ( )")

    def read(pairs: Pairs, body: bytes) -> str | None:
        match = pattern.search(body.decode("utf-8", "replace"))
        return match.group(1) if match else None

    return read
