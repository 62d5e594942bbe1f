"""Made-up click models and logs of their users."""

from collections.abc import Callable
from itertools import product

import numpy as np

from corebandit.clicks import CCM, CM, DBN, DCM, PBM, SDBN, UBM, ClickModel, simulate
from corebandit.clicks.click_log import ClickLog
from corebandit.randomness.stream import stream

NAMES = ["CM", "DCM", "PBM", "UBM", "DBN", "SDBN", "CCM"]
TOP_DOWN = ["CM", "DCM", "DBN", "SDBN", "CCM"]
BY_EM = ["DCM", "PBM", "UBM", "DBN", "SDBN", "CCM"]


def made_up(name: str, n_documents: int, seed: int = 0) -> ClickModel:
    """Return a model whose parameters of documents depend on `seed` and whose others do not."""
    own, common = np.random.default_rng([1, seed]), np.random.default_rng(2)
    attraction, satisfaction = own.uniform(0.1, 0.7, n_documents), own.uniform(0.2, 0.8, n_documents)
    by_rank, by_click = common.uniform(0.3, 0.9, n_documents), common.uniform(0.3, 0.9, (n_documents, n_documents))
    make: dict[str, Callable[[], ClickModel]] = {
        "CM": lambda: CM(attraction),
        "DCM": lambda: DCM(attraction, by_rank),
        "PBM": lambda: PBM(attraction, by_rank),
        "UBM": lambda: UBM(attraction, by_click),
        "DBN": lambda: DBN(attraction, satisfaction, 0.1),
        "SDBN": lambda: SDBN(attraction, satisfaction),
        "CCM": lambda: CCM(attraction, 0.9, 0.8, 0.3),
    }
    return make[name]()


def random_rankings(n: int, n_documents: int, seed: int) -> np.ndarray:
    return np.random.default_rng([3, seed]).permuted(np.tile(np.arange(n_documents), (n, 1)), axis=1)


def simulated_log(name: str, n_sessions: int, n_documents: int, n_queries: int = 3, seed: int = 0) -> ClickLog:
    """Return a log of users who see all documents of a query in random order; query q is `made_up(name, ..., q)`."""
    n = n_sessions // n_queries
    shown = [random_rankings(n, n_documents, 1000 * seed + query) for query in range(n_queries)]
    clicks = [
        simulate(made_up(name, n_documents, query), rankings, stream(seed, name, query))
        for query, rankings in enumerate(shown)
    ]
    return ClickLog.from_arrays(np.repeat(np.arange(n_queries), n), np.concatenate(shown), np.concatenate(clicks))


def random_log(n_sessions: int = 300, n_positions: int = 5, n_documents: int = 7, seed: int = 0) -> ClickLog:
    """Return a log that no model made: clicks are coin flips."""
    rng = np.random.default_rng([4, seed])
    documents = random_rankings(n_sessions, n_documents, seed)[:, :n_positions]
    return ClickLog.from_arrays(
        rng.integers(0, 3, n_sessions), documents, rng.random((n_sessions, n_positions)) < rng.uniform(0.1, 0.5)
    )


def patterns(n_positions: int) -> list[np.ndarray]:
    """Return all possible clicks."""
    return [np.array(clicks) for clicks in product((0, 1), repeat=n_positions)]


def probability(model: ClickModel, ranking: np.ndarray, clicks: np.ndarray) -> float:
    """Return the probability of exactly these clicks."""
    conditional = model.conditional_probabilities(ranking, clicks)
    return float(np.prod(np.where(clicks == 1, conditional, 1.0 - conditional)))
