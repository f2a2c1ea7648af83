"""What version 0.1 wrote, and how it read replies. Nothing here is ever changed.

Field lists, and the functions that made readings of replies, as they were when 0.1 sealed its
studies. Today's writer and today's readouts are elsewhere and may change; `verify` uses these for
whatever was frozen or sealed in format 1 (docs/decisions/0010-evidence-outlives-the-code.md).
"""
