"""Whether the same request gets the same answer: flips, orders, rankings, providers."""
