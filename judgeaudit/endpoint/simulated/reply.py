"""The simulated endpoint as a pure function: request and moment in, reply out.

A reply depends on (scenario, seed, body digest, virtual time, attempt, load) and on nothing else.
Every reply says that it is simulated: header `x-judgeaudit-simulated`, model `simulated-...`,
fingerprint `fp_simulated_...`, ids, and error messages and free text that begin with SIMULATED.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from judgeaudit.canonical import body_bytes
from judgeaudit.endpoint.simulated import faults, shapes
from judgeaudit.endpoint.simulated.agent import decide
from judgeaudit.endpoint.simulated.draws import Stream
from judgeaudit.endpoint.simulated.faults import LATE_MS, Fault
from judgeaudit.endpoint.simulated.judge import Answer, Virtual, judge
from judgeaudit.endpoint.simulated.question import LOOKED_FOR, Question, understand
from judgeaudit.endpoint.simulated.scenarios import Scenario
from judgeaudit.endpoint.simulated.shapes import ANTHROPIC, OPENAI, BadRequest, Request, Said

SIMULATED_HEADER = "x-judgeaudit-simulated"
LATENCY_HEADER = "x-judgeaudit-virtual-latency-ms"

_DAY_S = 86_400


@dataclass(frozen=True, slots=True)
class SimReply:
    """What goes back, and how.

    `wire`: "" whole, drop (close at once), hang (never), cut (half the body), inside (whole, an
    error), late (whole, with a virtual latency beyond any time-out; where time is real the server
    makes it a hang).
    """

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes
    wire: str = ""


def reply(
    scenario: Scenario,
    seed: int,
    body: Mapping[str, Any],
    body_digest: str,
    when: Virtual,
    *,
    api: str = OPENAI,
    credentials: str = "",
) -> SimReply:
    """Return the reply to one request; `body_digest` is of the body's bytes.

    `credentials` is what the request authenticated with; only the scenario `echo-key` shows it.
    """
    fault = faults.planted_fault(scenario, seed, body_digest, when)
    if fault is not None and (fault.status != 200 or fault.wire in ("drop", "hang", "inside")):
        return _failed(scenario, api, fault)
    if fault is not None and fault.wire == "html":
        page = b"<!doctype html><title>SIMULATED</title><p>Sign in to continue."
        return SimReply(200, (*_headers(scenario, 1), ("content-type", "text/html")), page)
    try:
        request = shapes.read_request(api, body)
        said = _say(scenario, seed, request, body_digest, when)
    except BadRequest as error:
        return _failed(scenario, api, _bad_request(str(error)))
    shaped = (shapes.anthropic_body if api == ANTHROPIC else shapes.openai_body)(said, request)
    whole = _whole(scenario, seed, shaped, body_digest, when, fault)
    return _echoing(whole, shaped, credentials) if scenario.always == "echo-key" else whole


def _say(scenario: Scenario, seed: int, request: Request, body_digest: str, when: Virtual) -> Said:
    question = _understood(tuple(request.messages), _text(request.schema), request.logprobs)
    if question is None:
        raise BadRequest(f"messages: no user text; {LOOKED_FOR}")
    answer = _answer(scenario, seed, request, question, body_digest, when)
    text, finish = shapes.cut(answer.text, request.max_tokens)
    alternatives = answer.alternatives
    if question.kind == "ranking" and faults.is_bare(scenario, seed, body_digest):
        text = faults.bare_array(answer.text)
    if kind := faults.invalidity(scenario, seed, body_digest):
        text, finish = faults.spoiled(kind, text)
        alternatives = ()
    return Said(
        text=text,
        finish=finish,
        alternatives=alternatives,
        model=_model(scenario, when),
        fingerprint=_fingerprint(scenario, seed, body_digest, when),
        id=_made(body_digest, when),
        created=when.t_ns // 1_000_000_000,
    )


def _made(body_digest: str, when: Virtual) -> str:
    """Return what tells this answer from others, also to the same bytes at another time."""
    return f"{body_digest[-12:]}{when.t_ns % 10**9:09d}"


def _text(schema: Mapping[str, Any] | None) -> str | None:
    return json.dumps(schema) if schema else None


@lru_cache(maxsize=4096)
def _understood(
    messages: tuple[tuple[str, str], ...], schema: str | None, logprobs: bool
) -> Question | None:
    """Read a prompt once; a study sends the same one many times."""
    return understand(list(messages), json.loads(schema) if schema else None, logprobs)


def _answer(
    scenario: Scenario,
    seed: int,
    request: Request,
    question: Question,
    body_digest: str,
    when: Virtual,
) -> Answer:
    if scenario.agent:
        conversation = "\n".join(text for _, text in request.messages)
        draws = Stream(seed, "agent", body_digest, when.t_ns)
        decided = decide(scenario, conversation, question, request.schema, draws)
        if decided is not None:
            return Answer(decided)
    return judge(scenario, seed, question, body_digest, when)


def _model(scenario: Scenario, when: Virtual) -> str:
    name = f"simulated-{scenario.name}"
    return f"{name}-{when.day // scenario.model_days}" if scenario.model_days else name


def _fingerprint(scenario: Scenario, seed: int, body_digest: str, when: Virtual) -> str:
    if scenario.fingerprints <= 1:
        return "fp_simulated_1"
    draws = Stream(seed, "fingerprint", body_digest, when.t_ns)
    return f"fp_simulated_{when.day % 1000}_{draws.index(scenario.fingerprints)}"


def _headers(scenario: Scenario, latency_ms: int) -> tuple[tuple[str, str], ...]:
    return ((SIMULATED_HEADER, scenario.name), (LATENCY_HEADER, str(latency_ms)))


def _whole(
    scenario: Scenario,
    seed: int,
    shaped: Mapping[str, Any],
    body_digest: str,
    when: Virtual,
    fault: Fault | None,
) -> SimReply:
    late = fault is not None and fault.wire == "late"
    draws = Stream(seed, "latency", body_digest, when.t_ns)
    latency = LATE_MS if late else int((300 + 200 * draws.uniform()) * (1 + 0.1 * when.load))
    request_id = "request-id" if shaped.get("type") == "message" else "x-request-id"
    headers = (
        ("content-type", "application/json"),
        (request_id, f"req_simulated_{_made(body_digest, when)}_{when.attempt}"),
        *_headers(scenario, latency),
    )
    return SimReply(200, headers, body_bytes(shaped), fault.wire if fault is not None else "")


def _failed(scenario: Scenario, api: str, fault: Fault) -> SimReply:
    content = shapes.error_body(api, fault.type_, fault.message, fault.code)
    headers = (("content-type", "application/json"), *fault.headers, *_headers(scenario, 20))
    return SimReply(fault.status, headers, body_bytes(content), fault.wire)


def _bad_request(message: str) -> Fault:
    return Fault(
        "badrequest",
        status=400,
        type_="invalid_request_error",
        message=f"SIMULATED: {message}",
    )


def _echoing(whole: SimReply, shaped: Mapping[str, Any], credentials: str) -> SimReply:
    """Show the credentials where a careless server might: in the body, a header, a cookie."""
    headers = (
        *whole.headers,
        ("x-debug-authorization", credentials),
        ("set-cookie", f"session={credentials.replace(' ', '+')}; Path=/"),
    )
    body = body_bytes({**shaped, "debug": {"authorization": credentials}})
    return replace(whole, headers=headers, body=body)


def unreadable(scenario: Scenario, api: str, message: str, status: int = 400) -> SimReply:
    """Return the error for a request that is no JSON object, or for a path not served."""
    kind = "not_found_error" if status == 404 else "invalid_request_error"
    return _failed(
        scenario,
        api,
        Fault("badrequest", status=status, type_=kind, message=f"SIMULATED: {message}"),
    )


def models(scenario: Scenario, when: Virtual) -> SimReply:
    """Return the list of models: the one that is simulated."""
    entry = {
        "id": _model(scenario, when),
        "object": "model",
        "created": 0,
        "owned_by": "judgeaudit",
    }
    headers = (("content-type", "application/json"), *_headers(scenario, 1))
    return SimReply(200, headers, json.dumps({"object": "list", "data": [entry]}).encode())
