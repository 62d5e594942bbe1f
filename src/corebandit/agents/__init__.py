"""One decision at a time."""
