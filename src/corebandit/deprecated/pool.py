"""Moved to corebandit.parts.pool."""

from corebandit.deprecated import moved

moved(__name__, "corebandit.parts.pool")
