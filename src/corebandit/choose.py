"""From scores to a decision."""

from corebandit.compiled import inlined
from corebandit.state import FloatArray, IntArray
from corebandit.stream import Stream


@inlined
def best_arm(scores: FloatArray, offered: IntArray, rng: Stream) -> int:
    """Return the arm with the highest score among those on offer; ties are broken uniformly."""
    best, n_best = offered[0], 1
    for arm in offered[1:]:
        if scores[arm] > scores[best]:
            best, n_best = arm, 1
        elif scores[arm] == scores[best]:
            n_best += 1
        elif not scores[arm] < scores[best]:
            raise ValueError("a policy scored an arm NaN: check_policy tells more")
    if n_best == 1 and scores[best] == scores[best]:
        return int(best)
    skip = rng.integers(n_best)
    for arm in offered:
        if scores[arm] == scores[best]:
            if skip == 0:
                return int(arm)
            skip -= 1
    raise ValueError("a policy scored an arm NaN: check_policy tells more")
