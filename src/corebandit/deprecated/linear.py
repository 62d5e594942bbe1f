"""Moved to corebandit.parts.ridge, and what is about spans to corebandit.parts.span."""

from corebandit.deprecated import moved

moved(__name__, "corebandit.parts.ridge", {"corebandit.parts.span": ("Span", "new_span")})
