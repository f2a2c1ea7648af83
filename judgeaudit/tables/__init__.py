"""Anybody's data on the way to the readings table, and tables on the way to disk."""
