"""Changing one thing in a protocol's text without losing its comments.

Every change is checked: the edited text must parse to the document that was meant, otherwise the
file is of a form that only a person should edit.
"""

from __future__ import annotations

import json
import re
from typing import Any

from judgeaudit.design.base import read_toml
from judgeaudit.design.draft import Source
from judgeaudit.errors import InputError
from judgeaudit.instrument.readout import READOUTS

_PROMPT = re.compile(r"^\[prompt\]\n.*?(?=^\[[a-z_]+\]\n|\Z)", re.M | re.S)
_OPTIONS = re.compile(r"^\[options\]\n", re.M)
_TEXT = r'^{name} = (?:"""\n.*?"""|"[^"\n]*")$'  # as the shipped protocols write texts


def toml_string(text: str) -> str:
    """Return a TOML string that reads back as `text`, on several lines where it has several."""
    plain_text = all(char.isprintable() or char in "\n\t" for char in text)
    if "\n" in text and plain_text and "'''" not in text and not text.endswith("'"):
        return f"'''\n{text}'''"
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def with_prompt(protocol: Source, user: str) -> Source:
    """Return the protocol with a person's own prompt as its only message."""
    prompt = f"[prompt]\nuser = {toml_string(user)}\n\n"
    text, count = _PROMPT.subn(lambda _: prompt, protocol.data.decode("utf-8"))
    return _checked(protocol, text, count, ("prompt",), {"user": user})


def with_option(protocol: Source, name: str, value: str | bool) -> Source:
    """Return the protocol with one option of its readout set."""
    text = protocol.data.decode("utf-8")
    written = toml_string(value) if isinstance(value, str) else str(value).lower()
    present = re.compile(rf"^{re.escape(name)} = .*$", re.M)
    start = _OPTIONS.search(text)
    if start is None:
        return _checked(protocol, text, 0, (), None)
    head, options = text[: start.end()], text[start.end() :]
    end = re.search(r"^\[", options, re.M)
    body, rest = (options, "") if end is None else (options[: end.start()], options[end.start() :])
    body, count = present.subn(lambda _: f"{name} = {written}", body)
    body = body if count else f"{name} = {written}\n{body}"
    return _checked(protocol, head + body + rest, 1, ("options", name), value)


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
    stages = read_toml(protocol.path, protocol.data).get("stages", [])
    known = [key for stage in stages for key in stage.get("texts", {})]
    if known.count(name) != 1:
        once = sorted(key for key in known if known.count(key) == 1)
        found = f"{name!r} in {known.count(name)} stages"
        raise InputError(protocol.path, "texts", found, f"one of {', '.join(once) or 'none'}")
    literal = value.replace("{", "{{").replace("}", "}}")
    line = f"{name} = {toml_string(literal)}"
    pattern = re.compile(_TEXT.format(name=re.escape(name)), re.M | re.S)
    text, count = pattern.subn(lambda _: line, protocol.data.decode("utf-8"))
    number = next(n for n, stage in enumerate(stages) if name in stage.get("texts", {}))
    return _checked(protocol, text, count, ("stages", number, "texts", name), literal)


def _checked(
    protocol: Source, text: str, count: int, path: tuple[str | int, ...], meant: object
) -> Source:
    found: Any = read_toml(protocol.path, text.encode()) if count == 1 else None
    for key in path:
        found = found[key] if isinstance(key, int) else (found or {}).get(key)
    if count != 1 or found != meant:
        raise InputError(
            protocol.path,
            f"[{path[0]}]" if path else "[options]",
            "not in the form that can be edited automatically",
            "edit the protocol file yourself and name its path",
        )
    return Source(protocol.path, text.encode())
