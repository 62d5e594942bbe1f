"""Rounds: what a policy may know of a decision besides what it has learnt.

A state with the method `begin_round(decided, left, pending)` is told, before each decision is prepared and scored,

* `decided`: how many decisions were made before this one, whatever came of them; logged feedback is none;
* `left`: how many are left, this one included, or `UNKNOWN` if nobody knows the horizon. Past the horizon nobody knows
  either how long it will go on;
* `pending` `(n_arms,)`, to be read only: how many decisions for each arm wait for their rewards. Of rankings these are
  the rankings that show an item; of rows without names, the decisions for the row of this index.

What it notes of them is scratch: it is told again before every decision.
"""

from corebandit.compiled.bridge import inlined

UNKNOWN = -1


@inlined
def rounds_left(horizon: int, decided: int) -> int:
    """Return how many rounds are left after `decided` ones, `UNKNOWN` past the horizon or if that is not known."""
    return horizon - decided if decided < horizon else UNKNOWN


def horizon_or_unknown(horizon: int | None) -> int:
    """Return a horizon as compiled code takes it."""
    return UNKNOWN if horizon is None else horizon
