"""Estimate the parameters of click models: count once, or climb the likelihood by expectation maximisation (EM).

Every parameter is a probability, a numerator over a denominator. Both start at the prior's 1 and 2, as if one success
in two trials had been seen: the maximum of likelihood times prior for the prior density 6 p (1 - p). EM then maximises
that product, so what never decreases is the log-likelihood *plus* the log density of the prior, `Step.penalised`.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from corebandit.compiled import EntryPoint
from corebandit.ranking.log import ClickLog
from corebandit.validate import check_count, check_number

PRIOR_NUMERATOR, PRIOR_DENOMINATOR = 1.0, 2.0
MARGIN = 1e-6  # EM keeps parameters so far from 0 and 1, where it could never leave again


class Step(NamedTuple):
    """How well the parameters explain the log after some iteration of EM."""

    log_likelihood: float  # of the observed clicks, summed over sessions
    penalised: float  # with the log density of the prior (without its constants)


class Estimate(NamedTuple):
    """Parameters and how they were reached."""

    user: Any  # its documents are the log's (query, document) pairs
    history: tuple[Step, ...]  # at the start and after each iteration; empty if there was nothing to iterate
    converged: bool


def _silent(iteration: int, step: Step) -> None:
    pass


@dataclass(frozen=True)
class Stopping:
    """When EM ends: after `iterations`, or when `penalised` changes by a smaller share than `tolerance`."""

    iterations: int = 50
    tolerance: float = 1e-7
    progress: Callable[[int, Step], None] = _silent

    def __post_init__(self) -> None:
        """Validate."""
        check_count("iterations", self.iterations)
        check_number("tolerance", self.tolerance, at_least=0)


@EntryPoint
def tally_sessions(user: Any, pairs: Any, clicks: Any, numerators: Any, denominators: Any) -> None:
    """Count a batch of sessions."""
    for session in range(pairs.shape[0]):
        user.count_session(pairs[session], clicks[session], numerators, denominators)


@EntryPoint
def expect_sessions(user: Any, pairs: Any, clicks: Any, numerators: Any, denominators: Any, scratch: Any) -> float:
    """Add the expected counts of a batch of sessions and return its log-likelihood."""
    total = 0.0
    for session in range(pairs.shape[0]):
        total += user.expect(pairs[session], clicks[session], numerators, denominators, scratch)
    return total


def tally(blank: Any, log: ClickLog) -> Estimate:
    """Estimate by counting, in one pass."""
    numerators, denominators = prior_counts(blank)
    add = tally_sessions.prepared(blank)
    for batch in log.batches():
        add(blank, batch.pairs, batch.clicks, numerators, denominators)
    ratios = (numerator / denominator for numerator, denominator in zip(numerators, denominators, strict=True))
    return Estimate(type(blank)(*ratios), history=(), converged=True)


def climb_sessions(blank: Any, log: ClickLog, stopping: Stopping) -> Estimate:
    """Estimate by EM with one pass over all sessions in every iteration."""
    scratch = np.zeros(log.n_positions + 1)
    expect_batch = expect_sessions.prepared(blank)

    def expect(user: Any, numerators: Any, denominators: Any) -> float:
        total = 0.0
        for batch in log.batches():
            total += expect_batch(user, batch.pairs, batch.clicks, numerators, denominators, scratch)
        return total

    return climb(blank, expect, stopping)


def climb(user: Any, expect: Callable[[Any, Any, Any], float], stopping: Stopping) -> Estimate:
    """Iterate EM from `user`; `expect(user, numerators, denominators)` adds expected counts, returns the likelihood."""
    history: list[Step] = []
    for iteration in range(stopping.iterations + 1):
        numerators, denominators = prior_counts(user)
        log_likelihood = expect(user, numerators, denominators)
        step = Step(log_likelihood, log_likelihood + log_prior(user))
        history.append(step)
        stopping.progress(iteration, step)
        change = abs(step.penalised - history[-2].penalised) if iteration else math.inf
        if change <= stopping.tolerance * abs(step.penalised):
            return Estimate(user, tuple(history), converged=True)
        if iteration < stopping.iterations:
            user = type(user)(*map(_ratio, numerators, denominators))
    return Estimate(user, tuple(history), converged=False)


def prior_counts(user: Any) -> tuple[Any, Any]:
    """Return numerators and denominators, of the class of the user, that hold only the prior."""
    numerators = type(user)(*(np.full(values.shape, PRIOR_NUMERATOR) for values in user))
    denominators = type(user)(*(np.full(values.shape, PRIOR_DENOMINATOR) for values in user))
    return numerators, denominators


def log_prior(user: Any) -> float:
    """Return the log density of the prior at the user's parameters, without its constants."""
    return float(sum(np.log(values * (1.0 - values)).sum() for values in user))


def _ratio(numerator: Any, denominator: Any) -> Any:
    return np.clip(numerator / denominator, MARGIN, 1.0 - MARGIN)
