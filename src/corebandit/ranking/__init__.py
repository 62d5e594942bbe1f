"""Ranking policies, and the problems they are studied on."""
