r"""NeuralEnsemble: CORe's noise, frozen, in an ensemble of networks (ensemble sampling: Lu and Van Roy, NeurIPS 2017).

Each of M networks keeps noise of its own for every past observation, drawn once, when its reward comes, from the pool
of all rewards so far, {±alpha (Y_m - mean(Y))}:

    member k minimises the mean of (f_k(x_l) - Y_l - Z_lk)^2

by steps on batches that all members share. In every decision one member is drawn, and its best arm played. All of them
are trained, in one go.

What is approximate: M members stand for the infinitely many that fresh noise in every round would be; noise of the
first few rewards comes from a pool that is small itself. Since noise stays, members can learn it in full, which
NeuralCORe's network cannot. The warm-up is NeuralCORe's.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from corebandit.contracts.state import FloatArray
from corebandit.contracts.validate import check_count
from corebandit.policies.neural.learner import Learner, new_learner
from corebandit.policies.neural.noise import Noise, NoisePolicy
from corebandit.randomness.stream import Stream


class NeuralEnsembleState(NamedTuple):
    """What NeuralEnsemble has learnt."""

    learner: Learner
    noise: Noise
    frozen: FloatArray  # (capacity, members) the noise of every observation

    def prepare(self, rng: Stream) -> bool:
        """Draw the first weights, once."""
        return self.learner.begin(rng)

    def score(self, features: FloatArray, rng: Stream, scores: FloatArray) -> None:
        """Fill `scores` with a random member's estimate of each row's reward."""
        if not self.noise.leads(scores):
            member = rng.integers(self.frozen.shape[1])
            weights = self.learner.weights[member : member + 1]
            scores[:] = self.learner.network.predict(weights, features)[0]

    def update(self, arm: int, x: FloatArray, reward: float, rng: Stream) -> None:
        """Learn from one reward."""
        self.learner.begin(rng)
        index = self.learner.add(x, reward)
        self.noise.add(arm, reward, rng)
        self.frozen[index] = self.noise.draw(np.array([index]), self.frozen.shape[1], rng)[0]
        past = self.learner.draw_past(rng)
        self.learner.train(past, self.frozen[past].swapaxes(1, 2))


@dataclass(frozen=True)
class NeuralEnsemble(NoisePolicy):
    """Perturb past rewards with rewards drawn from everything seen, once for each network of an ensemble.

    Needs PyTorch.

    Parameters
    ----------
    members
        How many networks; one, drawn at random, makes each decision.

    The others are described in `NeuralCORe` and `NeuralPolicy`.

    >>> NeuralEnsemble(members=5).label
    'NeuralEnsemble(members=5)'
    """

    members: int = 10

    def __post_init__(self) -> None:
        super().__post_init__()
        check_count("members", self.members)

    def start(self, n_arms: int, n_features: int, horizon: int | None, capacity: int) -> NeuralEnsembleState:
        """Return a state that has seen nothing."""
        return NeuralEnsembleState(
            learner=new_learner(self, n_features, capacity, self.members),
            noise=self.noise(n_arms, horizon, capacity),
            frozen=np.zeros((capacity, self.members)),
        )
