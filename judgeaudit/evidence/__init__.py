"""What can be shown later: the lock, the log, and readings derived from them."""
