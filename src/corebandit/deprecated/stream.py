"""Moved to corebandit.randomness.stream."""

from corebandit.deprecated import moved

moved(__name__, "corebandit.randomness.stream")
