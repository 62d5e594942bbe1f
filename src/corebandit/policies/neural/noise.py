"""What CORe's two neural forms share: the warm-up, and rewards perturbed with draws from the pool of all rewards."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from corebandit.compiled.bridge import kernel
from corebandit.contracts.state import FloatArray, IntArray
from corebandit.parts.pool import SEEN, Pool, new_pool
from corebandit.parts.warm_up import WarmsUp, is_warming_up, known_log, rounds_per_log, whole_warm_up
from corebandit.policies.neural.learner import NeuralPolicy
from corebandit.randomness.stream import Stream


@kernel
def _draw_each(pool: Pool, observations: IntArray, n_first: int, extra: int, rng: Stream, draws: FloatArray) -> None:
    """Fill `draws` `(observations, members)` with draws from the pool; the very first `n_first` have `extra` more."""
    pool.draw_each(rng, draws.reshape(-1))
    for place in range(observations.size):
        if extra > 0 and observations[place] < n_first:
            for member in range(draws.shape[1]):
                draws[place, member] += pool.draw_sum(extra, rng)


class Noise(NamedTuple):
    """The pool of all rewards, and how long the warm-up lasts. `NoisePolicy.noise` makes one."""

    pool: Pool
    counts: FloatArray  # (n_arms,) how often each was chosen
    alpha: float
    warm_up: float  # warm-up rounds for each unit of the log horizon
    log_horizon: float  # negative: not known
    extra: int  # draws for each of the first observations, as many as there are arms, besides their own

    def leads(self, scores: FloatArray) -> bool:
        """Let the arm chosen least so far win while the warm-up lasts; tell if it does."""
        n_arms = self.counts.size
        if not is_warming_up(int(self.pool.tally[SEEN]) + 1, n_arms, self.warm_up, self.log_horizon):
            return False
        scores[:] = -self.counts[: scores.size]
        return True

    def add(self, arm: int, reward: float, rng: Stream) -> None:
        """Take a reward in."""
        self.counts[arm] += 1.0
        self.pool.add(reward, rng)

    def draw(self, observations: IntArray, members: int, rng: Stream) -> FloatArray:
        """Return fresh noise `(observations, members)`: alpha times independent draws from the pool."""
        draws = np.empty((observations.size, members))
        _draw_each(self.pool, observations, self.counts.size, self.extra, rng, draws)
        draws *= self.alpha
        return draws


@dataclass(frozen=True)
class NoisePolicy(WarmsUp, NeuralPolicy):
    """The parameters of NeuralCORe and NeuralEnsemble."""

    def __post_init__(self) -> None:
        NeuralPolicy.__post_init__(self)
        WarmsUp.__post_init__(self)

    def warm_up_rounds(self, at_least: int, horizon: int) -> int:
        """Return how many rounds the warm-up lasts, if there are not more arms than that."""
        return whole_warm_up(1, horizon, self.z, self.warm_up)

    def noise(self, n_arms: int, horizon: int | None, capacity: int) -> Noise:
        """Return the noise of a pool that has seen nothing."""
        rate = rounds_per_log(self.z, self.warm_up)
        return Noise(new_pool(capacity), np.zeros(n_arms), float(self.alpha), rate, known_log(horizon), int(self.extra))
