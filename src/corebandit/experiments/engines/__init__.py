"""Who plays chunks."""
