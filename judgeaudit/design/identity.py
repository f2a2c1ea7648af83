"""Whether the model that a reply names is the one that was registered."""

from __future__ import annotations

import re

from judgeaudit.design.document import EndpointSpec

_SNAPSHOT = re.compile(r"-(\d{4}-\d{2}-\d{2}|\d{8}|\d{6}|\d{4})")


def is_registered(spec: EndpointSpec, name: str) -> bool:
    """Return whether a returned name is the registered model, a snapshot of it, or listed."""
    served = spec.identity.get("served", ())
    listed = [served] if isinstance(served, str) else [str(one) for one in served]
    if name == spec.model or name in listed:
        return True
    if spec.is_simulated and name.startswith("simulated-"):
        return True  # a simulated judge names its scenario, whatever model the registration names
    return name.startswith(spec.model) and bool(_SNAPSHOT.fullmatch(name[len(spec.model) :]))
