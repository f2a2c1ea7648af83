"""Readings held against what is known: gold, controls, constructed errors."""
