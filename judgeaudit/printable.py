r"""Text from servers and files, made safe to show.

What is shown on a terminal, in a line of a log or in a CI job may hold what a stranger wrote: a
server's error, a model's name, an item's id. Shown raw, an escape sequence repaints a terminal, a
line break followed by `::error::` forges an annotation, and a bidirectional control reorders what
a reader sees. Here

* every control character (C0, DEL, C1, so that no escape sequence begins), line and paragraph
  separators, bidirectional controls, characters that show nothing and lone surrogates become
  their Python escapes: `\x1b`;
* a line that would be read as a workflow command (`::name::`, `##[name]`) begins with a backslash.

Everything else, letters of any language and emoji included, stays as it is. What is stored stays
as it came: only what is shown passes here.
"""

from __future__ import annotations

import json
import re
from typing import Any

_HIDDEN = (
    "\x00-\x1f\x7f-\x9f"  # C0, DEL and C1: 0x9b alone begins an escape sequence
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # bidirectional controls
    "\xad\u180e\u200b\u2060-\u2065\ufeff\U000e0000-\U000e007f"  # letters that show nothing
    "\u2028\u2029"  # separators that some programs break lines at
    "\ud800-\udfff"  # surrogates, which no encoding of a terminal can carry
)
_ONE_LINE = re.compile(f"[{_HIDDEN}]")
_LINES = re.compile(f"(?![\n\t])[{_HIDDEN}]")
_COMMAND = re.compile(r"^(\s*)(?=::|##\[)", re.MULTILINE)


def printable(text: str) -> str:
    """Return `text` as one line that shows every character it has and acts on nothing."""
    return text if text.isprintable() else _ONE_LINE.sub(_escaped, text)


def printable_lines(text: str) -> str:
    """Return a text of several lines made safe; line feeds and tabs stay.

    A line that a CI service would take for a command of its own is marked as none.
    """
    safe = text if text.isprintable() else _LINES.sub(_escaped, text)
    return _COMMAND.sub(r"\1\\", safe) if "::" in safe or "##[" in safe else safe


def _escaped(found: re.Match[str]) -> str:
    return ascii(found.group())[1:-1]


def printable_json(value: Any, *, indent: int | None = None) -> str:
    """Return `value` as JSON that is safe to show: the same characters, as JSON escapes."""
    text = json.dumps(value, ensure_ascii=False, indent=indent, default=str)
    return text if text.isprintable() else _LINES.sub(lambda m: f"\\u{ord(m.group()):04x}", text)
