"""Simulate users of a click model."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corebandit.clicks.models.model import ClickModel
from corebandit.compiled.bridge import EntryPoint
from corebandit.contracts.errors import BadInput
from corebandit.contracts.state import IntArray
from corebandit.randomness.stream import Stream


@EntryPoint
def simulate_users(user: Any, rankings: Any, rng: Any, chance: Any, clicks: Any) -> None:
    """Fill `clicks` for one new user a ranking."""
    for session in range(rankings.shape[0]):
        for row in range(chance.shape[0]):
            for column in range(chance.shape[1]):
                chance[row, column] = rng.random()
        user.click(rankings[session], chance, clicks[session])


def simulate(model: ClickModel, rankings: Sequence[Sequence[int]] | IntArray, rng: Stream) -> NDArray[np.int64]:
    """Return the clicks `(n, n_positions)` of n users, one for each of `rankings` `(n, n_positions)`.

    >>> from corebandit.clicks.models import CM
    >>> from corebandit.randomness.stream import stream
    >>> simulate(CM([1.0, 0.0]), [[0, 1], [1, 0]], stream(7, "example")).tolist()
    [[1, 0], [0, 1]]
    """
    shown = np.ascontiguousarray(rankings, dtype=np.int64)
    if shown.ndim != 2:
        raise BadInput(f"rankings must be sessions x positions, not of shape {shown.shape}")
    ordered = np.sort(shown, axis=1)
    is_wrong = (ordered < 0) | (ordered >= model.n_documents)
    is_wrong[:, 1:] |= ordered[:, 1:] == ordered[:, :-1]
    for ranking in [*shown[:1], *shown[is_wrong.any(axis=1)][:1]]:  # the first, for its length, and the first wrong one
        model.checked_ranking(ranking)
    clicks, chance, user = np.empty_like(shown), np.empty((2, model.n_documents)), model.user()
    simulate_users.compiled(user, shown, rng, chance, clicks)
    return clicks
