"""Everything that can be wrong with a study before it is frozen, one file a concern."""
