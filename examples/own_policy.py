"""A policy of your own, in one file: compared with CORe, compiled, checked.

It is explore-then-commit: try every arm equally often, then stay with the best. From the command line:

    corebandit compare --problem bernoulli --policies "CORe,examples/own_policy.py:ExploreThenCommit(tries=50)"
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

import corebandit as cb


class ExploreThenCommitState(NamedTuple):
    """What has been learnt: plain arrays, and the parameter."""

    counts: np.ndarray  # (n_arms,) pulls
    sums: np.ndarray  # (n_arms,) total reward
    tries: int

    def score(self, rng, scores):
        """Give every arm a number; the highest is played, ties at random."""
        for arm in range(scores.size):
            if self.counts[arm] < self.tries:
                scores[arm] = np.inf
            else:
                scores[arm] = self.sums[arm] / self.counts[arm]

    def update(self, arm, reward, rng):
        """Learn from one reward."""
        self.counts[arm] += 1
        self.sums[arm] += reward


@dataclass(frozen=True)
class ExploreThenCommit(cb.Policy):
    """The recipe: parameters, and how to start."""

    tries: int = 20

    def start(self, n_arms, horizon, capacity):
        """Return a state that has seen nothing."""
        return ExploreThenCommitState(np.zeros(n_arms), np.zeros(n_arms), self.tries)


if __name__ == "__main__":
    cb.check_policy(ExploreThenCommit())  # says in a sentence what is wrong, if anything is
    policies = [cb.CORe(), ExploreThenCommit(), ExploreThenCommit(tries=50)]
    result = cb.run(cb.Experiment(cb.BernoulliBandit(), policies, horizon=5000, runs=50))
    for row in result.summary().iter_rows(named=True):
        print(f"{row['policy']:30} {row['mean']:6.1f} ± {row['stderr']:.1f}")
