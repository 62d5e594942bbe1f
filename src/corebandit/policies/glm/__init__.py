"""Policies that choose by features, with a generalised linear model."""
