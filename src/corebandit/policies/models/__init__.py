"""Policies around anyone's estimator."""
