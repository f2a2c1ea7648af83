"""Collection: from a frozen plan to a log, and the one place where bytes leave the process."""
