"""CORe in plain NumPy, as the paper writes it down: all rewards kept, one draw from the pool for each, every round.

It shares no line with the package, so it serves twice: as the speed to compare with, and as a second opinion on what
CORe's regret should be.
"""

import math

import numpy as np
from numpy.typing import NDArray


def choose_plain_core(
    arms: NDArray[np.int64], rewards: NDArray[np.float64], n_arms: int, alpha: float, rng: np.random.Generator
) -> int:
    """Return CORe's choice after these pulls and rewards, `(t - 1,)` each."""
    centred = rewards - rewards.mean()
    pool = alpha * np.concatenate([centred, -centred])
    perturbed = rewards + pool[rng.integers(pool.size, size=rewards.size)]
    return int(np.argmax(np.bincount(arms, perturbed, n_arms) / np.bincount(arms, minlength=n_arms)))


def play_plain_core(
    means: NDArray[np.float64],
    horizon: int,
    rng: np.random.Generator,
    *,
    alpha: float = 0.6,
    z: float = 0.6,
    warm_up: float = 4.0,
) -> float:
    """Play CORe on Bernoulli arms of these means `(n_arms,)` and return the expected regret."""
    n_arms = means.size
    last_of_warm_up = max(n_arms, warm_up * math.log(horizon) / (z - 1.0 - math.log(z)) + 1.0)
    arms, rewards = np.zeros(horizon, np.int64), np.zeros(horizon)
    for past in range(horizon):
        if past + 1 <= last_of_warm_up:
            arm = past % n_arms
        else:
            arm = choose_plain_core(arms[:past], rewards[:past], n_arms, alpha, rng)
        arms[past] = arm
        rewards[past] = rng.random() < means[arm]
    return float(np.sum(means.max() - means[arms]))
