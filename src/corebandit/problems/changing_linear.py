"""Linear bandits whose theta depends on the round, so that the best arm does too."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from corebandit.compiled.bridge import allocating_nothing
from corebandit.contracts.state import FloatArray
from corebandit.contracts.validate import check_count, check_flag
from corebandit.problems.linear import (
    THETA_LENGTH,
    LinearArms,
    LinearProblem,
    check_basis,
    random_features,
)
from corebandit.problems.motion import Motion, check_motion, draw_state, new_motion
from corebandit.randomness.stream import Stream

LINEAR_MOTIONS = ("abrupt", "smooth", "season", "once")


@allocating_nothing
class ChangingLinearArms(NamedTuple):
    """Arms with features, and a theta that moves."""

    arms: LinearArms
    theta: Motion

    @property
    def n_arms(self) -> int:
        """Return the number of arms."""
        return self.arms.n_arms

    @property
    def n_features(self) -> int:
        """Return the number of features."""
        return self.arms.n_features

    def begin_round(self, current_round: int) -> bool:
        """Move to a round, counted from 1, and tell whether means may be new."""
        is_new = self.theta.begin_round(current_round)
        if is_new:
            for j in range(self.arms.theta.size):
                self.arms.theta[j] = self.theta.values[j]
        return is_new

    def offer(self, current_round: int, rng: Stream, features: FloatArray) -> bool:
        """Fill `features` for the coming round, counted from 1, and tell whether they are new."""
        return self.arms.offer(current_round, rng, features)

    def mean(self, arm: int, x: FloatArray) -> float:
        """Return the mean reward of an arm with features `x` in this round."""
        return self.arms.mean(arm, x)

    def pull(self, arm: int, x: FloatArray, rng: Stream) -> float:
        """Draw a reward of an arm with features `x`."""
        return self.arms.pull(arm, x, rng)


@dataclass(frozen=True)
class ChangingLinearBandit(LinearProblem):
    """Linear bandits as `LinearBandit` has them, with a theta that changes.

    Parameters
    ----------
    motion
        "abrupt": theta is drawn anew at random times. "smooth": it goes from one draw to the next on a straight line.
        "season": it goes from one draw to another and back, for ever. "once": it is another after `lasts` rounds.
    lasts
        For how many rounds it stays the same: between changes on average, from one draw to the next, half a season, or
        until theta changes.
    n_arms, n_features
        How many, n_arms >= n_features unless `contextual`.
    contextual
        Whether arms have new features in every round.
    rewards, sigma, v
        As in `LinearBandit`.

    >>> ChangingLinearBandit("smooth", n_arms=20).label
    "changing_linear(motion='smooth', n_arms=20)"
    """

    name = "changing_linear"
    motion: str = "abrupt"
    lasts: int = 5000
    n_arms: int = 50
    n_features: int = 10
    contextual: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        check_motion(self.motion, self.lasts, LINEAR_MOTIONS)
        check_flag("contextual", self.contextual)
        if self.contextual:
            check_count("n_arms", self.n_arms)
            check_count("n_features", self.n_features, at_least=2)
        else:
            check_basis(self.n_arms, self.n_features)

    def draw(self, rng: Stream) -> ChangingLinearArms:
        """Return a random instance."""
        shape = (self.n_arms, self.n_features)
        features = np.zeros(shape) if self.contextual else random_features(*shape, rng)
        here, there, scale = np.empty(self.n_features), np.empty(self.n_features), (0.0, 0.0, THETA_LENGTH)
        for state in (here, there):
            draw_state(*scale, rng.words, state)
        theta = new_motion(self.motion, self.lasts, here, there, scale, rng)
        return ChangingLinearArms(self.arms(features, here, self.contextual), theta)
