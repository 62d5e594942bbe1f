"""Moved to corebandit.parts.ridge."""

from corebandit.deprecated import moved

moved(__name__, "corebandit.parts.ridge")
