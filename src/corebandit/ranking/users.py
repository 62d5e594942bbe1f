"""Users who click by a model, on items that are renamed at random in each run."""

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from corebandit.compiled.bridge import allocating_nothing
from corebandit.contracts.state import FloatArray, IntArray
from corebandit.randomness.stream import Stream


@allocating_nothing
class Users(NamedTuple):
    """Users who click by one model, on items whose names were shuffled."""

    user: Any  # how they click
    originals: IntArray  # (n_items,) what the model calls each item
    best: float
    translated: IntArray  # (n_positions,) room for a ranking in the model's names

    @property
    def n_items(self) -> int:
        """Return the number of items."""
        return self.originals.size

    @property
    def n_positions(self) -> int:
        """Return the number of items shown."""
        return self.translated.size

    def draw_user(self, rng: Stream, chance: FloatArray) -> None:
        """Fill `chance` `(2, n_items)` with what decides a user's clicks."""
        for row in range(chance.shape[0]):
            for item in range(chance.shape[1]):
                chance[row, item] = rng.random()

    def translate(self, ranking: IntArray) -> None:
        """Write the ranking in the model's names."""
        for position in range(ranking.size):
            self.translated[position] = self.originals[ranking[position]]

    def click(self, ranking: IntArray, chance: FloatArray, clicks: IntArray) -> None:
        """Fill `clicks` `(n_positions,)` with 1 where the user clicks, else 0."""
        self.translate(ranking)
        self.user.click(self.translated, chance, clicks)

    def value(self, ranking: IntArray) -> float:
        """Return the expected number of clicks."""
        self.translate(ranking)
        return float(self.user.value(self.translated))

    def best_value(self) -> float:
        """Return the highest value of a ranking."""
        return self.best


def users_of(model: Any, n_positions: int, rng: Stream) -> Users:
    """Return users of a click model, who know its items under shuffled names."""
    n_items = len(model.attraction)
    originals = np.arange(n_items)
    for item in range(n_items - 1, 0, -1):
        other = rng.integers(item + 1)
        originals[item], originals[other] = originals[other], originals[item]
    return Users(model.user(), originals, best_value_of(model, n_positions), np.zeros(n_positions, np.int64))


@lru_cache(maxsize=1000)
def best_value_of(model: Any, n_positions: int) -> float:
    """Return the highest value of a ranking, which some models have to search for."""
    return float(model.user().value(np.asarray(model.optimal(n_positions), dtype=np.int64)))
