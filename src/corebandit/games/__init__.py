"""The compiled loops in which a policy meets a problem."""
