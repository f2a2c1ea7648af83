"""The versions of the rules by which a reply becomes a value.

A study is read for ever by the version that its lock names; a lock without one was made by 0.1 and
means the first. A change that could give a sealed reply another value is a new version here.
"""

from __future__ import annotations

from enum import IntEnum


class Rules(IntEnum):
    """A version of the reading rules.

    `V1`: any ending is whole that is not known to be a cut or a refusal; text parts are joined
    without anything between them; of several choices the first is read; an error beside an answer
    is overlooked; log-probabilities count as such down to -9999.

    `V2`: an ending is whole only where the API documents it so; several text parts or several
    choices are no reading; an error anywhere in a document overrides its text; log-probabilities
    at or below a readout's floor are fillers.
    """

    V1 = 1
    V2 = 2


CURRENT = Rules.V2
"""The version that new studies are frozen with."""
