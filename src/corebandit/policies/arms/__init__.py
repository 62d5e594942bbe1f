"""Policies that choose among arms."""
