"""Moved to corebandit.parts.ridge, and what is about spans to corebandit.parts.span."""

from corebandit.deprecated import moved
from corebandit.parts import ridge, span

moved(__name__, "corebandit.parts.ridge")
for _name in ("Span", "new_span"):
    setattr(ridge, _name, getattr(span, _name))
