"""Every sentence of ours is an error of one of these kinds, so that callers can tell them apart from bugs.

All derive from `BadInput`, which is a `ValueError`. Whoever answers requests maps them: an unknown decision or arm is
not found, one already told a conflict, the rest cannot be processed.
"""


class BadInput(ValueError):
    """Something given to corebandit is wrong; the message says what, and what would be right. Nothing was changed."""


class UnknownDecision(BadInput):
    """No such decision was made here."""


class LostDecision(UnknownDecision):
    """The decision was made after what this agent was loaded from was saved, and lost with the process that made it."""


class AlreadyTold(BadInput):
    """The decision was told or forgotten already; a reward is learned only once."""


class TooLate(AlreadyTold):
    """The decision has expired; what comes now is counted and not learned."""


class UnknownArm(BadInput):
    """There is no such arm or item."""


class BadReward(BadInput):
    """A reward, or clicks, that cannot be learned from."""


class BadFeatures(BadInput):
    """Features that cannot be chosen by or learned from."""


class CannotWrite(BadInput, OSError):
    """A file or folder cannot be written."""


class DamagedFile(BadInput):
    """A file is not what it should be: cut off, changed, or of another kind."""


def demand(fits: object, what: str) -> None:
    """Raise a DamagedFile that says what does not fit, unless it does."""
    if not fits:
        raise DamagedFile(what)
