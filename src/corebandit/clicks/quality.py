"""How well a click model foretells clicks.

The *log-likelihood* is the mean over sessions and ranks of the log probability of what happened, click or no click,
given the clicks above. *Perplexity* at a rank is 2 to the mean -log2 of that probability: 1 is perfect, 2 is a coin. It
is computed from the full probability of a click (no other click known) and from the conditional one; the overall
perplexity is the mean over ranks. Nothing that happened is given less than 1e-6: the cascade model calls a second
click impossible.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from corebandit.clicks.click_log import ClickLog
from corebandit.compiled.bridge import EntryPoint
from corebandit.contracts.errors import BadInput
from corebandit.contracts.state import FloatArray

SMALLEST = 1e-6


class Quality(NamedTuple):
    """How well a model foretells the clicks of a log."""

    log_likelihood: float
    perplexity: float
    conditional_perplexity: float
    log_likelihood_by_rank: FloatArray  # (n_positions,)
    perplexity_by_rank: FloatArray  # (n_positions,)
    conditional_perplexity_by_rank: FloatArray  # (n_positions,)
    n_sessions: int


@EntryPoint
def add_logs(user: Any, pairs: Any, clicks: Any, probabilities: Any, full: Any, conditional: Any) -> None:
    """Add the log probability of what happened at each rank, to `full` and `conditional` `(n_positions,)`."""
    for session in range(pairs.shape[0]):
        user.fill_click_probabilities(pairs[session], probabilities)
        for rank in range(probabilities.size):
            happened = probabilities[rank] if clicks[session, rank] else 1.0 - probabilities[rank]
            full[rank] += math.log(max(happened, SMALLEST))
        user.fill_conditional_probabilities(pairs[session], clicks[session], probabilities)
        for rank in range(probabilities.size):
            happened = probabilities[rank] if clicks[session, rank] else 1.0 - probabilities[rank]
            conditional[rank] += math.log(max(happened, SMALLEST))


def evaluate(user: Any, log: ClickLog) -> Quality:
    """Return how well a user whose documents are the pairs of `log` foretells its clicks."""
    probabilities, full, conditional = np.zeros((3, log.n_positions))
    add, n_sessions = add_logs.compiled, 0
    for batch in log.batches():
        add(user, batch.pairs, batch.clicks, probabilities, full, conditional)
        n_sessions += batch.clicks.shape[0]
    if n_sessions == 0:
        raise BadInput("log must hold at least one session, not none")
    by_rank, conditional_by_rank = np.exp(-full / n_sessions), np.exp(-conditional / n_sessions)
    return Quality(
        log_likelihood=float(conditional.mean() / n_sessions),
        perplexity=float(by_rank.mean()),
        conditional_perplexity=float(conditional_by_rank.mean()),
        log_likelihood_by_rank=conditional / n_sessions,
        perplexity_by_rank=by_rank,
        conditional_perplexity_by_rank=conditional_by_rank,
        n_sessions=n_sessions,
    )
