"""Keys: read from the environment variable that the registration names, and from nowhere else."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from judgeaudit.design.document import EndpointSpec
from judgeaudit.errors import InputError, NoKey


def keys_for(specs: Iterable[EndpointSpec], environment: Mapping[str, str]) -> dict[str, str]:
    """Return each endpoint's key by its id; an endpoint without `key_env` has none.

    Raises `InputError` naming the variable (never its value) that is missing, empty or cannot
    stand in a header.
    """
    return {
        spec.id: _key(spec.id, spec.key_env, environment)
        for spec in specs
        if spec.key_env is not None
    }


def _key(endpoint: str, name: str, environment: Mapping[str, str]) -> str:
    key = environment.get(name, "").strip()
    if not key:
        raise NoKey(
            f"endpoint {endpoint}",
            f"environment variable {name}",
            "not set" if name not in environment else "empty",
            f"export {name}=... and run again; nothing was sent",
        )
    if not (key.isascii() and key.isprintable() and " " not in key):
        raise InputError(
            f"endpoint {endpoint}",
            f"environment variable {name}",
            "holds characters that no HTTP header can carry",
            "check for pasted spaces, line breaks or quotation marks",
        )
    return key
