"""What a loop counts regret from: the highest mean, as it was told when it last might have changed."""

from corebandit.compiled.bridge import inlined
from corebandit.contracts.errors import BadInput

SAME = 1e-5  # of a mean that another may be away, since numbers of 32 bits say no more
ZERO = 1e-12  # what is left of means that cancel each other


@inlined
def check_told(told: float, now: float) -> None:
    """Raise a BadInput if a mean is another one than a loop was told, so that regret is counted from the wrong one.

    Asked before an arm is pulled: pulls may wear arms out, which is told in the round after.
    """
    if abs(now - told) > SAME * abs(told) + ZERO:
        raise BadInput(
            "the means of the problem change while it is played, so that its regret would be wrong: in rounds in which "
            "they do, a method begin_round(current_round) must return True"
        )
