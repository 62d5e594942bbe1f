r"""NeuralUCB with a diagonal design (Zhou, Li and Gu, ICML 2020).

    index = f(x) + s(x),   s^2 = lam nu sum_j g_j^2 / U_j,   U_j = lam + sum of squared g_j of all past choices

g is the gradient of f(x) with respect to the weights; that of a past choice was taken when its reward came. The paper's
design is a full matrix of the size of the network squared; the diagonal and these scalings are those of its released
code.

Where we differ from that code: it takes up to 1,000 steps of plain gradient descent on one observation each, in
shuffled passes, until the mean squared error is 0.001, every round up to 2,000 and then every 100th. By default we take
few steps of Adam on batches, in every round, on standardised rewards, the training that the other neural policies get.
Theirs, but for observations being drawn with replacement, is

    NeuralUCB(optimiser="sgd", steps=1000, batch_size=1, lr=0.01, weight_decay=0.001, tolerance=0.001,
              train_until=2000, train_every=100, standardise=False)
"""

from dataclasses import dataclass
from typing import NamedTuple

from corebandit.contracts.state import FloatArray
from corebandit.policies.neural.widths import WidthPolicy, Widths
from corebandit.randomness.stream import Stream


class NeuralUCBState(NamedTuple):
    """What NeuralUCB has learnt."""

    widths: Widths

    def prepare(self, rng: Stream) -> bool:
        """Draw the first weights, once."""
        return self.widths.learner.begin(rng)

    def score(self, features: FloatArray, rng: Stream, scores: FloatArray) -> None:
        """Fill `scores` with the upper confidence bound of each row's reward."""
        estimate, width = self.widths.estimate(features)
        scores[:] = estimate + width

    def update(self, arm: int, x: FloatArray, reward: float, rng: Stream) -> None:
        """Learn from one reward."""
        self.widths.add(x, reward, rng)


@dataclass(frozen=True)
class NeuralUCB(WidthPolicy):
    """Choose by upper confidence bounds of a network, from the gradients of what was chosen.

    Needs PyTorch.

    Parameters
    ----------
    nu
        Scale of the squared width.
    lam
        Where the sum of squared gradients starts.

    The others are described in `NeuralPolicy`.

    >>> NeuralUCB(nu=0.1).label
    'NeuralUCB(nu=0.1)'
    """

    def start(self, n_arms: int, n_features: int, horizon: int | None, capacity: int) -> NeuralUCBState:
        """Return a state that has seen nothing."""
        return NeuralUCBState(self.widths(n_features, capacity))
