"""A rule before it is frozen: operating characteristics, pilot, redesign."""
