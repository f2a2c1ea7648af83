"""Frozen files on disk: written once, read against their lock, amended, stamped, verified."""
