"""A new study's files, as values: what `judgeaudit init` writes.

The registration is text with comments, made to be edited. Its cap is what the plan needs and a
quarter more for retries.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from judgeaudit.battery import items_to_bytes
from judgeaudit.design.asking import Asker
from judgeaudit.design.check.study import check
from judgeaudit.design.document import Registration
from judgeaudit.design.draft import Draft, Source, parse_document
from judgeaudit.design.protocol import ProtocolDocument, StudyDefaults
from judgeaudit.design.toml import toml_string
from judgeaudit.errors import InputError, Problem, RegistrationError
from judgeaudit.instrument.provider import CATALOGUE
from judgeaudit.instrument.readout import READOUTS, Readout
from judgeaudit.model import Item
from judgeaudit.statistic import Catalogue, Facet, Statistic


@dataclass(frozen=True, slots=True)
class EndpointChoice:
    """What a person said of the judge; None is "not said"."""

    api: str = "openai.chat"
    base_url: str | None = None
    model: str | None = None
    key_env: str | None = None

    def settled(self, readout: str) -> EndpointChoice:
        """Return the choice with everything filled in.

        Without an address the judge is the simulated one, or, if a model or a key is named, the
        API's own. A key variable is assumed for the API's own address only.
        """
        if self.api not in CATALOGUE:
            raise InputError("--api", found=repr(self.api), remedy=f"one of {', '.join(CATALOGUE)}")
        record = CATALOGUE[self.api].record
        hosted = self.model is not None or self.key_env is not None
        simulated = READOUTS[readout].record.simulated
        url = self.base_url or (record.base_url if hosted else simulated)
        model = self.model or _embedded_model(url)
        if model is None:
            raise InputError("--model", found="missing", remedy=f"name the model at {url}")
        hosts = urlsplit(url).hostname, urlsplit(record.base_url).hostname
        own = hosts[0] == hosts[1] and not _is_embedded(url)
        key = self.key_env or (record.key_env if own else None)
        return EndpointChoice(self.api, url, model, key)


def _is_embedded(url: str) -> bool:
    return url.startswith("embedded:")


def _embedded_model(url: str) -> str | None:
    if url == "embedded:local":
        return "SmolLM2-135M-Instruct"
    return "simulated-judge" if _is_embedded(url) else None


@dataclass(frozen=True, slots=True)
class Origin:
    """Where the items came from: a battery's kind and seed, or a person's file."""

    kind: str
    note: str
    seed: int | None = None


def scaffold(
    folder: Path,
    protocol: Source,
    items: Sequence[Item],
    controls: Sequence[Item],
    endpoint: EndpointChoice,
    origin: Origin,
    statistics: Catalogue,
) -> dict[str, bytes]:
    """Return the files of a study that passes `check`, by name.

    Raises `RegistrationError` with every problem of a study that would not pass.
    """
    document, problems = parse_document(ProtocolDocument, protocol)
    if document is None:
        raise RegistrationError(protocol.path, problems)
    files = {"protocol.toml": protocol.data, "items.jsonl": items_to_bytes(items)}
    if controls:
        files["controls.jsonl"] = items_to_bytes(controls)

    def draft(cap: int) -> Draft:
        text = registration_text(
            folder, document, items, bool(controls), endpoint, origin, cap, statistics
        )
        files["registration.toml"] = text.encode()
        return as_draft(folder, files, document, items, controls)

    report = check(draft(10**9), statistics)
    if report.numbers is None or report.problems:
        raise RegistrationError(folder, report.problems or (Problem("study", "has no plan"),))
    needed = report.numbers.needed
    final = check(draft(needed + max(10, needed // 4)), statistics)
    if final.problems:
        raise RegistrationError(folder, final.problems)
    return files


def as_draft(
    folder: Path,
    files: dict[str, bytes],
    protocol: ProtocolDocument,
    items: Sequence[Item],
    controls: Sequence[Item],
) -> Draft:
    """Return the draft that these files would be."""
    source = Source("registration.toml", files["registration.toml"])
    document, problems = parse_document(Registration, source)
    return Draft(
        folder,
        {"registration": source},
        document,
        protocol,
        tuple(items),
        tuple(controls),
        tuple(problems),
    )


def study_id(folder: Path) -> str:
    """Return a study id made from a folder's name."""
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", folder.resolve().name).strip("-._")
    return name[:64] or "study"


def registration_text(
    folder: Path,
    protocol: ProtocolDocument,
    items: Sequence[Item],
    has_controls: bool,
    endpoint: EndpointChoice,
    origin: Origin,
    cap: int,
    statistics: Catalogue,
) -> str:
    """Return `registration.toml` with comments."""
    asked = Asker.of(protocol).stages[-1][0].readout
    readout = asked.record.name
    usual = protocol.study_defaults
    names = usual.analyses or analyses(asked, items, statistics)
    listed = ", ".join(f'"{name}"' for name in names)
    parts = [
        _study_text(folder, protocol, readout, listed),
        _files_text(origin, has_controls),
        _endpoint_text(endpoint.settled(readout)),
        _schedule_text(cap, usual),
        usual.gates or _gate_text(readout, statistics),
    ]
    return "\n".join(parts)


def analyses(readout: Readout, items: Sequence[Item], statistics: Catalogue) -> list[str]:
    """Return what a new study of this readout registers: defaults whose facets its items hold."""
    lacking: set[Facet] = set()
    if all(len(readout.arms(item)) < 2 for item in items):
        lacking.add("arms")
    if all(item.gold is None for item in items):
        lacking.add("gold")
    return [
        name
        for name, found in statistics.items()
        if readout.record.analysed_as in found.defaults and not found.needs & lacking
    ]


def _study_text(folder: Path, protocol: ProtocolDocument, readout: str, listed: str) -> str:
    title, claim = protocol.title or protocol.name, READOUTS[readout].record.claim
    return f"""\
# A reliability study of one judge. Edit it, then:
#   judgeaudit prereg check DIR     lists every problem, and what the study will cost
#   judgeaudit prereg freeze DIR    renders every request once and locks the study
#   judgeaudit run DIR --all        asks; then: judgeaudit analyze DIR

# What `judgeaudit analyze` computes. Without gates and rules all of it is exploratory.
analyses = [{listed}]

[study]
id = {toml_string(study_id(folder))}
title = {toml_string(title)}
authors = ["(your name)"]
claim = "{claim}"       # the granularity that the consumer of the judge uses
hypotheses = []
prohibitions = ["no retry until answers agree", "no item dropped after the fact"]

# What uses this judge (leaderboard_order, best_of_n, pass_fail_filter, reward_sign, ranking or
# other), and the largest share of wrong or flipped decisions it can live with:
# [study.consumer]
# decision = "pass_fail_filter"
# tolerated = 0.05
"""


def _files_text(origin: Origin, has_controls: bool) -> str:
    seed = "" if origin.seed is None else f"seed = {origin.seed}\n"
    controls = (
        "\n# Known-answer items, asked once in every window and never counted as probes.\n"
        '[controls]\nitems = "controls.jsonl"\n'
        if has_controls
        else ""
    )
    return f"""\
[protocol]
file = "protocol.toml"

# {origin.note}
[battery]
file = "items.jsonl"
kind = {toml_string(origin.kind)}
{seed}{controls}"""


def _endpoint_text(endpoint: EndpointChoice) -> str:
    lines = [
        "[[endpoints]]",
        'id = "judge"',
        f'api = "{endpoint.api}"',
        f"base_url = {toml_string(endpoint.base_url or '')}",
        f"model = {toml_string(endpoint.model or '')}",
    ]
    if endpoint.key_env is not None:
        lines.append(f"key_env = {toml_string(endpoint.key_env)}   # the variable, never the key")
    record = CATALOGUE[endpoint.api].record
    if record.api_version is not None:
        version = toml_string(record.api_version)
        lines.append(f"api_version = {version}   # part of the experiment")
    if record.decoding:
        pairs = ", ".join(f"{name} = {toml_string(v)}" for name, v in record.decoding.items())
        lines.append("# Newer models of this API refuse it; leave this line out for others.")
        lines.append(f"decoding = {{ {pairs} }}")
    if _is_embedded(endpoint.base_url or ""):
        lines.append("# An embedded judge needs no key. For a hosted one write its address, model")
        lines.append('# and key_env = "NAME_OF_THE_VARIABLE".')
    else:
        lines.append("# requests_per_minute = 60")
        lines.append('# prices = { prompt = 1.00, completion = 4.00, currency = "USD" }')
    return "\n".join([*lines, ""])


def _schedule_text(cap: int, usual: StudyDefaults) -> str:
    repeats = f"repeats = {usual.repeats}"
    cluster = f'cluster = "{usual.cluster}"'
    most = f"cap = {cap}"
    return f"""\
[schedule]
seed = 1                  # draws every order; change it before the freeze, not after
days = 1
windows_per_day = 1       # several windows: set min_gap, e.g. "2h"
{repeats:<25} # the same bytes again within a window
{most:<25} # attempts at planned calls, retries included: never more

[[schedule.conditions]]
name = "quiet"
in_flight = 1

# A second condition, interleaved with the first in seeded order:
# [[schedule.conditions]]
# name = "loaded"
# in_flight = 8

[unit]
{cluster:<25} # what is independent of each other
"""


def _gate_text(readout: str, statistics: Catalogue) -> str:
    analysed_as = READOUTS[readout].record.analysed_as
    shown = next((one for one in statistics.values() if _is_shown(one, analysed_as)), None)
    if shown is None or shown.example is None:
        return ""
    example = shown.example
    return f"""\
# A gate passes, fails, is inconclusive or undefined. Freeze none on what was never piloted:
# declare the judge that it is to pass (healthy) and the one that it is to stop (degraded), then
# `judgeaudit prereg oc DIR`, `judgeaudit pilot DIR`, and the digest that it prints under [pilot].
# [[gates]]
# id = "repeatability"
# statistic = "{shown.name}"
# over = "same_window"
# {example.threshold}
# decide = "bound"
# healthy = {{ value = {example.healthy} }}
# degraded = {{ value = {example.degraded} }}
"""


def _is_shown(found: Statistic, readout: str) -> bool:
    return found.example is not None and readout in found.example.readouts
