"""What the neural policies share: past observations, networks, and how these are trained on those.

In a round that trains, some batches of past observations are drawn, with replacement, and each is one step. Training
goes on from where it stopped; nothing is ever fitted from scratch. Weights begin as PyTorch's own layers do, uniform
within 1 / sqrt(inputs of the layer), but drawn from the policy's stream, when the first decision or reward comes.
"""

import math
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from corebandit.compiled.bridge import kernel
from corebandit.contracts.recipe import FeaturePolicy
from corebandit.contracts.state import FloatArray, IntArray
from corebandit.contracts.validate import check_choice, check_count, check_flag, check_number
from corebandit.parts.moments import COUNT, M2, MEAN, N_MOMENTS, include
from corebandit.policies.neural.network import (
    DEVICES,
    OPTIMISERS,
    Network,
    n_weights,
    new_network,
    pytorch,
)
from corebandit.randomness.bits import Words, uniform
from corebandit.randomness.stream import Stream

OBSERVATIONS, STEPS, BEGUN = 0, 1, 2  # what `tally` holds where


@kernel
def _draw_indices(words: Words, n: int, indices: IntArray) -> None:
    for place in range(indices.size):
        indices[place] = int(uniform(words) * n)


@kernel
def _draw_weights(words: Words, bound: float, weights: FloatArray) -> None:
    for place in range(weights.size):
        weights[place] = bound * (2.0 * uniform(words) - 1.0)


@dataclass(frozen=True, kw_only=True)
class NeuralPolicy(FeaturePolicy):
    """What the recipes of all neural policies share: the network, and how it is trained.

    Parameters
    ----------
    hidden
        Units of the one hidden layer.
    steps, batch_size
        Steps of a round that trains, and past observations drawn for each.
    lr, optimiser, weight_decay
        Length of a step; "adam" or "sgd"; what is added to the gradient, times the weights.
    tolerance
        Stop training in a round when the mean squared error is at most this over as many rows as were seen; 0 takes all
        steps.
    train_until, train_every
        Every round up to `train_until` trains, later ones each `train_every`-th.
    standardise
        Whether networks learn rewards less their mean, divided by their standard deviation, both of all seen so far.
        Features are taken as they are.
    device
        "cpu", or "auto": a GPU if there is one.
    """

    runs_compiled: ClassVar[bool] = False

    hidden: int = 100
    steps: int = 2
    batch_size: int = 64
    lr: float = 3e-3
    optimiser: str = "adam"
    weight_decay: float = 0.0
    tolerance: float = 0.0
    train_until: int = 2000
    train_every: int = 1
    standardise: bool = True
    device: str = "cpu"

    def __post_init__(self) -> None:
        for name in ("hidden", "steps", "batch_size", "train_every"):
            check_count(name, getattr(self, name))
        check_count("train_until", self.train_until, at_least=0)
        check_number("lr", self.lr, above=0)
        check_number("weight_decay", self.weight_decay, at_least=0)
        check_number("tolerance", self.tolerance, at_least=0)
        check_choice("optimiser", self.optimiser, OPTIMISERS)
        check_choice("device", self.device, DEVICES)
        check_flag("standardise", self.standardise)

    def outside_versions(self) -> dict[str, str]:
        """Return PyTorch's version: its sums may be ordered otherwise in another."""
        return {"torch": str(pytorch(self.name).__version__)}


class Learner(NamedTuple):
    """Past observations and the networks that learn from them. Make one with `new_learner`."""

    network: Network
    recipe: NeuralPolicy
    weights: FloatArray  # (members, p)
    moments: FloatArray  # (2, members, p) of Adam
    rows: FloatArray  # (capacity, d) features of past choices
    rewards: FloatArray  # (capacity,)
    spread: FloatArray  # (8,) moments of the rewards, as moments.py describes them
    tally: IntArray  # (3,) observations; steps; 1 once there are weights

    def begin(self, rng: Stream) -> bool:
        """Draw the first weights, once, and tell whether that was now."""
        if self.tally[BEGUN] == 1:
            return False
        self.tally[BEGUN] = 1
        n_inner, d = self.network.hidden * (self.rows.shape[1] + 1), self.rows.shape[1]
        for weights in self.weights:
            _draw_weights(rng.words, 1.0 / math.sqrt(d), weights[:n_inner])
            _draw_weights(rng.words, 1.0 / math.sqrt(self.network.hidden), weights[n_inner:])
        return True

    def add(self, x: FloatArray, reward: float) -> int:
        """Keep an observation, and return its index."""
        index = int(self.tally[OBSERVATIONS])
        self.rows[index], self.rewards[index] = x, reward
        include(reward, self.spread)
        self.tally[OBSERVATIONS] = index + 1
        return index

    def draw_past(self, rng: Stream) -> IntArray:
        """Return the indices `(steps, batch)` of past observations to train on, none if the round does not train."""
        n, recipe = int(self.tally[OBSERVATIONS]), self.recipe
        is_due = n <= recipe.train_until or n % recipe.train_every == 0
        indices = np.empty((recipe.steps if is_due else 0, recipe.batch_size), np.int64)
        _draw_indices(rng.words, n, indices.reshape(-1))
        return indices

    def train(self, past: IntArray, noise: FloatArray | float = 0.0) -> None:
        """Train on past observations `(steps, batch)`, their rewards with noise `(steps, members, batch)` added."""
        recipe, rewards = self.recipe, self.rewards[past][:, None] + noise
        self.tally[STEPS] = self.network.train(
            self.weights,
            self.moments,
            int(self.tally[STEPS]),
            self.rows[past],
            self.scaled(rewards),
            optimiser=recipe.optimiser,
            lr=recipe.lr,
            weight_decay=recipe.weight_decay,
            tolerance=recipe.tolerance,
            n_rows=int(self.tally[OBSERVATIONS]),
        )

    def scaled(self, rewards: FloatArray) -> FloatArray:
        """Return rewards as the networks learn them."""
        if not self.recipe.standardise:
            return rewards
        n, mean, squares = self.spread[COUNT], self.spread[MEAN], self.spread[M2]
        deviation = math.sqrt(squares / n) if squares > 0.0 else 1.0
        return np.asarray((rewards - mean) / deviation)


def new_learner(recipe: NeuralPolicy, n_features: int, capacity: int, members: int = 1) -> Learner:
    """Return networks that have seen nothing, with room for `capacity` observations."""
    size: Any = (members, n_weights(n_features, recipe.hidden))
    return Learner(
        network=new_network(recipe.name, recipe.hidden, recipe.device),
        recipe=recipe,
        weights=np.zeros(size),
        moments=np.zeros((2, *size)),
        rows=np.zeros((capacity, n_features)),
        rewards=np.zeros(capacity),
        spread=np.zeros(N_MOMENTS),
        tally=np.zeros(3, np.int64),
    )
