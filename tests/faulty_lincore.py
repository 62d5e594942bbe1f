"""LinCORe with faults, for the lemmas to catch. Which one is a number, so that all are compiled at once."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from corebandit.compiled.bridge import allocating_nothing
from corebandit.contracts.state import FloatArray
from corebandit.parts.pool import SEEN, Pool, new_pool
from corebandit.parts.ridge import Ridge, new_ridge
from corebandit.policies.linear.lincore import LinCORe, LinCOReState

NONE, HALVED, OUTLIER, SHIFTED, MISSING, DOUBLED, SILENT, FIXED = range(8)


@allocating_nothing
class FaultyState(NamedTuple):
    """LinCORe as it is, beside a pool and a regression that may be wrong, and with noise that may be."""

    state: LinCOReState
    pool: Pool
    ridge: Ridge
    row: FloatArray
    alpha: float
    fault: int

    def score(self, features, rng, scores):
        self.state.score(features, rng, scores)

    def update(self, arm, x, reward, rng):
        self.state.update(arm, x, reward, rng)
        learnt = pooled = reward
        for j in range(x.size):
            self.row[j] = x[j]
        if self.fault == HALVED:
            pooled = 0.5 * reward
        if self.fault == OUTLIER and self.pool.tally[SEEN] == 20:
            pooled = 10.0
        if self.fault == SHIFTED:
            learnt = reward + 1.0
        if self.fault == MISSING:
            self.row[x.size - 1] = 0.0
        self.pool.add(pooled, rng)
        self.ridge.add(self.row, learnt, 1.0)

    def perturb(self, rng, total):
        self.state.perturb(rng, total)
        for j in range(total.size):
            if self.fault == DOUBLED:
                total[j] *= 2.0
            if self.fault == SILENT:
                total[j] = 0.0
            if self.fault == FIXED:
                total[j] = 1.0


@dataclass(frozen=True)
class FaultyLinCORe(LinCORe):
    fault: int = NONE

    def start(self, n_arms, n_features, horizon, capacity):
        state = super().start(n_arms, n_features, horizon, capacity)
        seen = new_pool(capacity, "exact"), new_ridge(n_features, self.lam)
        return FaultyState(state, *seen, np.zeros(n_features), state.alpha, self.fault)
