"""Formats of frozen and sealed files: today's, and every one that a released version wrote."""
