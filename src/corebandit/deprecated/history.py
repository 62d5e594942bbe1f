"""Moved to corebandit.parts.history."""

from corebandit.deprecated import moved

moved(__name__, "corebandit.parts.history")
