"""Experiments: described, cut into chunks, run, kept and summed up."""
