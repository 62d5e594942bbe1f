"""What NeuralUCB and NeuralTS share: how uncertain a network is, from the gradients of what was chosen."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from corebandit.contracts.state import FloatArray
from corebandit.contracts.validate import check_number
from corebandit.policies.neural.learner import Learner, NeuralPolicy, new_learner
from corebandit.randomness.stream import Stream


class Widths(NamedTuple):
    """A network, and the squared gradients of what was chosen. `WidthPolicy.widths` makes one."""

    learner: Learner
    recipe: "WidthPolicy"
    squares: FloatArray  # (p,) U - lam, the sum of squared gradients

    def estimate(self, features: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return f(x) and s(x), each `(rows,)`."""
        recipe, network, weights = self.recipe, self.learner.network, self.learner.weights
        squared = network.squared_widths(weights, features, recipe.lam + self.squares)
        return network.predict(weights, features)[0], np.sqrt(recipe.lam * recipe.nu * squared)

    def add(self, x: FloatArray, reward: float, rng: Stream) -> None:
        """Learn from one reward."""
        self.learner.begin(rng)
        self.squares[:] += self.learner.network.gradients(self.learner.weights, x.reshape(1, -1))[0] ** 2
        self.learner.add(x, reward)
        self.learner.train(self.learner.draw_past(rng))


@dataclass(frozen=True)
class WidthPolicy(NeuralPolicy):
    """The parameters of NeuralUCB and NeuralTS."""

    nu: float = 1.0
    lam: float = 1e-3

    def __post_init__(self) -> None:
        super().__post_init__()
        check_number("nu", self.nu, at_least=0)
        check_number("lam", self.lam, above=0)

    def widths(self, n_features: int, capacity: int) -> Widths:
        """Return a network that has seen nothing."""
        learner = new_learner(self, n_features, capacity)
        return Widths(learner, self, np.zeros(learner.weights.shape[1]))
