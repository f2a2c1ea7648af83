"""The common ground of all registration documents: strict models, durations, thresholds.

Numbers come from TOML as `Decimal` (see `read_toml`), so that a threshold is exactly the decimal
that a person wrote. Unknown keys are refused everywhere.
"""

from __future__ import annotations

import re
import tomllib
from datetime import timedelta
from decimal import Decimal
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, StringConstraints

from judgeaudit.errors import InputError

_DURATION = re.compile(r"(\d+(?:\.\d+)?)\s*(ms|s|min|h|d)")
_UNITS = {"ms": 0.001, "s": 1.0, "min": 60.0, "h": 3600.0, "d": 86400.0}


class Strict(BaseModel):
    """A frozen model that refuses keys it does not know."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)


def parse_duration(value: object) -> timedelta:
    """Read `"90s"`, `"10min"`, `"2h"`, `"1d"` (or a timedelta); raises ValueError otherwise."""
    if isinstance(value, timedelta):
        return value
    found = _DURATION.fullmatch(value.strip()) if isinstance(value, str) else None
    if found is None:
        raise ValueError(f'{value!r} is no duration; write "90s", "10min", "2h" or "1d"')
    try:
        return timedelta(seconds=float(found[1]) * _UNITS[found[2]])
    except OverflowError as error:
        raise ValueError(f"{value!r} is longer than a clock can count") from error


Duration = Annotated[timedelta, BeforeValidator(parse_duration)]
Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$")]
"""An identifier that is safe in file names and call ids."""
Share = Annotated[Decimal, "0 to 1"]


def read_toml(source: str, data: bytes) -> dict[str, Any]:
    """Return a TOML document with its numbers as `Decimal`; raises `InputError` with the line."""
    try:
        return tomllib.loads(data.decode("utf-8"), parse_float=Decimal)
    except UnicodeDecodeError as error:
        raise InputError(source, f"byte {error.start}", "not UTF-8") from error
    except (ValueError, ArithmeticError, RecursionError) as error:
        # Beside TOML's own errors: 5000 digits, an exponent beyond Decimal's, a thousand brackets.
        found = f"not TOML 1.0: {error or type(error).__name__}"
        raise InputError(source, found=found) from error


def plain(value: Any) -> Any:
    """Turn TOML values into JSON values: decimals to int or float, dates to ISO text."""
    if isinstance(value, Decimal):
        return float(value)  # tomllib makes a Decimal of what has a point, an exponent or is NaN
    if isinstance(value, dict):
        return {key: plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [plain(inner) for inner in value]
    if hasattr(value, "isoformat"):
        return value.isoformat()
    return value
