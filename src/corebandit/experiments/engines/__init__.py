"""Who plays runs."""
