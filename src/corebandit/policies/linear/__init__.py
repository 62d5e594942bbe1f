"""Policies that choose by features, with a linear model."""
