"""Policies that try things out: one watches the pool, one is LinCORe on one-hot features, one another LinCORe.

As policies they are played like any other, by any engine, and what they find comes back as measures of a run.
"""

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from corebandit.contracts.recipe import FeaturePolicy, Policy
from corebandit.contracts.state import FloatArray, IntArray, Scratch
from corebandit.contracts.validate import check_count, check_number
from corebandit.parts.ridge import squared_widths
from corebandit.policies.linear.lincore import LinCORe, LinCOReState
from corebandit.randomness.stream import Stream

SEEN, TURN, IS_CALM, IS_WILD, TRIALS, CALM, WILD = range(7)  # places in `counts`
MEAN, SQUARES, LOW, HIGH = range(4)  # places in `moments`
OF_NOTHING = (0.0, 0.0, math.inf, -math.inf)


class PoolWatchState(NamedTuple):
    """One trial after the other, each with a pool that is empty at first.

    `counts` are the rewards of this trial, the arm in turn, whether the trial was too calm or too wild, and how many
    trials there were, were too calm and were too wild. `moments` are the rewards' mean, the sum of their squared
    distances from it, the lowest and the highest of them.
    """

    counts: IntArray  # (7,)
    moments: FloatArray  # (4,)
    n_arms: int
    n_rewards: int  # of a trial
    start: float
    floor: float
    ceiling: float

    def score(self, rng: Stream, scores: FloatArray) -> None:
        """Fill the scores, so that arms are taken in turns."""
        scores[:] = 0.0
        scores[self.counts[TURN]] = 1.0

    def update(self, arm: int, reward: float, rng: Stream) -> None:
        """Look at the pool that the next round would draw from."""
        counts, moments = self.counts, self.moments
        counts[SEEN] += 1
        counts[TURN] = arm + 1 if arm + 1 < self.n_arms else 0
        n_seen = counts[SEEN]
        gap = reward - moments[MEAN]
        moments[MEAN] += gap / n_seen
        moments[SQUARES] += gap * (reward - moments[MEAN])
        moments[LOW], moments[HIGH] = min(moments[LOW], reward), max(moments[HIGH], reward)
        # The mean moves every round, so every reward's distance does: the lowest or the highest one is furthest.
        if max(moments[HIGH] - moments[MEAN], moments[MEAN] - moments[LOW]) > self.ceiling:
            counts[IS_WILD] = 1
        if n_seen + 1 > self.start and moments[SQUARES] < self.floor * n_seen:
            counts[IS_CALM] = 1
        if n_seen == self.n_rewards:
            counts[TRIALS] += 1
            counts[CALM] += counts[IS_CALM]
            counts[WILD] += counts[IS_WILD]
            counts[:TRIALS] = 0
            moments[MEAN], moments[SQUARES], moments[LOW], moments[HIGH] = 0.0, 0.0, math.inf, -math.inf


@dataclass(frozen=True)
class PoolWatch(Policy):
    """Take arms in turns and count trials of `n_rewards` whose pool breaks a bound.

    A trial is too calm if the rewards' variance is below `floor` in any round after `start`, too wild if one of them is
    ever further than `ceiling` from their mean.
    """

    n_rewards: int
    start_after: float
    floor: float
    ceiling: float

    def __post_init__(self) -> None:
        check_count("n_rewards", self.n_rewards)
        check_number("start_after", self.start_after, at_least=0)
        check_number("floor", self.floor, at_least=0)
        check_number("ceiling", self.ceiling, above=0)

    def start(self, n_arms: int, horizon: int | None, capacity: int) -> PoolWatchState:
        """Return a state that has seen nothing."""
        bounds = float(self.start_after), float(self.floor), float(self.ceiling)
        return PoolWatchState(np.zeros(7, np.int64), np.array(OF_NOTHING), n_arms, self.n_rewards, *bounds)

    def measures(self, state: PoolWatchState) -> dict[str, float]:
        """Return how many trials there were, and how many broke each bound."""
        counts = state.counts
        return {"trials": float(counts[TRIALS]), "calm": float(counts[CALM]), "wild": float(counts[WILD])}


class OneHotState(NamedTuple):
    """A state that chooses by features, offered those that tell arms apart and nothing else."""

    state: Any
    rows: FloatArray  # (n_arms, n_arms)

    def score(self, rng: Stream, scores: FloatArray) -> None:
        """Fill the scores."""
        self.state.score(self.rows, rng, scores)

    def update(self, arm: int, reward: float, rng: Stream) -> None:
        """Learn from one reward."""
        self.state.update(arm, self.rows[arm], reward, rng)


@dataclass(frozen=True)
class OneHot(Policy):
    """A policy that chooses by features, on one-hot features."""

    policy: FeaturePolicy

    def start(self, n_arms: int, horizon: int | None, capacity: int) -> OneHotState:
        """Return a state that has seen nothing."""
        return OneHotState(self.policy.start(n_arms, n_arms, horizon, capacity), np.eye(n_arms))


class WidenedLinCOReState(NamedTuple):
    """What LinCORe has learnt, and room for how uncertain each row is."""

    state: LinCOReState
    solved: Scratch  # (d, n_arms)
    widths: Scratch  # (n_arms,) w = x' G^-1 x
    extra: int

    def score(self, features: FloatArray, rng: Stream, scores: FloatArray) -> None:
        """Fill `scores` with each row's estimate and its noise, which is widened by sqrt(1 + extra w)."""
        ridge, noise = self.state.ridge, self.state.perturbed
        if self.state.span.favours_new(features, self.state.counts, scores):
            return
        self.state.perturb(rng, noise)
        ridge.respond(noise)
        squared_widths(ridge.factor, features, self.solved, self.widths)
        for arm in range(scores.size):
            estimate, shift = 0.0, 0.0
            for j in range(noise.size):
                estimate += features[arm, j] * ridge.theta[j]
                shift += features[arm, j] * noise[j]
            scores[arm] = estimate + shift * math.sqrt(1.0 + self.extra * self.widths[arm])

    def update(self, arm: int, x: FloatArray, reward: float, rng: Stream) -> None:
        """Learn from one reward."""
        self.state.update(arm, x, reward, rng)


@dataclass(frozen=True)
class WidenedLinCORe(FeaturePolicy):
    """LinCORe without a warm-up, in a form that does not ask which observations came first.

    The noise of a row x is as if w = x' G^-1 x were one over a number of pulls, w + extra w^2 in place of w for its
    variance. On one-hot features that is the variance of CORe's extra draws, as it is in `LinCORe`'s own form.
    """

    alpha: float = 0.6
    extra: int = 4

    def __post_init__(self) -> None:
        check_number("alpha", self.alpha, at_least=0)
        check_count("extra", self.extra, at_least=0)

    def start(self, n_arms: int, n_features: int, horizon: int | None, capacity: int) -> WidenedLinCOReState:
        """Return a state that has seen nothing."""
        state = LinCORe(alpha=self.alpha, warm_up=0.0).start(n_arms, n_features, horizon, capacity)
        return WidenedLinCOReState(state, np.zeros((n_features, n_arms)), np.zeros(n_arms), int(self.extra))
