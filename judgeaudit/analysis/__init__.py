"""Analyses: readings in, estimates out. Pure: no disk, no network, no clock."""
