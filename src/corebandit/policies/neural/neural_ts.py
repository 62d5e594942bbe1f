r"""NeuralTS: Thompson sampling with a network (Zhang, Zhou, Li and Gu, ICLR 2021), with a diagonal design.

    score drawn from N(f(x), s(x)^2),   s as NeuralUCB's

independently for each arm. The paper writes nu^2 for our nu. Training differs from the released code's as NeuralUCB's
does, and the same parameters bring theirs back.
"""

from dataclasses import dataclass
from typing import NamedTuple

from corebandit.contracts.state import FloatArray
from corebandit.policies.neural.widths import WidthPolicy, Widths
from corebandit.randomness.stream import Stream


class NeuralTSState(NamedTuple):
    """What NeuralTS has learnt."""

    widths: Widths

    def prepare(self, rng: Stream) -> bool:
        """Draw the first weights, once."""
        return self.widths.learner.begin(rng)

    def score(self, features: FloatArray, rng: Stream, scores: FloatArray) -> None:
        """Fill `scores` with a draw for each row's reward."""
        estimate, width = self.widths.estimate(features)
        for arm in range(scores.size):
            scores[arm] = estimate[arm] + width[arm] * rng.standard_normal()

    def update(self, arm: int, x: FloatArray, reward: float, rng: Stream) -> None:
        """Learn from one reward."""
        self.widths.add(x, reward, rng)


@dataclass(frozen=True)
class NeuralTS(WidthPolicy):
    """Choose by a draw for each row's reward, as uncertain as a network's gradients say.

    Needs PyTorch.

    Parameters
    ----------
    nu
        Variance of the draws.
    lam
        Where the sum of squared gradients starts.

    The others are described in `NeuralPolicy`.

    >>> NeuralTS(nu=0.1).label
    'NeuralTS(nu=0.1)'
    """

    def start(self, n_arms: int, n_features: int, horizon: int | None, capacity: int) -> NeuralTSState:
        """Return a state that has seen nothing."""
        return NeuralTSState(self.widths(n_features, capacity))
