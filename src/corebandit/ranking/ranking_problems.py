"""Rankings shown to users who click by a model. Items are renamed at random in each run, so their order tells nothing.

The built-in queries stand in for those of a search engine that cannot be shipped: their attractions are logit-normal,
fitted to the summary statistics of 60 cascade models of real queries.
"""

import math
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, ClassVar

from corebandit.clicks.models import CLICK_MODELS, ClickModel
from corebandit.clicks.stored_models import read_models
from corebandit.contracts.errors import BadInput
from corebandit.contracts.recipe import UNIT_INTERVAL, Problem, digest
from corebandit.contracts.validate import check_choice, check_count, shortened, unknown
from corebandit.randomness.stream import Stream, stream
from corebandit.ranking.users import Users, users_of

N_QUERIES = 60
# By place on the result page: mean and standard deviation of the attraction's logit; one correlation for all pairs.
MEAN_LOGITS = (-0.49, -1.73, -2.26, -2.78, -3.09, -3.27, -3.50, -3.49, -3.51, -3.46)
LOGIT_DEVIATIONS = (1.15, 1.25, 0.99, 1.02, 1.12, 1.04, 0.98, 1.13, 1.17, 1.20)
LOGIT_CORRELATION = 0.32


class ShowsRankings(Problem):
    """What problems that show rankings have in common."""

    @property
    def support(self) -> tuple[float, float]:
        """Return 0 and 1, no click and a click."""
        return UNIT_INTERVAL

    @property
    def observes(self) -> str:
        """Return what clicks reveal: "all" positions, or those down to the "last_click"."""
        raise NotImplementedError


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
    title
        What to call it in results; by default the size, and a few letters that stand for the numbers.

    >>> from corebandit.clicks.models import CM
    >>> RankingBandit(CM([0.4, 0.2, 0.1]), n_positions=2).draw(stream(1)).best_value()
    0.52
    >>> RankingBandit(CM([0.4, 0.2, 0.1]), n_positions=2).label
    'CM, 3 documents, 2 shown (ce0fed)'
    """

    name = "ranking"
    model: Any
    n_positions: int = 5
    title: str = ""

    def __post_init__(self) -> None:
        missing = [name for name in ("user", "optimal", "attraction", "describe") if not hasattr(self.model, name)]
        if missing:
            raise BadInput(f"model must be a click model such as CM([0.4, 0.2, 0.1]), not {shortened(self.model)}")
        check_positions(self.n_positions, getattr(self.model, "max_positions", len(self.model.attraction)))
        if not isinstance(self.title, str):
            raise BadInput(f"title must be a string, not {shortened(self.title)}")

    @property
    def label(self) -> str:
        """Return the title, or the model's name, the size, and a digest that keeps different numbers apart."""
        size = f"{len(self.model.attraction)} documents, {self.n_positions} shown"
        return self.title or f"{self.model.name}, {size} ({digest(self.model.describe())[:6]})"

    def describe(self) -> dict[str, Any]:
        """Return the name and all parameters but the title, on which no number depends."""
        return {key: value for key, value in super().describe().items() if key != "title"}

    @property
    def observes(self) -> str:
        """Return what clicks reveal; of a model that does not say, those down to the last."""
        return str(getattr(self.model, "observes", "last_click"))

    def draw(self, rng: Stream) -> Users:
        """Return the users, and the items under names drawn at random."""
        return users_of(self.model, self.n_positions, rng)


def check_positions(n_positions: int, most: int) -> None:
    """Raise BadInput unless the positions can be filled."""
    if check_count("n_positions", n_positions) > most:
        raise BadInput(f"n_positions must be at most {most}, as many as the model has, not {n_positions}")


@dataclass(frozen=True)
class YandexLike(ShowsRankings):
    """One of 60 made-up queries of a search engine, whose users click the first document that attracts them.

    With `query=None` each run draws one of them. Under another `click_model` than the cascade (CM), the attractions
    stay and what the model adds has round numbers: examination falls like rank^-0.6, every second click satisfies.

    >>> YandexLike(query=3).label
    'yandex_like(query=3)'
    """

    name = "yandex_like"
    n_documents: ClassVar[int] = len(MEAN_LOGITS)
    query: int | None = 0
    n_positions: int = 5
    click_model: str = "CM"

    def __post_init__(self) -> None:
        if self.query is not None and check_count("query", self.query, at_least=0) >= N_QUERIES:
            raise BadInput(f"query must be below {N_QUERIES}, not {self.query}")
        check_positions(self.n_positions, self.n_documents)
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

    @property
    def observes(self) -> str:
        """Return what clicks reveal."""
        return CLICK_MODELS[self.click_model].observes

    def draw(self, rng: Stream) -> Users:
        """Return the users, and the documents under names drawn at random."""
        query = rng.integers(N_QUERIES) if self.query is None else self.query
        return users_of(self.model_of(query), self.n_positions, rng)


@dataclass(frozen=True)
class StoredQuery(ShowsRankings):
    """One query of a file of click models, such as `corebandit clicks fit` writes.

    Parameters
    ----------
    file, query, model
        Where the models are, the query's name there, and which of its models users click by.
    n_positions
        How many documents are shown.

    The description holds the file's bare name and a digest of the model, so results do not depend on where the file
    is, and are never mistaken for those of other numbers.
    """

    name = "stored_query"
    file: str
    query: str
    model: str = "CM"
    n_positions: int = 5

    def __post_init__(self) -> None:
        """Read the model and validate."""
        object.__setattr__(self, "file", str(self.file))
        object.__setattr__(self, "query", str(self.query))
        models = stored_models(self.file)
        if self.query not in models:
            raise unknown(f"query of {self.file}", self.query, models)
        if self.model not in models[self.query]:
            raise unknown(f"click model of query {self.query} in {self.file}", str(self.model), models[self.query])
        object.__setattr__(self, "_stored", models[self.query][self.model])
        check_positions(self.n_positions, self.stored.max_positions)

    @property
    def stored(self) -> ClickModel:
        """Return how users click, as the file said when the recipe was made."""
        model: ClickModel = vars(self)["_stored"]
        return model

    @property
    def observes(self) -> str:
        """Return what clicks reveal."""
        return self.stored.observes

    @property
    def label(self) -> str:
        """Return query and model, and how many documents are shown if not five."""
        shown = "" if self.n_positions == StoredQuery.n_positions else f", {self.n_positions} shown"
        return f"query {self.query}, {self.model}{shown}"

    def describe(self) -> dict[str, Any]:
        """Return the name and all parameters, and what the file says."""
        content = {"n_documents": self.stored.n_documents, "digest": digest(self.stored.describe())}
        return {**super().describe(), "file": Path(self.file).name, **content}

    def draw(self, rng: Stream) -> Users:
        """Return the users, and the documents under names drawn at random."""
        return users_of(self.stored, self.n_positions, rng)


def stored_models(file: str) -> dict[str, dict[str, ClickModel]]:
    """Return the models of each query, by name; a file that has not changed is read once."""
    try:
        status = Path(file).stat()
    except OSError as error:
        raise BadInput(f"cannot read {file}: {error.strerror}") from error
    return _models_of(file, status.st_mtime_ns, status.st_size)


@lru_cache(maxsize=4)
def _models_of(file: str, changed: int, size: int) -> dict[str, dict[str, ClickModel]]:
    return read_models(file)


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
