"""Moved to corebandit.reproduction.theory."""

from corebandit.deprecated import moved

moved(__name__, "corebandit.reproduction.theory")
