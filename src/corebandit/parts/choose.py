"""From scores to a decision."""

from corebandit.compiled.bridge import inlined
from corebandit.contracts.errors import BadInput
from corebandit.contracts.state import FloatArray, IntArray
from corebandit.randomness.stream import Stream


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
            raise BadInput("a policy scored an arm NaN: check_policy tells more, or check_problem if it was paid NaN")
    if n_best == 1 and scores[best] == scores[best]:
        return int(best)
    skip = rng.integers(n_best)
    for arm in offered:
        if scores[arm] == scores[best]:
            if skip == 0:
                return int(arm)
            skip -= 1
    raise BadInput("a policy scored an arm NaN: check_policy tells more, or check_problem if it was paid NaN")


@inlined
def best_items(scores: FloatArray, rng: Stream, ranking: IntArray) -> None:
    """Fill `ranking` with the items of the highest scores, best first; ties are broken uniformly.

    Each place is filled in turn from the items that are left, so among tied items all subsets and all orders are
    equally likely. What is left needs no list: it scores less than the item before, or as much and is not ranked yet.
    """
    for score in scores:
        if not score == score:
            raise BadInput("a policy scored an item NaN: check_ranking_policy tells more")
    for place in range(ranking.size):
        best, n_best, highest = -1, 0, 0.0
        for item in range(scores.size):
            if (n_best == 0 or scores[item] >= highest) and _is_left(item, scores, ranking, place):
                if n_best == 0 or scores[item] > highest:
                    best, n_best, highest = item, 1, scores[item]
                else:
                    n_best += 1
        if n_best == 0:
            raise BadInput("there are fewer items than places in the ranking")
        if n_best > 1:
            skip = rng.integers(n_best)
            for item in range(best, scores.size):
                if scores[item] == highest and _is_left(item, scores, ranking, place):
                    if skip == 0:
                        best = item
                        break
                    skip -= 1
        ranking[place] = best


@inlined
def _is_left(item: int, scores: FloatArray, ranking: IntArray, n_ranked: int) -> bool:
    """Tell whether the item is not among the first of the ranking, which are the best there are."""
    if n_ranked == 0:
        return True
    last = scores[ranking[n_ranked - 1]]
    if scores[item] != last:
        return bool(scores[item] < last)
    for place in range(n_ranked - 1, -1, -1):
        if ranking[place] == item:
            return False
        if scores[ranking[place]] != last:
            return True
    return True
