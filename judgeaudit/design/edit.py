"""Changing one thing in a protocol's text without losing its comments, through tomlkit."""

from __future__ import annotations

import tomlkit
from tomlkit.items import Table

from judgeaudit.design.base import read_toml
from judgeaudit.design.draft import Source
from judgeaudit.design.toml import toml_item
from judgeaudit.errors import InputError
from judgeaudit.instrument.readout import READOUTS


def with_prompt(protocol: Source, user: str) -> Source:
    """Return the protocol with a person's own prompt as its only message."""
    document = _parsed(protocol)
    prompt = _table_of(protocol, document, "prompt")
    for key in list(prompt):
        del prompt[key]
    prompt["user"] = toml_item(user)
    return _written(protocol, document)


def with_option(protocol: Source, name: str, value: str | bool) -> Source:
    """Return the protocol with one option of its readout set."""
    document = _parsed(protocol)
    _table_of(protocol, document, "options")[name] = toml_item(value)
    return _written(protocol, document)


def with_structure(protocol: Source, readout: str) -> Source:
    """Return the protocol asking for an answer by JSON schema; unchanged where it cannot."""
    for name, value in READOUTS[readout].record.structured.items():
        protocol = with_option(protocol, name, value)
    return protocol


def with_text(protocol: Source, name: str, value: str) -> Source:
    """Return the protocol with one text of its stages' prompts replaced by a person's own.

    Braces stand for themselves: a person's text is not a template. Raises `InputError` for a name
    that no stage has, or several have.
    """
    document = _parsed(protocol)
    stages = document.get("stages", [])
    having = [stage["texts"] for stage in stages if name in stage.get("texts", {})]
    if len(having) != 1:
        known = [key for stage in stages for key in stage.get("texts", {})]
        once = sorted(key for key in known if known.count(key) == 1)
        found = f"{name!r} in {len(having)} stages"
        raise InputError(protocol.path, "texts", found, f"one of {', '.join(once) or 'none'}")
    having[0][name] = toml_item(value.replace("{", "{{").replace("}", "}}"))
    return _written(protocol, document)


def _parsed(protocol: Source) -> tomlkit.TOMLDocument:
    read_toml(protocol.path, protocol.data)  # its errors name file and place
    return tomlkit.parse(protocol.data)


def _table_of(protocol: Source, document: tomlkit.TOMLDocument, name: str) -> Table:
    table = document.get(name)
    if not isinstance(table, Table):
        raise InputError(protocol.path, f"[{name}]", "no such table", f"add [{name}] to the file")
    return table


def _written(protocol: Source, document: tomlkit.TOMLDocument) -> Source:
    return Source(protocol.path, tomlkit.dumps(document).encode())
