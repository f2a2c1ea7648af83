"""Reading JSON that evidence is kept in: an error names the file, in one line, whatever is in it.

Refused are bytes that are no UTF-8, a key twice, NaN and infinities, integers beyond 2^53 (readers
disagree on them, and the canonical form has none) and nesting too deep to read.
"""

from __future__ import annotations

import json
from typing import Any

from judgeaudit.errors import EvidenceError

LARGEST = 2**53 - 1


def load_json(data: bytes, source: object, *, any_integer: bool = False) -> Any:
    """Return the document in `data`; raises `EvidenceError` naming `source` and what was found.

    `any_integer` reads integers beyond 2^53 too, which Python wrote and Python reads.
    """
    try:
        return json.loads(
            data.decode("utf-8"),
            object_pairs_hook=_once,
            parse_constant=_no_constant,
            parse_int=int if any_integer else _exact,
        )
    except UnicodeDecodeError as error:
        raise EvidenceError(f"{source}: not UTF-8 at byte {error.start}") from None
    except RecursionError:
        raise EvidenceError(f"{source}: nested too deep to be read") from None
    except ValueError as error:
        raise EvidenceError(f"{source}: not JSON: {str(error)[:200]}") from None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise ValueError(f"key {name[:80]!r} occurs twice")
        found[name] = value
    return found


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON number")


def _exact(text: str) -> int:
    if len(text) > 17 or abs(int(text)) > LARGEST:
        shown = text if len(text) <= 40 else f"{text[:40]}..."
        raise ValueError(f"integer {shown} is beyond 2^53")
    return int(text)
