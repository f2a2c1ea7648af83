"""Memory luck: whether a lesson carries chance into the next decision."""
