"""Rankings shown to users who click by a model. Items are renamed at random in each run, so their order tells nothing.

The built-in queries stand in for those of a search engine that cannot be shipped: their attractions are logit-normal,
fitted to the summary statistics of 60 cascade models of real queries.
"""

import math
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any, NamedTuple

import numpy as np

from corebandit.compiled import allocating_nothing
from corebandit.ranking.models import CLICK_MODELS, ClickModel
from corebandit.recipe import UNIT_INTERVAL, Problem
from corebandit.state import FloatArray, IntArray
from corebandit.stream import Stream, stream
from corebandit.validate import check_choice, check_count

N_QUERIES = 60
# By place on the result page: mean and standard deviation of the attraction's logit; one correlation for all pairs.
MEAN_LOGITS = (-0.49, -1.73, -2.26, -2.78, -3.09, -3.27, -3.50, -3.49, -3.51, -3.46)
LOGIT_DEVIATIONS = (1.15, 1.25, 0.99, 1.02, 1.12, 1.04, 0.98, 1.13, 1.17, 1.20)
LOGIT_CORRELATION = 0.32


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


class ShowsRankings(Problem):
    """What problems that show rankings have in common."""

    @property
    def support(self) -> tuple[float, float]:
        """Return 0 and 1, no click and a click."""
        return UNIT_INTERVAL


@dataclass(frozen=True)
class RankingBandit(ShowsRankings):
    """Users who are shown some items in order and click by a model.

    Parameters
    ----------
    model
        How they click: a click model such as `CM([0.4, 0.2, 0.1])`, or a recipe of your own with `attraction`,
        `user()` and `optimal(n_positions)`.
    n_positions
        How many items are shown.

    >>> from corebandit.ranking.models import CM
    >>> RankingBandit(CM([0.4, 0.2, 0.1]), n_positions=2).draw(stream(1)).best_value()
    0.52
    """

    name = "ranking"
    model: Any
    n_positions: int = 5

    def __post_init__(self) -> None:
        """Validate."""
        missing = [name for name in ("user", "optimal", "attraction", "describe") if not hasattr(self.model, name)]
        if missing:
            raise ValueError(f"model must be a click model such as CM([0.4, 0.2, 0.1]), not {self.model!r}")
        check_positions(self.n_positions, getattr(self.model, "max_positions", len(self.model.attraction)))

    def draw(self, rng: Stream) -> Users:
        """Return the users, and the items under names drawn at random."""
        return users_of(self.model, self.n_positions, rng)


def check_positions(n_positions: int, most: int) -> None:
    """Raise a ValueError unless the positions can be filled."""
    if check_count("n_positions", n_positions) > most:
        raise ValueError(f"n_positions must be at most {most}, as many as the model has, not {n_positions}")


@dataclass(frozen=True)
class YandexLike(ShowsRankings):
    """One of 60 made-up queries of a search engine, whose users click the first document that attracts them.

    With `query=None` each run draws one of them. Under another `click_model` than the cascade (CM), the attractions
    stay and what the model adds has round numbers: examination falls like rank^-0.6, every second click satisfies.

    >>> YandexLike(query=3).label
    'yandex_like(query=3)'
    """

    name = "yandex_like"
    query: int | None = 0
    n_positions: int = 5
    click_model: str = "CM"

    def __post_init__(self) -> None:
        """Validate."""
        if self.query is not None and check_count("query", self.query, at_least=0) >= N_QUERIES:
            raise ValueError(f"query must be below {N_QUERIES}, not {self.query}")
        check_positions(self.n_positions, len(MEAN_LOGITS))
        check_choice("click_model", self.click_model, CLICK_MODELS)

    @property
    def model(self) -> ClickModel:
        """Return how users click; with `query=None`, on the first query."""
        return self.model_of(self.query or 0)

    def model_of(self, query: int) -> ClickModel:
        """Return how users click on a query."""
        attraction = yandex_like_queries()[query]
        ranks = range(1, len(attraction) + 1)
        rest: dict[str, dict[str, Any]] = {
            "CM": {},
            "PBM": {"examination": [rank**-0.6 for rank in ranks]},
            "DCM": {"stop_after_click_by_rank": [0.5] * len(attraction)},
            "UBM": {"examination_rank_prevclick": _browsing(len(attraction))},
            "DBN": {"satisfaction": [0.5] * len(attraction), "abandon": 0.1},
            "SDBN": {"satisfaction": [0.5] * len(attraction)},
            "CCM": {
                "continue_no_click": 0.9,
                "continue_click_nonrelevant": 0.6,
                "continue_click_relevant": 0.2,
            },
        }
        return CLICK_MODELS[self.click_model](attraction, **rest[self.click_model])

    def draw(self, rng: Stream) -> Users:
        """Return the users, and the documents under names drawn at random."""
        query = rng.integers(N_QUERIES) if self.query is None else self.query
        return users_of(self.model_of(query), self.n_positions, rng)


def _browsing(n_ranks: int) -> list[list[float]]:
    """Return examination by rank and rank of the last click, none in the last column: it falls with the distance."""
    rows = []
    for rank in range(n_ranks):
        since = [float(max(rank - click, 1)) ** -0.6 for click in range(n_ranks - 1)]
        rows.append([*since, (rank + 1.0) ** -0.6])
    return rows


@cache
def yandex_like_queries(n: int = N_QUERIES, seed: int = 0) -> tuple[tuple[float, ...], ...]:
    """Return the attractions of the documents of `n` queries, in the order of the result page.

    >>> [len(attractions) for attractions in yandex_like_queries(n=2)]
    [10, 10]
    """
    rng = stream(seed, "yandex-like queries")
    common, own = math.sqrt(LOGIT_CORRELATION), math.sqrt(1.0 - LOGIT_CORRELATION)
    queries = []
    for _ in range(check_count("n", n)):
        shared = rng.standard_normal()
        deviates = (common * shared + own * rng.standard_normal() for _ in MEAN_LOGITS)
        logits = (m + s * z for m, s, z in zip(MEAN_LOGITS, LOGIT_DEVIATIONS, deviates, strict=True))
        queries.append(tuple(1.0 / (1.0 + math.exp(-logit)) for logit in logits))
    return tuple(queries)
